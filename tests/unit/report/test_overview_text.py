"""A glance at a DAG as lines of a terminal, at any width."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.overview import Failure, Overview
from condor_pydagman.follow.shown_states import LOOKS
from condor_pydagman.report import overview_text
from condor_pydagman.report.overview_text import overview_lines, plain, summary
from tests.dag_logs import BEGIN
from tests.unit.follow.test_overview import NOW, a_run, seen


def clock(when: float) -> str:
    return f"@{when - BEGIN + 500:.0f}"


def text(one: Overview, width: int = 80) -> str:
    return "\n".join(map(plain, overview_lines(one, width, clock)))


def test_a_picture() -> None:
    tally = a_run()
    one = seen(tally, cluster=7, subdags=[seen(a_run())._replace(dag="S: inner.dag")])
    held = Notice(
        "job.held",
        Weight.PROBLEM,
        "2 jobs of nodes h1 and h2 are held.",
        evidence=(Evidence("t.dag.nodes.log", "job 10.0 of h1: no such file"),),
        command="condor_release 10.0 11.0",
    )
    full = Notice("throttle.full", Weight.WAITING, "MaxIdle is reached.", command="condor_qedit 7")
    shown = text(one.with_notices((held, full)))
    assert shown.splitlines()[0].startswith("t.dag  running  job 7  ")
    assert shown.splitlines()[0].endswith("  since @500, 8 min 20 s")
    assert "█ done 10 of 19" in shown
    assert "72 nodes/h, " in shown
    assert "at the rate of the last 8 min 20 s" in shown
    assert "  long  7.0  slot1@a  6 min 40 s" in shown
    assert (
        "2 jobs of nodes h1 and h2 are held.\n  t.dag.nodes.log: job 10.0 of h1: no such file\n"
        "  => condor_release 10.0 11.0\nMaxIdle is reached.\n  => condor_qedit 7\n"
    ) in shown
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


def test_the_end_and_one_line() -> None:
    one = seen(a_run(), running=False)._replace(exit_code=1, state="failed", ended=BEGIN + 200)
    shown = text(one)
    assert "failed, exit code 1" in shown
    assert "took 3 min 20 s" in shown
    assert "too few nodes" not in shown
    assert summary(one, clock) == (
        "@1000 t.dag failed: done 10 running 2 idle 1 held 2 ready 1 waiting 1 failed 2,"
        " exit code 1"
    )
    assert ", done in about " in summary(seen(a_run()), clock)


def test_what_a_dag_waits_for_in_which_nothing_goes_on() -> None:
    one = seen(a_run())._replace(remaining_s=None, waits_for=["a site", "the DAG to be resumed"])
    assert "waiting for a site, the DAG to be resumed" in text(one)
    assert summary(one, clock).endswith(", waiting for a site, the DAG to be resumed")


def test_old_counts_are_said_to_be_old() -> None:
    one = seen(a_run())._replace(counted=BEGIN + 200)
    assert "(counted 5 min ago)" in text(one)


def test_nodes_that_are_done_without_having_run_are_told_apart() -> None:
    one = seen(a_run())._replace(not_run={"cached": 1, "skipped": 1200})
    assert "█ done 10 of 19  (1,200 skipped, 1 cached)  ▓ running 2" in text(one, 200)


def test_every_mark_has_one_in_ascii() -> None:
    marks = "".join(look.mark for look in LOOKS.values())
    assert f"{marks}…".translate(overview_text.ASCII_MARKS).isascii()


def test_nodes_that_wait_for_their_retry_are_told_apart() -> None:
    shown = text(seen(a_run())._replace(retrying=1), 200)
    assert "ready 1  (1 waiting for retry)" in shown
    assert "waiting for retry" not in text(seen(a_run()), 200)


def test_a_reason_is_not_cut() -> None:
    failure = Failure("B", NOW, 1, None, "can't read the submit file " * 3 + "nothere.sub")
    shown = text(seen(a_run())._replace(failures=[failure]))
    assert "nothere.sub" in shown
    assert max(map(len, shown.splitlines())) <= 80
