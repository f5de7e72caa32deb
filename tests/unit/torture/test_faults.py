"""The plans of the torture test: what can happen, and what is due when."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from condor_pydagman.engine import actions
from tests.torture import each_point, faults
from tests.torture.faults import KILL, POINTS, Fault, FaultSchedule, Fired

ENGINE = Path(faults.__file__).parents[2] / "condor_pydagman" / "engine"
FEATURES = ENGINE.parent / "features"


def test_every_action_has_its_points() -> None:
    """A new action is to be put into ACTIONS, and into a DAG of each_point.py that asks for it."""
    known = {*faults.ACTIONS, *faults.OF_STEERING, *faults.OF_SITES, *faults.OF_BUNDLES}
    asked = {kind.__name__ for kind in get_args(actions.Action)} - {"Ask"}
    for path in (*ENGINE.glob("*.py"), *FEATURES.rglob("*.py")):
        asked.update(re.findall(r"do\.Ask\(\s*HELPER,\s*(\w+)\(", path.read_text("utf-8")))
    assert asked == known
    for action in faults.ACTIONS:
        assert KILL in POINTS[f"before {action}"]
        assert KILL in POINTS[f"after {action}"]


def test_events_of_our_own_can_be_half_written() -> None:
    assert set(faults.APPENDS) == {
        "AppendPostEnded",
        "AppendPreSkip",
        "AppendNoop",
        "AppendJournalRecord",
    }
    assert all(
        POINTS[f"{how} {action}"] for how in ("half", "unsynced") for action in faults.APPENDS
    )


START = Fired(-1, 0.0, 1, faults.START)


def came(schedule: FaultSchedule, point: str, times: int, now: float = 10.0) -> list[str]:
    return [schedule.reach(point, now)[0] for _ in range(times)]


def test_a_fault_happens_so_often_from_the_nth_time_on() -> None:
    schedule = FaultSchedule([Fault("lib.out: write", "EIO", nth=2, times=2)], [START])
    assert came(schedule, "lib.out: write", 5) == ["", "EIO", "EIO", "", ""]
    assert came(schedule, "lib.err: write", 1) == [""]


def test_there_is_a_case_for_every_point() -> None:
    cases = list(each_point.cases())
    assert {fault.at for case in cases for fault in case.faults} == set(POINTS)
    assert len({case.name for case in cases}) == len(cases)
    once = each_point.one_of_each(cases)
    assert {case.faults[-1].at for case in once} == set(POINTS)
