"""A glance at a DAG as lines of a terminal, at any width."""

from __future__ import annotations

import pytest

from condor_pydagman.features.shared_limits.overview import OwnPart
from condor_pydagman.report import overview_text
from condor_pydagman.report.overview_text import overview_lines, plain, summary
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import GroupSite
from tests.unit.trace.test_overview import a_run, seen


def clock(when: float) -> str:
    return f"@{when:.0f}"


def text(one: Overview, width: int = 80) -> str:
    return "\n".join(map(plain, overview_lines(one, width, clock)))


def test_a_picture() -> None:
    run = a_run()
    run.limits = {"DAGMan_MaxIdle": 3}
    shown = text(seen(run, cluster=7, subdags=[seen(a_run())._replace(dag="S: inner.dag")]))
    assert shown.splitlines()[0].startswith("t.dag  running  job 7  ")
    assert shown.splitlines()[0].endswith("  since @500, 8 min 20 s")
    assert "█ done 10 of 19" in shown
    assert "72 nodes/h, " in shown
    assert "at the rate of the last 8 min 20 s" in shown
    assert "throttle reached: 3 idle jobs (DAGMan_MaxIdle)" in shown
    assert "  long  7.0  slot1@a  6 min 40 s" in shown
    assert "held: 2 jobs of h1, h2\n  no such file (code 13)" in shown
    assert "  pre  PRE script: exit code 4  @900\n  code  exit code 3  @900" in shown
    assert "  S: inner.dag  running" in shown


@pytest.mark.parametrize("width", [1, 5, 20, 40, 80, 200])
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    one = seen(a_run(), subdags=[seen(a_run())])._replace(dag="a" * 50 + "\u4e2d" * 20)
    for line in overview_lines(one, width, clock):
        assert overview_text._width(plain(line)) <= width


def test_a_bar_shows_each_state_however_few_its_nodes() -> None:
    lengths = overview_text._lengths([100000, 1, 0, 1], 20)
    assert lengths == [18, 1, 0, 1]
    assert overview_text._lengths([0, 0], 4) == [4, 0]
    assert sum(overview_text._lengths([1] * 10, 4)) >= 4


def test_names_that_would_move_the_cursor_are_shown_as_codes() -> None:
    run = a_run()
    run.nodes["long"].name = "\x1b[2Jx"
    assert "\\x1b[2Jx" in text(seen(run))
    assert "\x1b" not in text(seen(run))


def test_the_end_and_one_line() -> None:
    one = seen(a_run(), running=False)._replace(exit_code=1, state="failed", ended=700.0)
    shown = text(one)
    assert "failed, exit code 1" in shown
    assert "took 3 min 20 s" in shown
    assert "too few nodes" not in shown
    assert summary(one, clock) == (
        "@1000 t.dag failed: done 10 running 2 idle 1 held 2 ready 1 waiting 1 failed 2,"
        " exit code 1"
    )
    assert ", done in about " in summary(seen(a_run()), clock)


def test_old_counts_are_said_to_be_old() -> None:
    one = seen(a_run())._replace(counted=700.0)
    assert "(counted 5 min ago)" in text(one)


def test_the_sites_of_groups() -> None:
    run = a_run()
    assert "groups at sites" not in text(seen(run))
    names = [f"s{number:02}" for number in range(14)]
    run.groups = {name: GroupSite(name, 1) for name in names}
    run.groups["one more"] = GroupSite("s13", 1, leaving=True)
    run.groups["no"] = GroupSite(reason="none fits")
    shown = " ".join(text(seen(run)).split())
    assert "groups at sites: s13 2 s00 1 s01 1" in shown
    assert "s10 1 2 more sites 1 leaving 1 without a site" in shown
    assert seen(run).as_json()["sites"]["at"]["s13"] == 2


def test_groups_that_wait_for_a_site() -> None:
    of = {"at": {}, "leaving": 0, "without": 0, "waiting": 1, "first": ["one"], "reason": ""}
    shown = text(seen(a_run())._replace(sites=of))
    assert "\n1 group is waiting for a site (one)\n" in shown
    assert "groups at sites" not in shown
    full = "of 1 site, 1 is full (\x1b)"
    of = {**of, "at": {"s": 2}, "waiting": 1207, "first": ["a", "b"], "reason": full}
    shown = " ".join(text(seen(a_run())._replace(sites=of)).split())
    assert (
        "groups at sites: s 2 1,207 groups are waiting for a site (a, b and 1,205 more): of 1"
        in shown
    )
    assert "is full (\\x1b)" in shown


def test_shared_limits() -> None:
    tape = OwnPart("tape", "JOBS", 1000, "jobs", 950, 120, 43, "node")
    pre = OwnPart("tape", "PRE", 5, "PRE scripts", 5, 1, 1, "PRE script")
    one = seen(a_run(), shared_limits=[tape, pre, tape._replace(name="free", waiting=0)])
    shown = " ".join(text(one).split())
    assert (
        "shared limit tape: 950 of 1,000 jobs in use, 120 by this DAG, 43 nodes are waiting"
        in shown
    )
    assert "5 of 5 PRE scripts in use, 1 by this DAG, 1 PRE script is waiting" in shown
    assert "shared limit free: 950 of 1,000 jobs in use, 120 by this DAG shared" not in shown
    assert one.as_json()["shared_limits"][0]["waiting"] == 43
    assert "shared limit" not in text(seen(a_run()))
