"""The plans of the torture test: what can happen, and what is due when."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import get_args

import pytest

from condor_pydagman.engine import actions
from condor_pydagman.names import DagPaths
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


def test_a_file_fault_has_a_number_of_the_system() -> None:
    assert len(faults.FILE_FAULTS) > 100
    for fault in faults.FILE_FAULTS:
        faults.os_error(fault.do)


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    plan = [Fault("before SubmitNode", nth=3), Fault("nodes log: write", "ENOSPC", seconds=2.5)]
    faults.write_plan(tmp_path, plan)
    assert faults.read_plan(tmp_path) == plan


def test_without_a_plan_nothing_happens(tmp_path: Path) -> None:
    assert faults.read_plan(tmp_path) == []
    assert faults.fired(tmp_path) == []


@pytest.mark.parametrize("fault", [Fault("before Nothing"), Fault("before SubmitNode", "ENOSPC")])
def test_what_can_not_happen_is_refused(tmp_path: Path, fault: Fault) -> None:
    with pytest.raises(ValueError, match="can't happen"):
        faults.write_plan(tmp_path, [fault])


def test_a_new_plan_forgets_what_has_happened(tmp_path: Path) -> None:
    (tmp_path / faults.FIRED).write_text("0 1.5 12 before Say: kill\n")
    faults.write_plan(tmp_path, [Fault("before Say")])
    assert faults.fired(tmp_path) == []


def test_what_has_happened_is_read_but_for_a_torn_line(tmp_path: Path) -> None:
    (tmp_path / faults.FIRED).write_text("-1 1.500 12 start\n0 2.000 12 before Say: kill\n0 3.0")
    assert faults.fired(tmp_path) == [
        Fired(-1, 1.5, 12, "start"),
        Fired(0, 2.0, 12, "before Say: kill"),
    ]


START = Fired(-1, 0.0, 1, faults.START)


def came(schedule: FaultSchedule, point: str, times: int, now: float = 10.0) -> list[str]:
    return [schedule.reach(point, now)[0] for _ in range(times)]


def test_a_fault_happens_so_often_from_the_nth_time_on() -> None:
    schedule = FaultSchedule([Fault("lib.out: write", "EIO", nth=2, times=2)], [START])
    assert came(schedule, "lib.out: write", 5) == ["", "EIO", "EIO", "", ""]
    assert came(schedule, "lib.err: write", 1) == [""]


def test_faults_of_earlier_processes_count() -> None:
    plan = [Fault("before Say", times=2)]
    past = [START, Fired(0, 1.0, 1, str(plan[0])), START]
    assert came(FaultSchedule(plan, past), "before Say", 2) == [KILL, ""]


def test_a_fault_waits_for_a_later_start() -> None:
    plan = [Fault("before Say", start=2)]
    assert came(FaultSchedule(plan, [START]), "before Say", 1) == [""]
    assert came(FaultSchedule(plan, [START, START]), "before Say", 1) == [KILL]


def test_a_fault_that_lasts_is_written_down_once() -> None:
    schedule = FaultSchedule([Fault("nodes log: write", "ENOSPC", seconds=5)], [START])
    first = schedule.reach("nodes log: write", 10.0)
    assert first == ("ENOSPC", Fired(0, 10.0, os.getpid(), "nodes log: write: ENOSPC"))
    assert schedule.reach("nodes log: write", 14.0) == ("ENOSPC", None)
    assert schedule.reach("nodes log: write", 16.0) == ("", None)


def test_to_ask_what_would_happen_changes_nothing() -> None:
    schedule = FaultSchedule([Fault("before Say")], [START])
    assert schedule.would("before Say", 1.0) is not None
    assert came(schedule, "before Say", 2) == [KILL, ""]


def test_files_are_known_by_their_names() -> None:
    paths = DagPaths("a/t.dag")
    known = {
        paths.nodes_log("/w"): "nodes log",
        paths.lock: "lock file",
        paths.dagman_out: "dagman.out",
        paths.rescue(1): "rescue file",
        paths.metrics + ".tmp": "metrics file",
        f"{paths.metrics}.{'0a' * 8}.tmp": "metrics file",
        paths.grown: "file of added nodes",
        paths.condor_sub: "submit file of a sub-DAG",
        "/w/save_files/t.save": "save file",
        "save_files": "save file",
        "t.status": "status file",
        "/tmp/tmpab3_x9qz": "script's output",
        paths.dagman_log: "",
        paths.primary: "",
    }
    assert {path: faults.file_of(path) for path in known} == known
    named = {file for _, file in faults.FILES_BY_NAME}
    assert named | {"lib.out", "lib.err"} == set(faults.OPERATIONS)


def test_the_installed_program_runs_by_that_python(tmp_path: Path) -> None:
    path = faults.install(tmp_path, "/some/python")
    text = Path(path).read_text()
    assert path.endswith("dagman")
    assert os.access(path, os.X_OK)
    assert text.startswith("#!/some/python\n")
    assert f'"{Path(faults.__file__).parents[2]}"' in text


def test_there_is_a_case_for_every_point() -> None:
    cases = list(each_point.cases())
    assert {fault.at for case in cases for fault in case.faults} == set(POINTS)
    assert len({case.name for case in cases}) == len(cases)
    once = each_point.one_of_each(cases)
    assert {case.faults[-1].at for case in once} == set(POINTS)
