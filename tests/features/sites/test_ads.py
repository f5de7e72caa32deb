"""Ads of sites: which can be used, and what is kept of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import classad2
import pytest
from htcondor2 import HTCondorException

from condor_pydagman.errors import PoolError
from condor_pydagman.features.sites.adapters import ads
from condor_pydagman.features.sites.adapters.ads import (
    known,
    publish,
    publishers,
    sites_of,
    take_back,
    value_of,
)
from tests.features.sites.some_ads import ad, site


def test_sites_by_name() -> None:
    found = sites_of([ad("b", 1), ad("a", 2), ad("b", 3)])
    assert [(one.name, one.most) for one in found] == [("a", 2), ("b", 3)]


def test_ads_without_a_name_are_left_out() -> None:
    nameless = ad("x")
    del nameless["Name"]
    assert sites_of([nameless, ad(""), ad("x", Name=7)]) == []


def test_an_ad_with_a_name_that_is_not_utf8_is_left_out() -> None:
    """ClassAds have bytes, and may have any."""
    found = sites_of([ad("x", Name=r'="n\377"'), ad("a", 2, Area=r'="/n\377"')])
    assert [(one.name, one.problem) for one in found] == [("a", "")]
    assert "Area" not in known(found[0]).values


@pytest.mark.parametrize("name", ["x" * 501, "north\neast", "\x1b[2J"])
def test_a_name_that_can_not_be_used(name: str) -> None:
    """A claim of such a site would be none for others, or no line of a rescue file."""
    (found,) = sites_of([ad(name)])
    assert (found.most, found.problem[:11]) == (0, "its Name is")


@pytest.mark.parametrize("most", [-1, "3", 2.5, True, "=error", "=undefined"])
def test_a_limit_that_is_none(most: Any) -> None:
    found = site("a", most)
    assert found.most == 0
    assert "MaxMatches is" in found.problem


def test_a_limit_may_be_an_expression() -> None:
    assert site("a", "=Cpus / 4", Cpus=9).most == 2


def test_what_is_kept() -> None:
    ours = site(
        "a", Speed="=2 * 3", Open=True, Requirements="=true", SiteEnvironment="A=1;B=2", L="={1,2}"
    )
    kept = known(ours)
    assert kept.values == {
        **{"Name": "a", "MaxMatches": 2, "Speed": 6, "Open": True},
        "SiteEnvironment": "A=1;B=2",
    }
    assert kept.environment == {"A": "1", "B": "2"}


def test_the_digest_is_of_what_the_ad_says_of_the_site() -> None:
    one = known(site("a", Speed=1, CurMatches=0, UpdateSequenceNumber=1))
    other = known(site("a", Speed=1, CurMatches=2, UpdateSequenceNumber=9))
    assert one.digest == other.digest
    assert one.digest != known(site("a", Speed=2)).digest


def test_values_that_are_none() -> None:
    assert value_of(ad("a", X="=error"), "X") is None
    assert value_of(ad("a", X="=Y"), "X") is None
    assert value_of(ad("a"), "X") is None


def test_ads_for_no_collector_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.features.sites.adapters.ads.lookup", {}.get)
    with pytest.raises(PoolError, match="COLLECTOR_HOST is not set"):
        publish([classad2.ClassAd({"Name": "north"})])
    with pytest.raises(PoolError, match="COLLECTOR_HOST is not set"):
        take_back(["north"], "here:/sites")


class Collector:
    """What the bindings do; `has` are names of sites, None if it does not answer."""

    def __init__(self, has: list[str] | None, *, takes: bool) -> None:
        self.has = has
        self.takes = takes
        self.asked = 0

    def advertise(self, ads: list[Any], command: str, by_tcp: bool) -> None:
        assert by_tcp
        if not self.takes:
            raise HTCondorException("Failed to advertise to collector.")

    def query(self, *_: Any) -> list[Any]:
        self.asked += 1
        if self.has is None:
            raise HTCondorException("Failed communication with collector.")
        return [ad(name) for name in self.has]


NORTH = [ad("north")]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Collector], None]:
    monkeypatch.setattr(ads, "lookup", lambda _: "here")
    monkeypatch.setattr(ads.time, "sleep", lambda _: None)
    return lambda one: monkeypatch.setattr(ads.htcondor2, "Collector", lambda: one)


@pytest.mark.parametrize("there", [[], ["north"]])
def test_a_collector_that_refuses_the_ads(
    use: Callable[[Collector], None], there: list[str]
) -> None:
    use(Collector(there, takes=False))
    for act in (lambda: publish(NORTH), lambda: take_back(["north"], "here:/sites")):
        with pytest.raises(PoolError, match=r"does not accept ads of sites.*ALLOW_DAEMON"):
            act()


def test_a_collector_that_is_not_there(use: Callable[[Collector], None]) -> None:
    use(Collector(None, takes=False))
    with pytest.raises(PoolError, match=r"^the collector: Failed to advertise to collector"):
        publish(NORTH)


def test_a_collector_that_refuses_without_a_word(use: Callable[[Collector], None]) -> None:
    use(Collector(["south"], takes=True))
    with pytest.raises(PoolError, match="does not accept ads of sites"):
        publish(NORTH)


def test_a_collector_that_has_the_ads_or_does_not_say(use: Callable[[Collector], None]) -> None:
    for has in (["north", "south"], None):
        collector = Collector(has, takes=True)
        use(collector)
        publish(NORTH)
        assert collector.asked == 1


@pytest.mark.parametrize("lifetime", ["long", "={1}", "=[a = 1]", '=real("INF")', 10**18, -1])
def test_what_others_have_in_their_ads_harms_no_monitor(
    use: Callable[[Collector], None], lifetime: Any
) -> None:
    class Hostile(Collector):
        def query(self, *_: Any) -> list[Any]:
            odd = ad("odd", Name="={1}", ClassAdLifetime=lifetime, PydagmanMonitor="={1}")
            return [*super().query(), odd, ad("north", ClassAdLifetime=lifetime)]

    use(Hostile(["north"], takes=True))
    publish(NORTH)
    assert publishers()["north"].monitor == ""
    assert 0 <= publishers()["north"].lifetime_s <= ads.MAX_LIFETIME_S
