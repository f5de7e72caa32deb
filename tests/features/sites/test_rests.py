"""Sites from which groups were taken back rest, so that one that fails all jobs does not take all
groups."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.features.sites.groups import MAX_S, SiteRests
from tests.features.sites.matched import Matched, matched

FIRST_S = 60.0  # PYDAGMAN_SITES_INTERVAL


def test_a_rest_grows_with_those_that_tell_something_new() -> None:
    rests = SiteRests()
    for group in (0, 1):
        rests.matched(group, "west", 10.0)
    assert not rests
    assert rests.failed(0, "west", 20.0, 1, FIRST_S) == 60
    assert rests.failed(1, "west", 30.0, 0, FIRST_S) == 0, "it was there before"
    assert rests.few(79.0, set()) == (("west", 0),)
    assert rests.next_time(79.0) == 80.0
    assert rests.few(80.0, set()) == (("west", 1),)
    assert rests.few(80.0, {"west"}) == (("west", 0),)
    assert rests.next_time(80.0) is None
    rests.matched(2, "west", 90.0)
    assert rests.few(149.0, set()) == (("west", 0),), "one at a time"
    assert rests.few(150.0, set()) == (("west", 1),)
    assert rests.failed(2, "west", 160.0, 0, FIRST_S) == 120
    for number in range(9):
        rests.matched(2, "west", 1e5 * (number + 1))
        longest = rests.failed(2, "west", 1e5 * (number + 1) + 1, 0, FIRST_S)
    assert longest == MAX_S


def test_it_ends_when_a_group_gets_further() -> None:
    rests = SiteRests()
    rests.failed(0, "west", 20.0, 1, FIRST_S)
    assert not rests.worked("west", 1, all_done=False)
    assert not rests.worked("east", 9, all_done=False)
    assert rests.worked("west", 2, all_done=False)
    assert not rests
    rests.failed(0, "west", 30.0, 5, FIRST_S)
    assert rests.worked("west", 1, all_done=True), "a small group"
    assert rests.failed(0, "west", 99.0, 0, FIRST_S) == 60, "from the beginning"


class Hole:
    """Groups of one node, a site that fails all jobs, and a good one that has one place."""

    def __init__(self, count: int, rooms: str, policy: str = "") -> None:
        names = [f"N{number}" for number in range(count)]
        groups = "\n".join(f"SITE_GROUP {name} NODES {name}" for name in names)
        text = f"{'; '.join(names)}\n{groups}\nSITE_POLICY ALL_GROUPS FAILURES 1\n{policy}"
        self.harness: Matched = matched(text, rooms)
        self.matches: list[str] = []

    def play(self, steps: int = 400) -> None:
        """Until the DAG ends: all jobs at `bad` fail, those at others end well."""
        run = self.harness.engine.run
        for _ in range(steps):
            if self.harness.ever(do.Exit):
                return
            if self.harness.sites.asked:
                self.harness.answer()
            elif run.submission.in_flight:
                self._run(run.submission.in_flight[0])
            else:
                self.harness.wait(FIRST_S)

    def _run(self, node: int) -> None:
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
    assert hole.matches.count("bad") <= 5, "those that came before anybody knew"


def test_rounds_are_not_used_up_at_once_if_there_is_no_other_site() -> None:
    hole = Hole(2, "bad:9", "SITE_POLICY ALL_GROUPS ROUNDS 3")
    hole.play()
    assert hole.code == 1
    assert hole.matches.count("bad") == 6
    # 60, 120, 240, 480 s: the first two came together
    assert hole.harness.engine.run.now >= 1000 + 60 + 120 + 240 + 480
