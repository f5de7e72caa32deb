"""Rounds of matchmaking: sites, room, reasons; and many DAGMans at once."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.adapters import shared_directory
from condor_pydagman.adapters.shared_directory import label
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.common.adapters.job_claims import Waker
from condor_pydagman.features.sites.adapters import matcher
from condor_pydagman.features.sites.adapters.ads import SiteAd, known
from condor_pydagman.features.sites.adapters.claims_directory import WAKES, ClaimsDirectory
from condor_pydagman.features.sites.adapters.matcher import Groups, Made, Matcher, give_up
from condor_pydagman.features.sites.choice import NO_LIMITS, Limits, Wanted
from condor_pydagman.features.sites.commands import NO_POLICY, SitePolicy
from condor_pydagman.features.sites.messages import SiteClaim
from tests.features.sites.some_ads import site

NORTH, SOUTH = site("north", 1, Speed=1), site("south", 2, Bad=True)


@pytest.fixture
def claims_directory(tmp_path: Path) -> Path:
    path = tmp_path / "claims"
    path.mkdir()
    path.chmod(0o1777)
    return path


class Bench:
    """A matcher, and the sites that the collector has."""

    def __init__(
        self, directory: Path, cluster: int = 1, *policies: SitePolicy, address: str = ""
    ) -> None:
        self.sites: list[SiteAd] = [NORTH, SOUTH]
        self.asked = 0
        self.now = 0.0
        claims = ClaimsDirectory(str(directory), "here", cluster, set, print)
        kinds = policies or (NO_POLICY,)
        self.matcher = Matcher(
            Groups(
                *("t.dag", [f"g{n}" for n in range(9)], kinds),
                *([n % len(kinds) for n in range(9)], {}),
            ),
            directory=claims,
            query=self._query,
            interval_s=60.0,
            address=address,
            clock=lambda: self.now,
            wall_clock=lambda: 1e9 + self.now,
        )

    def _query(self) -> list[SiteAd]:
        self.asked += 1
        if not self.sites:
            raise PoolError("nobody answers", transient=True)
        return self.sites

    def round(
        self, claims: Any = (), wanted: Any = (), watched: Any = (), limits: Limits = NO_LIMITS
    ) -> Any:
        groups = [one if isinstance(one, Wanted) else Wanted(one, 0) for one in wanted]
        self.made: Made = self.matcher.round(claims, groups, watched, limits)
        return self.made.reply


def test_groups_get_sites(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    done = bench.round(wanted=[0, 1, 2, 3])
    digests = {one.name: known(one).digest for one in (NORTH, SOUTH)}
    assert done.claims == [
        SiteClaim(group, name, digests[name])
        for group, name in ((0, "north"), (1, "south"), (2, "south"))
    ]
    assert done.sites == ["north", "south"]
    assert done.reasons == [(0, "of 2 sites, 2 are full (north, south)")]
    assert bench.made.ads[digests["north"]].values["Speed"] == 1


def test_an_ad_is_read_once_for_all_groups_that_get_its_site(
    claims_directory: Path, mocker: MockerFixture
) -> None:
    read = mocker.patch.object(matcher, "known", side_effect=known)
    Bench(claims_directory).round(wanted=[0, 1, 2, 3])
    assert [call.args for call in read.call_args_list] in (
        [(NORTH,), (SOUTH,)],
        [(SOUTH,), (NORTH,)],
    )


def test_the_collector_is_asked_at_intervals(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    bench.round(wanted=[0])
    bench.round([(0, "north")], [1])
    bench.round([(0, "north")])
    assert bench.asked == 1
    bench.now = 60.0
    bench.round([(0, "north")], [1])
    assert bench.asked == 2


def test_a_collector_that_is_gone_changes_nothing(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    bench.round(wanted=[0])
    bench.sites, bench.now = [], 99.0
    with pytest.raises(PoolError, match="nobody answers"):
        bench.round([(0, "north")], [1])
    assert Bench(claims_directory, 2).round(wanted=[0]).claims[0].site == "south"


def test_claims_are_given_up_without_asking_anybody(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    bench.round(wanted=[0])
    bench.sites = []
    bench.round([])
    assert Bench(claims_directory, 2).round(wanted=[0]).claims[0].site == "north"


def test_the_same_request_again_finds_the_same(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    assert bench.round(wanted=[0, 1]) == bench.round(wanted=[0, 1])


def test_claims_of_an_earlier_dagman_job_are_kept_if_there_is_room(claims_directory: Path) -> None:
    """A DAG that another DAGMan job recovers; the first one left the queue."""
    south = [(0, "south"), (1, "south"), (2, "north"), (3, "gone")]
    Bench(claims_directory, 2).round(wanted=[4, 5])  # one each at north and south
    bench = Bench(claims_directory, 3)
    assert bench.round(south).without_room == [1, 2]
    again = Bench(claims_directory, 3).round([south[0], south[3]])
    assert again.without_room == []
    counts = ClaimsDirectory(str(claims_directory), "here", 99, set, print).everything()
    assert sum((one.counts() for one in counts), Counter()) == {"north": 1, "south": 2, "gone": 1}


def test_a_site_whose_ad_is_wrong_keeps_groups_of_an_earlier_dagman_job(
    claims_directory: Path,
) -> None:
    bench = Bench(claims_directory)
    bench.sites = [site("north", "=error")]
    assert bench.round([(0, "north")]).without_room == []


def test_claims_of_the_own_file_are_kept_without_a_look_at_others(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    bench.round(wanted=[0])
    restarted = Bench(claims_directory)
    restarted.sites = []
    assert restarted.round([(0, "north")]).without_room == []


def test_the_expression_of_a_policy(claims_directory: Path) -> None:
    bench = Bench(claims_directory, 1, SitePolicy(rematch_if="TARGET.Bad"))
    watched = [(0, "north"), (1, "south"), (2, "gone")]
    assert bench.round(watched[:2], (), watched).unfit == [1]


def test_current_matches_are_those_of_all_dagmans(claims_directory: Path) -> None:
    policy = SitePolicy("TARGET.CurMatches < 1")
    Bench(claims_directory, 2).round(wanted=[0, 1])
    done = Bench(claims_directory, 1, policy).round(wanted=[0])
    assert done.claims == []


def test_no_site_is_over_its_limit_whoever_asks_at_once(claims_directory: Path) -> None:
    """As many DAGMans as there are places, and more, each a process."""
    children = []
    for cluster in range(1, 9):
        pid = os.fork()
        if pid == 0:
            try:
                bench = Bench(claims_directory, cluster)
                bench.sites = [site("north", 5), site("south", 4)]
                held: list[tuple[int, str]] = []
                for group in range(3):
                    done = bench.round(held, [group])
                    held += [(one.group, one.site) for one in done.claims]
                os._exit(0)
            finally:
                os._exit(1)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 8
    claims = ClaimsDirectory(str(claims_directory), "here", 99, set, print).everything()
    assert sum((one.counts() for one in claims), Counter()) == {"north": 5, "south": 4}


def everything(claims_directory: Path) -> Counter[str]:
    claims = ClaimsDirectory(str(claims_directory), "here", 99, set, print).everything()
    return sum((one.counts() for one in claims), Counter())


def test_a_directory_that_is_removed_is_made_again(claims_directory: Path) -> None:
    """Claims are in the new one then, and those that others have got there meanwhile count."""
    one, two = Bench(claims_directory, 1), Bench(claims_directory, 2)
    assert len(one.round(wanted=[0, 1, 2]).claims) == 3
    assert two.round(wanted=[0]).claims == []
    shutil.rmtree(claims_directory)
    (match,) = two.round(wanted=[3]).claims
    has = [(0, "north"), (1, "south"), (2, "south")]
    told = one.round(has)
    assert told.without_room == [number for number, site in has if site == match.site][-1:]
    assert everything(claims_directory) == {"north": 1, "south": 2}
    assert claims_directory.stat().st_mode & 0o7777 == 0o1777


def test_a_directory_that_has_too_much_in_it(
    claims_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(claims_directory)
    bench.round(wanted=[0])
    for number in range(3):
        (claims_directory / f"{number}").touch()
    with monkeypatch.context() as patch:
        patch.setattr(shared_directory, "MAX_ENTRIES", 3)
        with pytest.raises(FileError, match="has more than 3 files"):
            bench.round([(0, "north")], [1])
    assert bench.round([(0, "north")], [1]).claims[0].site == "south"


STEPS_IN = ("shared_directory.py", "job_claims.py", "claims_directory.py")


def kill_at(step: int) -> None:
    """Let this process be killed when it comes to so many lines that are about the directory."""
    left = step

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(STEPS_IN):
            return None
        left -= event == "line"
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def test_a_kill_at_any_step_of_a_round(claims_directory: Path) -> None:
    """The lock is free at once, no place is lost, and none is given away twice."""
    other = Bench(claims_directory, 2)
    step, killed = 1, True
    while killed:
        pid = os.fork()
        if pid == 0:
            try:
                bench = Bench(claims_directory)
                kill_at(step)
                bench.round(wanted=[0, 1])
            finally:
                os._exit(0)
        killed = os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        has = [(one.group, one.site) for one in other.round(wanted=[0]).claims]
        assert all(count <= {"north": 1, "south": 2}[site]
                   for site, count in everything(claims_directory).items())  # fmt: skip
        other.round([])
        mine = Bench(claims_directory)
        assert len(mine.round(wanted=[0, 1]).claims) == 2, f"after step {step}, {has}"
        mine.round([])
        assert len(os.listdir(claims_directory)) == 2, f"after step {step}"
        step += 5
    assert step > 50


def test_a_full_site_is_waited_for_if_it_will_fit(claims_directory: Path) -> None:
    """Also if its own Requirements are those of the recipe of 2003, or the group's are."""
    own = "=(CurMatches < MaxMatches) && (TARGET.Want =?= True)"
    policy = SitePolicy("TARGET.CurMatches < TARGET.MaxMatches", attributes=(("Want", "true"),))
    bench = Bench(claims_directory, 1, policy)
    bench.sites = [site("north", 1, Requirements=own), site("south", 9)]
    claims = [(0, "north")]
    assert bench.round(claims, [Wanted(1, 0, last=("south",))]).claims == []
    told = bench.round(claims, [Wanted(1, 0, last=("south",))])
    assert told.reasons == [
        (
            0,
            "of 2 sites, 1 is left out, because the group had to leave it (south);"
            " 1 is full (north)",
        )
    ]
    assert bench.sites[0].ad["CurMatches"] == 1
    bench.sites = [site("north", 1, Requirements="=TARGET.Want =?= 7"), site("south", 9)]
    bench.now += 60
    (match,) = bench.round(claims, [Wanted(1, 0, last=("south",))]).claims
    assert match.site == "south"


