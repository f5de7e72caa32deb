"""Sites from which groups were taken back rest, so that one that fails all jobs does not take all
groups."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.features.sites.rests import MAX_S, TRIAL_S, TRIALS, SiteRests, There
from tests.features.sites.matched import Matched, matched

FIRST_S = 60.0  # PYDAGMAN_SITES_INTERVAL
MANY = 40
NOBODY = There({})


def resting(rests: SiteRests, now: float, there: There = NOBODY) -> dict[str, int]:
    return dict(rests.limits(now, there).resting)


def test_a_rest_grows_with_those_that_tell_something_new() -> None:
    rests = SiteRests(2)
    for group in (0, 1):
        rests.matched(group, "west", 10.0)
    assert not rests.rests("west")
    assert rests.failed(0, "west", 20.0, 1, FIRST_S) == 60
    assert rests.failed(1, "west", 30.0, 0, FIRST_S) == 0, "it was there before"
    assert resting(rests, 79.0) == {"west": 0}
    assert rests.next_time(79.0, NOBODY) == 80.0
    assert resting(rests, 80.0) == {"west": 1}
    assert resting(rests, 80.0, There({"west": [2]}, {"west"})) == {"west": 0}
    assert rests.next_time(80.0, NOBODY) is None
    rests.matched(2, "west", 90.0)
    assert resting(rests, 149.0) == {"west": 0}, "one at a time"
    assert resting(rests, 150.0) == {"west": 1}
    assert rests.failed(2, "west", 160.0, 0, FIRST_S) == 120
    for number in range(9):
        rests.matched(2, "west", 1e5 * (number + 1))
        longest = rests.failed(2, "west", 1e5 * (number + 1) + 1, 0, FIRST_S)
    assert longest == MAX_S


def test_it_ends_when_a_group_gets_further() -> None:
    rests = SiteRests(MANY)
    rests.failed(0, "west", 20.0, 1, FIRST_S)
    assert not rests.worked("west", 1, all_done=False, by_job=True)
    assert not rests.worked("west", 2, all_done=False, by_job=False), "its data came there only"
    assert not rests.worked("east", 9, all_done=False, by_job=True)
    assert rests.worked("west", 2, all_done=False, by_job=True)
    assert not rests.rests("west")
    rests.failed(0, "west", 30.0, 5, FIRST_S)
    assert rests.worked("west", 1, all_done=True, by_job=True), "a small group"
    assert rests.failed(0, "west", 99.0, 0, FIRST_S) == 60, "from the beginning"


def test_a_site_is_on_trial_until_a_group_is_done() -> None:
    rests = SiteRests(MANY)
    assert rests.limits(0.0, NOBODY).of(["west"]) == {"west": TRIALS}
    for group in (0, 1):
        rests.matched(group, "west", 10.0)
    there = There({"west": [0, 1]})
    assert rests.limits(11.0, there).of(["east", "west"]) == {"east": TRIALS, "west": TRIALS - 2}
    rests.trust("west")
    assert rests.limits(11.0, there).of(["east", "west"]) == {"east": TRIALS}


def test_few_groups_need_no_trial() -> None:
    assert SiteRests(TRIALS).limits(0.0, NOBODY).of(["west"]) == {}


def test_what_does_not_fail_for_long_counts_as_working() -> None:
    rests = SiteRests(MANY)
    rests.matched(0, "west", 10.0)
    there = There({"west": [0]})
    assert rests.next_time(20.0, there) == 10.0 + TRIAL_S
    rests.stirs(0, 50.0, by_job=False)
    rests.stirs(0, 500.0, by_job=True)
    rests.stirs(0, 900.0, by_job=True)
    ends = 500.0 + TRIAL_S
    assert rests.next_time(600.0, there) == ends, "since its first job"
    assert rests.limits(ends - 1, there).of(["west"]) == {"west": TRIALS - 1}
    assert rests.limits(ends, there).of(["west"]) == {}
    assert rests.limits(ends, there._replace(staging={0})).of(["west"]) == {"west": TRIALS - 1}
    rests.stumbles(0)
    rests.stirs(0, ends, by_job=True)
    assert rests.limits(ends + 1, there).of(["west"]) == {"west": TRIALS - 1}, "it has failed"
    rests.leaves(0)
    assert rests.limits(1e9, there).of(["west"]) == {"west": TRIALS - 1}, "it is new there"


def test_groups_on_trial_are_those_that_have_failed_too() -> None:
    """However long each of them takes, and however short a pause is."""
    rests = SiteRests(MANY)
    for group in range(TRIALS):
        rests.matched(group, "west", 10.0)
    rests.failed(0, "west", 20.0, 1, 1.0)
    assert resting(rests, 1e3, There({"west": [1, 2]})) == {"west": 0}
    rests.failed(1, "west", 1e3, 1, 1.0)
    assert resting(rests, 2e3, There({"west": [2]})) == {"west": 0}
    rests.failed(2, "west", 2e3, 1, 1.0)
    assert resting(rests, 2e3, NOBODY) == {"west": 1}, "there is no other site"
    assert rests.avoided(2e3, NOBODY) == ()
    others = There({"north": [3]})
    until = 20.0 + MAX_S
    assert rests.next_time(2e3, others) == until
    assert rests.avoided(until - 1, others) == ("west",)
    assert resting(rests, until - 1, others) == {"west": 1}, "for groups that have no other site"
    assert rests.avoided(until, others) == ()
    rests.trust("north")
    assert rests.avoided(until - 1, NOBODY) == ("west",), "a place is free elsewhere just now"


def test_a_site_that_worked_is_avoided_for_an_hour_after_three_that_came_later() -> None:
    rests = SiteRests(MANY)
    rests.trust("west")
    for group in range(9):
        rests.matched(group, "west", 10.0)
    others = There({"north": [20]})
    for group in range(9):
        rests.failed(group, "west", 20.0 + group, 1, FIRST_S)
    assert rests.next_time(30.0, others) == 80.0, "they tell nothing new"
    for number, when in enumerate((100.0, 1000.0)):
        rests.matched(10 + number, "west", when)
        rests.failed(10 + number, "west", when + 1, 1, FIRST_S)
    assert rests.avoided(1000.0 + MAX_S, others) == ("west",)
    assert rests.next_time(1002.0 + FIRST_S * 4, others) == 1001.0 + MAX_S


class Hole:
    """Groups of one node, a site that fails all jobs, and a good one that has one place."""

    def __init__(self, count: int, rooms: str, policy: str = "") -> None:
        names = [f"N{number}" for number in range(count)]
        groups = "\n".join(f"SITE_GROUP {name} NODES {name}" for name in names)
        text = f"{'; '.join(names)}\n{groups}\nSITE_POLICY ALL_GROUPS FAILURES 1\n{policy}"
        self.harness: Matched = matched(text, rooms)
        self.matches: list[str] = []

    def play(self, steps: int = 400, wait_s: float = FIRST_S) -> None:
        """Until the DAG ends: all jobs at `bad` fail, those at others end well."""
        run = self.harness.engine.run
        for _ in range(steps):
            if self.harness.ever(do.Exit):
                return
            if self.harness.sites.asked:
                self.harness.answer()
            elif run.submission.in_flight:
                self.run(run.submission.in_flight[0])
            else:
                self.harness.wait(wait_s)

    def run(self, node: int) -> None:
        """Run a node to its end."""
        site, _ = self.harness.sites.site(node)
        self.matches.append(site)
        self.harness.run_node(f"N{node}", len(self.matches), value=site == "bad")
        self.harness.back()

    @property
    def code(self) -> int:
        """Exit code of the DAG."""
        return self.harness.ever(do.Exit)[0].code


def test_a_hole_does_not_take_all_groups() -> None:
    hole = Hole(6, "bad:9 good:1")
    hole.play()
    assert hole.code == 0
    assert hole.matches.count("good") == 6
    assert hole.matches.count("bad") <= TRIALS


@pytest.mark.parametrize("interval_s", [1.0, FIRST_S])
def test_a_hole_gets_few_of_many_groups(interval_s: float) -> None:
    hole = Hole(40, "bad:40 good:3 other:3")
    hole.play(4000, interval_s)
    assert hole.code == 0
    assert hole.matches.count("good") + hole.matches.count("other") == 40
    assert hole.matches.count("bad") == TRIALS
    assert hole.harness.said("Site bad has failed 3 groups: while others work, it gets only groups")
    assert hole.harness.said(" has to leave site bad: 1 run of its nodes failed there")


def test_a_group_that_has_no_other_site_does_not_wait_for_an_hour() -> None:
    policy = 'SITE_POLICY N0 REQUIREMENTS TARGET.Name == "bad"\nSITE_POLICY ALL_GROUPS ROUNDS 4'
    hole = Hole(9, "bad:9 good:2", policy)
    sites = hole.harness.sites
    hole.harness.places.fits = {sites.kinds[0]: "bad"}
    hole.play()
    assert hole.code == 1
    assert hole.matches.count("good") == 8
    assert hole.matches.count("bad") <= TRIALS + 4
    assert hole.harness.engine.run.now < 1000 + MAX_S


def test_a_good_site_is_full_after_its_first_group() -> None:
    hole = Hole(9, "good:9")
    hole.harness.answer()
    assert hole.harness.groups().count("MATCHED") == TRIALS
    hole.run(0)
    hole.harness.answer()
    assert hole.harness.groups().count("MATCHED") == 8
    assert hole.harness.said("Site good works: group N0 has got further there")


def test_rounds_are_not_used_up_at_once_if_there_is_no_other_site() -> None:
    hole = Hole(2, "bad:9", "SITE_POLICY ALL_GROUPS ROUNDS 3")
    hole.play()
    assert hole.code == 1
    assert hole.matches.count("bad") == 6
    # 60, 120, 240, 480 s: the first two came together
    assert hole.harness.engine.run.now >= 1000 + 60 + 120 + 240 + 480
