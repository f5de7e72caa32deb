"""Rounds of the monitor: what is published, what is taken back, what is told."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.sites.adapters.ads import PUBLISHER, Publisher
from condor_pydagman.features.sites.adapters.monitor import Collected, Monitor


class Collector:
    """Keeps ads by name, as the collector does."""

    def __init__(self) -> None:
        self.ads: dict[str, Any] = {}
        self.is_gone = False

    def publish(self, ads: Sequence[Any]) -> None:
        if self.is_gone:
            raise PoolError("the collector: gone", transient=True)
        self.ads.update({ad.eval("Name"): ad for ad in ads})

    def take_back(self, names: Sequence[str], monitor: str) -> None:
        if self.is_gone:
            raise PoolError("the collector: gone", transient=True)
        for name in names:
            if self.publishers()[name].monitor == monitor:
                del self.ads[name]

    def publishers(self) -> dict[str, Publisher]:
        return {name: Publisher(ad.eval(PUBLISHER), 30.0) for name, ad in self.ads.items()}


class Watched:
    """A monitor of the sites in a directory, and what it says."""

    def __init__(self, directory: Path, collector: Collector | None = None) -> None:
        self.directory = directory
        self.collector = collector or Collector()
        self.now = 1234.5
        self.counts: Counter[str] = Counter()
        self.said: list[str] = []
        self.monitor = Monitor(
            directory,
            Collected(self.collector.publish, self.collector.take_back, self.collector.publishers),
            lambda: self.counts,
            self.said.append,
            interval_s=10,
            clock=lambda: self.now,
        )

    def site(self, name: str, more: str = "MaxMatches = 3") -> Path:
        path = self.directory / f"{name}.ad"
        path.write_text(f'Name = "{name}"\n{more}\n')
        return path

    def round(self) -> list[str]:
        """Names of the sites that are published then."""
        self.said.clear()
        return sorted({*self.monitor.round().published} & {*self.collector.ads})


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_ads_have_what_the_collector_and_matchmaking_need(watched: Watched) -> None:
    watched.site("north", "MaxMatches = 3\nRank = TARGET.Cpus")
    watched.counts = Counter(north=2)
    assert watched.round() == ["north"]
    ad = watched.collector.ads["north"]
    assert {name: ad.eval(name) for name in ad if name != "Rank"} == {
        "MyType": "PydagmanSite",
        "Name": "north",
        "MaxMatches": 3,
        "CurMatches": 2,
        "PydagmanMonitor": f"{socket.gethostname()}:{watched.directory}",
        "UpdateSequenceNumber": 1234,
        "ClassAdLifetime": 30,
    }
    assert str(ad.lookup("Rank")) == "TARGET.Cpus"


def test_a_site_whose_file_goes_or_becomes_wrong_is_taken_back(watched: Watched) -> None:
    paths = [watched.site(name) for name in ("east", "north", "west")]
    assert watched.round() == ["east", "north", "west"]
    assert watched.said == ["published: east, north, west"]
    paths[0].unlink()
    paths[1].write_text("Name = ")
    assert watched.round() == ["west"]
    assert watched.said[0].startswith(f"{paths[1]}:1: there is no expression")
    assert "MaxMatches" in watched.said[1]
    assert watched.said[2:] == ["removed: east, north"]
    assert watched.round() == ["west"]
    assert watched.said == []
    watched.site("north")
    assert watched.round() == ["north", "west"]
    paths[1].write_text("Name = ")
    watched.round()
    assert watched.said  # it was right in between


def test_a_probe_adds_to_the_ad_or_takes_it_back(watched: Watched) -> None:
    path = watched.site("north").with_suffix(".probe")
    path.write_text("#!/bin/sh\necho maxmatches = 7; echo Depth = 2\n")
    path.chmod(0o755)
    assert watched.round() == ["north"]
    ad = watched.collector.ads["north"]
    assert (ad.eval("MaxMatches"), ad.eval("Depth")) == (7, 2)
    path.write_text("#!/bin/sh\necho MaxMatches = -7\n")
    assert watched.round() == []
    assert watched.said[0] == f"{path}: MaxMatches is a whole number, not negative"


def test_what_is_ignored_is_said_once_and_nothing_is_wrong(watched: Watched) -> None:
    path = watched.site("north", 'MaxMatches = 3\nMyType = "Machine"\nCurMatches = 9')
    path.with_suffix(".probe").write_text("#!/bin/sh\necho UpdateSequenceNumber = 1\n")
    path.with_suffix(".probe").chmod(0o755)
    assert watched.monitor.round().problems == ()
    notes = [line for line in watched.said if "note: the monitor sets" in line]
    assert len(notes) == 2
    ad = watched.collector.ads["north"]
    own = [ad.eval(name) for name in ("MyType", "CurMatches", "UpdateSequenceNumber")]
    assert own == ["PydagmanSite", 0, 1234]
    assert watched.round() == ["north"]
    assert watched.said == []


def test_all_are_taken_back_at_the_end(watched: Watched) -> None:
    watched.site("north")
    watched.round()
    watched.monitor.end()
    assert not watched.collector.ads
    watched.monitor.end()


def test_sites_that_another_monitor_publishes_as_well_stay(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one = Watched(tmp_path / "one")
    other = Watched(tmp_path / "other", one.collector)
    for watched, names in ((one, ("north", "south")), (other, ("north", "west"))):
        for name in names:
            watched.site(name)
        watched.round()
    assert other.said[0].startswith("warning: another monitor (")
    assert other.said[0].endswith("one) publishes sites with the same names: north")
    other.monitor.end()
    assert other.said[-2:] == ["removed: west", "left to another monitor: north"]
    assert sorted(one.collector.ads) == ["north", "south"]
    one.round()
    assert one.said[0].endswith("other) publishes sites with the same names: north")
    one.now += 30.0
    one.monitor.end()
    assert one.said[-1] == "removed: north, south", "the other one has ended"
    assert not one.collector.ads


def test_a_collector_that_is_gone_is_asked_again(watched: Watched) -> None:
    watched.site("north")
    watched.collector.is_gone = True
    with pytest.raises(PoolError):
        watched.monitor.round()
    watched.collector.is_gone = False
    assert watched.round() == ["north"]


def test_matches_that_can_not_be_counted_do_not_keep_sites_away(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.site("north")

    def refuse() -> Counter[str]:
        raise PoolError("the schedd: gone", transient=True)

    monitor = Monitor(
        tmp_path,
        Collected(watched.collector.publish, watched.collector.take_back),
        refuse,
        watched.said.append,
    )
    assert monitor.round().published == ("north",)
    assert watched.said == ["matches can't be counted: the schedd: gone", "published: north"]


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        Watched(tmp_path / "none").monitor.round()
