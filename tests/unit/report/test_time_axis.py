"""The time axis of pictures, and what is cut out of it."""

from __future__ import annotations

import pytest

from condor_pydagman.report.spans import CUT_SHARE, Span, TimeAxis, time_axis


def span(*parts: tuple[str, float, float]) -> Span:
    return Span("A", 0, parts[0][1], parts[-1][2], parts, False)


def test_an_axis_of_a_run_in_which_something_always_runs_is_whole() -> None:
    found = [span(("idle", 0, 5), ("run", 5, 95)), span(("run", 90, 100))]
    axis = time_axis(found, 0.0, 100.0)
    assert axis == TimeAxis(0.0, 100.0)
    assert (axis.at(7.0), axis.length, list(axis.kept())) == (7.0, 100.0, [(0.0, 100.0)])


def test_a_job_that_is_held_for_days_does_not_squeeze_the_others() -> None:
    held = span(("idle", 0, 1), ("held", 1, 100_040), ("run", 100_040, 100_100))
    axis = time_axis([span(("run", 0, 40)), held], 0.0, 100_100.0)
    assert axis.cuts == ((40, 100_040),)
    assert axis.cut_s == CUT_SHARE * 100
    assert axis.length == pytest.approx(103)
    assert [axis.at(when) for when in (0, 40, 50_040, 100_040, 100_100)] == pytest.approx(
        [0, 40, 41.5, 43, 103]
    )
    assert list(axis.kept()) == [(0.0, 40), (100_040, 100_100.0)]


def test_before_the_first_and_after_the_last() -> None:
    axis = time_axis([span(("pre", 1000, 1010))], 0.0, 2000.0)
    assert axis.cuts == ((0.0, 1000), (1010, 2000.0))
    assert list(axis.kept()) == [(0.0, 0.0), (1000, 1010), (2000.0, 2000.0)]
    assert axis.at(1005) == pytest.approx(axis.cut_s + 5)


def test_nothing_ran() -> None:
    assert not time_axis([span(("held", 0, 9))], 0.0, 9.0).cuts
    assert not time_axis([], 5.0, 5.0).cuts
