"""A glance at a DAG as lines of a terminal, at any width."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.shown_states import LOOKS
from condor_pydagman.report import overview_text
from condor_pydagman.report.overview_text import overview_lines, plain, summary
from tests.dag_logs import BEGIN
from tests.unit.follow.test_overview import a_run, seen


def clock(when: float) -> str:
    return f"@{when - BEGIN + 500:.0f}"


def text(one: Overview, width: int = 80) -> str:
    return "\n".join(map(plain, overview_lines(one, width, clock)))


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


def test_every_mark_has_one_in_ascii() -> None:
    marks = "".join(look.mark for look in LOOKS.values())
    assert f"{marks}…".translate(overview_text.ASCII_MARKS).isascii()
