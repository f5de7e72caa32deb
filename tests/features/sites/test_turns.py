"""DAGs share the places of sites: equally, in turn, never too many, and none is left idle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.sites.choice import (
    GRACE_S,
    LONGEST_S,
    NOBODY,
    Decision,
    Offer,
    Room,
    Side,
    Waits,
    Wanted,
    decide,
    is_valid,
    valid_until,
    woken,
)


class World:
    """DAGs that share sites, which look only when they have changed or are woken.

    Attributes:
        most: the places of each site.
        sides: what each DAG has and says.
        waiting: how many groups of each DAG wait.
        fits: at which sites.
        log: who got a place, where.
    """

    def __init__(self, most: Mapping[str, int], dags: Mapping[str, str]) -> None:
        self.most = dict(most)
        self.sides = {name: Side("", Counter()) for name in dags}
        self.waiting = dict.fromkeys(dags, 0)
        self.fits = dags
        self.log: list[str] = []
        self.now = 0.0
        self._awake: list[str] = []

    def wants(self, dag: str, more: int) -> None:
        self.waiting[dag] += more
        self.awake(dag)

    def ends(self, dag: str, site: str) -> None:
        """A group of the DAG ends."""
        self.awake(dag, site)

    def awake(self, dag: str, ended: str = "") -> None:
        """The DAG looks, and all that this wakes."""
        self._awake = [dag]
        for _ in range(200):
            if not self._awake:
                return
            self.looks(self._awake.pop(0), ended)
            ended = ""
        pytest.fail("they wake each other for ever")

    def looks(self, dag: str, ended: str = "") -> Decision:
        self.now += 1.0
        before = self.sides[dag]
        others = [one._replace(name=name) for name, one in self.sides.items() if name != dag]
        has = before.has - Counter(ended)
        taken = sum((one.has for one in others), has)
        rooms = {site: Room(most, taken[site]) for site, most in self.most.items()}
        wanted = [Wanted(number, 0) for number in range(self.waiting[dag])]
        offers = {0: [Offer(site) for site in self.fits[dag]]}
        found = decide(wanted, offers, {}, rooms, before, has, others, self.now)
        self.waiting[dag] -= len(found.chosen)
        self.log += [f"{dag}{site}" for _, site in found.chosen]
        waits = found.after.waits._replace(address=dag)
        self.sides[dag] = found.after._replace(waits=waits)
        self._awake += woken(self.sides[dag], before, others, self.most)
        self.check()
        return found

    def check(self) -> None:
        taken = sum((one.has for one in self.sides.values()), Counter[str]())
        assert all(taken[site] <= most for site, most in self.most.items())

    def check_idle(self) -> None:
        """No place is free that anybody could use."""
        taken = sum((one.has for one in self.sides.values()), Counter[str]())
        for dag, number in self.waiting.items():
            if number:
                assert all(taken[site] == self.most[site] for site in self.fits[dag]), dag


def test_one_place_goes_round() -> None:
    world = World({"s": 1}, {"A": "s", "B": "s", "C": "s"})
    world.wants("A", 5)
    world.wants("B", 3)
    world.wants("C", 2)
    for _ in range(9):
        world.ends(world.log[-1][0], "s")
    assert " ".join(dag[0] for dag in world.log) == "A B C A B C A B A A"


def test_who_comes_later_gets_an_equal_part_as_groups_end() -> None:
    world = World({"s": 4}, {"A": "s", "B": "s"})
    world.wants("A", 20)
    world.wants("B", 20)
    for _ in range(2):
        world.ends("A", "s")
    assert Counter(one[0] for one in world.log[4:]) == {"B": 2}
    for dag in "ABAB":
        world.ends(dag, "s")
    assert " ".join(one[0] for one in world.log[6:]) == "A B A B"


def test_who_wants_less_leaves_the_rest_to_others() -> None:
    world = World({"s": 5}, {"A": "s", "B": "s"})
    world.wants("A", 20)
    world.wants("B", 1)
    world.ends("A", "s")
    assert world.log[-1] == "Bs"
    world.ends("A", "s")
    assert world.log[-1] == "As"
    world.ends("B", "s")
    assert world.log[-1] == "As"


def test_who_finds_a_place_elsewhere_keeps_none_from_others() -> None:
    world = World({"s": 1, "t": 1}, {"A": "st", "B": "st"})
    world.wants("A", 4)
    world.wants("B", 1)
    assert world.log == ["As", "At"]
    world.ends("A", "s")
    assert world.log[2:] == ["Bs"]
    world.ends("A", "t")
    assert world.log[3:] == ["At"]


def test_a_dag_of_an_older_version_does_not_wait() -> None:
    """It says nothing, and takes what it finds."""
    world = World({"s": 1}, {"A": "s", "old": "s"})
    world.sides["old"] = Side("", Counter("s"))
    world.wants("A", 2)
    assert not world.log
    world.sides["old"] = Side("", Counter())
    world.looks("A")
    world.ends("A", "s")
    assert world.log == ["As", "As"]


@given(st.integers(0, 10**9))
def test_nobody_starves_and_no_place_is_idle(seed: int) -> None:
    rng = Random(seed)
    sites = "stuv"[: rng.randint(1, 4)]
    most = {site: rng.choice((0, 1, 1, 2, 5)) for site in sites}
    fits = {dag: "".join(s for s in sites if rng.random() < 0.8) for dag in "ABCDEF"}
    world = World(most, fits)
    since = dict.fromkeys(fits, 0)
    for _ in range(60):
        running = [(dag, site) for dag, side in world.sides.items() for site in side.has.elements()]
        if running and rng.random() < 0.6:
            world.ends(*rng.choice(running))
        else:
            world.wants(rng.choice(list(fits)), rng.randint(1, 4))
        world.check_idle()
    for _ in range(600):
        if not any(world.waiting[dag] for dag in fits if any(most[site] for site in fits[dag])):
            break
        running = [(dag, site) for dag, side in world.sides.items() for site in side.has.elements()]
        before = len(world.log)
        world.ends(*rng.choice(running))
        world.check_idle()
        got = {one[0] for one in world.log[before:]}
        for dag in fits:
            waits = world.waiting[dag] and any(most[site] for site in fits[dag])
            since[dag] = since[dag] + 1 if waits and dag not in got else 0
            assert since[dag] < 150, f"{dag} starves"
    else:
        pytest.fail("they do not come to an end")


# What groups could use.


def said(wanted: list[Wanted], few: Mapping[str, int] = {}) -> dict[str, int]:
    """At which full sites a DAG says how many of these wait."""
    rooms = {"a": Room(1, 1), "b": Room(1, 1), "c": Room(0)}
    offers = {0: [Offer("a"), Offer("b"), Offer("c"), Offer("no ad")], 1: [Offer("b")]}
    side = Side("", Counter())
    found = decide(wanted, offers, few, rooms, side, Counter(), [], 7.0)
    assert not found.chosen
    assert {since for _, since in found.after.waits.sites.values()} <= {7.0}
    return {site: many for site, (many, _) in found.after.waits.sites.items()}


def test_groups_wait_where_they_fit() -> None:
    assert said([Wanted(0, 0), Wanted(1, 0), Wanted(2, 1)]) == {"a": 2, "b": 3}
    assert said([Wanted(0, 0, only="a"), Wanted(1, 1, only="a")]) == {"a": 1}
    assert said([Wanted(0, 0, never=("a",))]) == {"b": 1}
    assert said([Wanted(0, 0, last=("a",))]) == {"b": 1}
    assert said([Wanted(0, 0, last=("a", "b"))]) == {"a": 1, "b": 1}
    assert said([Wanted(0, 1, last=("b",))]) == {"b": 1}


def test_at_sites_that_rest_no_more_wait_than_they_get() -> None:
    wanted = [Wanted(0, 0), Wanted(1, 0), Wanted(2, 0, only="a")]
    assert said(wanted, {"a": 0, "b": 1}) == {"a": 1, "b": 1}


def test_what_is_for_others_is_known() -> None:
    other = Side("other", Counter(), Waits(sites={"s": (1, 0.0)}))
    rooms = {"s": Room(3, 1), "t": Room(1)}
    has = Counter("s")
    side = Side("", has, Waits(sites={"s": (9, 1.0)}))
    wanted = [Wanted(number, 0, only="s") for number in range(9)]
    found = decide(wanted, {0: [Offer("s")]}, {}, rooms, side, has, [other], 5.0)
    assert found.rooms == {"s": Room(3, 1, reserved=1), "t": Room(1)}
    assert found.after.waits.sites == {"s": (8, 5.0)}, "it has got one"


def test_who_gets_a_place_that_is_given_up_is_woken() -> None:
    others = [
        Side("a", Counter(), Waits(9.0, "@a", {"s": (2, 1.0)})),
        Side("b", Counter(), Waits(9.0, "@b", {"s": (2, 0.0)})),
        Side("c", Counter("s")),
    ]
    before, after = Side("", Counter("ss")), Side("", Counter("s"))
    assert woken(after, before, others, {"s": 3}) == ["@b"]
    assert woken(after, before, others, {}) == ["@b"], "the site's ad is not known"
    assert woken(before, before, others, {"s": 9}) == []


def test_how_long_it_counts_that_a_dag_waits() -> None:
    def counts(until: float) -> bool:
        return is_valid(Waits(until, "", {"s": (1, 0.0)}), 1000.0)

    assert counts(valid_until(1000.0, 60.0))
    assert counts(valid_until(1000.0, 1e9))
    assert not counts(1000.0)
    assert not counts(1000.1 + LONGEST_S + GRACE_S), "the clock was set back, or it lies"
    assert not is_valid(NOBODY, 0.0)