def test_sites_on_trial(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    limits = Limits(tried=(("north", 0),), untried=1)
    told = bench.round(wanted=[0, 1, 2], limits=limits)
    assert [one.site for one in told.claims] == ["south"]
    why = "of 2 sites, 2 are on trial until one of the first groups there is done (north, south)"
    assert [reason for _, reason in told.reasons] == [why]


def test_sites_that_rest(claims_directory: Path) -> None:
    bench = Bench(claims_directory)
    limits = Limits(resting=(("north", 0), ("south", 1)))
    told = bench.round(wanted=[0, 1, 2], limits=limits)
    assert [match.site for match in told.claims] == ["south"]
    why = "of 2 sites, 2 are paused, because groups had to leave it (north, south)"
    assert told.reasons == [(0, why)]


class Dag(Bench):
    """A DAG with groups that wait for the only place, and is woken."""

    def __init__(self, directory: Path, cluster: int, waker: Waker, now: float = 0.0) -> None:
        super().__init__(directory, cluster, address=waker.address)
        self.waker = waker
        self.now = now
        self.sites = [site("north", 1)]
        self.left = list(range(9))

    def gets(self, after_s: float = 0.0) -> bool:
        """Whether a group that waits gets the place now; others are at their end."""
        self.now += after_s
        self.told = self.round((), self.left)
        self.left = self.left[len(self.told.claims) :]
        return bool(self.told.claims)


@pytest.fixture
def dags(claims_directory: Path) -> Iterator[list[Dag]]:
    wakers = [Waker(WAKES) for _ in range(3)]
    yield [Dag(claims_directory, n, waker, float(n)) for n, waker in enumerate(wakers, 1)]
    for waker in wakers:
        waker.close()


def test_dags_take_turns_at_a_place(dags: list[Dag]) -> None:
    one, two, three = dags
    assert [dag.gets() for dag in dags] == [True, False, False]
    for gives, gets, waits in ((one, two, three), (two, three, one), (three, one, two)) * 2:
        assert not gives.gets(3.0), "it has had its turn"
        assert not waits.gets()
        assert gets.waker.was_woken()
        assert not waits.waker.was_woken()
        assert gets.gets()


def test_why_a_dag_does_not_get_a_place_that_is_free(dags: list[Dag]) -> None:
    one, two, _ = dags
    one.gets()
    two.gets()
    assert not one.gets(3.0)
    why = "of 1 site, 1 is for other DAGs first, which have waited longer (north)"
    assert one.told.reasons == [(0, why)]


def test_nothing_is_kept_for_who_can_not_be_woken(dags: list[Dag]) -> None:
    """It was killed, or waits for its restart."""
    one, two, _ = dags
    one.gets()
    two.gets()
    two.waker.close()
    assert one.gets(3.0)


def test_nothing_is_kept_for_long_for_who_does_not_look(dags: list[Dag]) -> None:
    one, two, _ = dags
    one.gets()
    two.gets()
    assert not one.gets(120.0)
    assert one.gets(2.0)


def test_what_a_restarted_dagman_has_said_is_known_to_it(
    dags: list[Dag], claims_directory: Path
) -> None:
    one, two, three = dags
    one.gets()
    two.gets()
    three.gets()
    two = Dag(claims_directory, 2, two.waker, 50.0)
    assert not two.gets()
    assert not one.gets(50.0)
    assert two.gets()


def test_the_last_place_of_a_dag_is_given_to_who_waits(
    dags: list[Dag], claims_directory: Path
) -> None:
    one, two, _ = dags
    one.now = time.time() - 1e9
    two.now = one.now + 1.0
    one.gets()
    two.gets()
    give_up(ClaimsDirectory(str(claims_directory), "here", 1, set, print))
    assert two.waker.was_woken()
    assert two.gets()


def test_who_leaves_the_line_keeps_nothing(dags: list[Dag], claims_directory: Path) -> None:
    """It was its turn, and its DAG was removed."""
    one, two, three = dags
    one.now = time.time() - 1e9
    two.now, three.now = one.now + 1.0, one.now + 2.0
    for dag in dags:
        dag.gets()
    assert not one.gets(9.0)
    give_up(ClaimsDirectory(str(claims_directory), "here", 2, set, print))
    assert three.waker.was_woken()
    assert three.gets()


def test_a_round_that_only_gives_up_wakes_who_waits(dags: list[Dag]) -> None:
    one, two, _ = dags
    one.gets()
    two.gets()
    one.left = []
    one.gets()
    assert two.waker.was_woken()


def test_a_dagman_goes_on_with_its_file(dags: list[Dag], claims_directory: Path) -> None:
    one, two, _ = dags
    path = claims_directory / f"claims.{os.geteuid()}.{label('here')}.1"
    path.write_text('{"version": 1, "dag": "t.dag", "claims": [["g8", "north"]]}\n')
    one.sites = []  # nobody is asked about it
    assert one.round([(8, "north")]).without_room == []
    assert not two.gets()
    one.sites = two.sites
    assert not one.gets(9.0)
    assert two.gets()
