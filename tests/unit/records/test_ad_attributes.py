"""Attributes of DAGMan's own job ad."""

from __future__ import annotations

import pytest

from condor_pydagman import __version__
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.engine.report import Deferrals, Report, Shown
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.feeder.report import FeederReport, feeder_text
from condor_pydagman.records.own_ad import (
    attributes,
    begun_anew,
    changed,
    earlier_throttles,
    ended,
    ended_with,
    quoted,
    throttles,
    wanted_limits,
)
from condor_pydagman.vocabulary import DagStatus

# Its numbers are 1, 2 and so on, in the order of its fields.
REPORT = Report(*range(1, 11), DagStatus.RM, True, *range(11, 16), Deferrals())


def test_every_number_has_its_name() -> None:
    assert attributes(REPORT, 1795253067.9) == {
        "PYDAGMAN_HaltedByCommand": "false",
        "DAG_Status": "4",
        "DAG_InRecovery": "1",
        "DAG_NodesTotal": "1",
        "DAG_NodesDone": "2",
        "DAG_NodesPrerun": "3",
        "DAG_NodesQueued": "4",
        "DAG_NodesPostrun": "5",
        "DAG_NodesReady": "6",
        "DAG_NodesUnready": "7",
        "DAG_NodesFailed": "8",
        "DAG_NodesFutile": "9",
        "DAG_NodesHoldrun": "10",
        "DAG_JobsSubmitted": "11",
        "DAG_JobsIdle": "12",
        "DAG_JobsHeld": "13",
        "DAG_JobsRunning": "14",
        "DAG_JobsCompleted": "15",
        "DAG_AdUpdateTime": "1795253067",
        "PYDAGMAN_Version": f'"{__version__}"',
        "PYDAGMAN_WaitsFor": '"job.held"',
        "PYDAGMAN_WaitsForCount": "13",
    }


def test_first_time_everything_is_written() -> None:
    new = attributes(REPORT, 5)
    assert changed(new, {}) == new


def test_only_changes_are_written_and_the_time_last() -> None:
    old = attributes(REPORT, 5)
    new = attributes(REPORT._replace(done=3), 9)
    assert list(changed(new, old).items()) == [("DAG_NodesDone", "3"), ("DAG_AdUpdateTime", "9")]


def test_time_alone_is_not_worth_a_write() -> None:
    assert changed(attributes(REPORT, 9), attributes(REPORT, 5)) == {}
    assert changed(attributes(REPORT, 9, "[ A = 2 ]"), attributes(REPORT, 5, "[ A = 1 ]")) == {}


def test_statistics_go_along_with_other_changes() -> None:
    old = attributes(REPORT, 5, "[ A = 1 ]")
    new = attributes(REPORT._replace(done=3), 9, "[ A = 2 ]")
    assert list(changed(new, old).items()) == [
        ("DAG_NodesDone", "3"),
        ("DAG_Stats", "[ A = 2 ]"),
        ("DAG_AdUpdateTime", "9"),
    ]


@pytest.mark.parametrize("value", [-1, None, "5", True, 2.5])
def test_what_is_no_limit(value: object) -> None:
    assert wanted_limits({"DAGMan_MaxJobs": value}, Throttles()) is None
    edited = {"DAGMan_MaxJobs": value, "DAGMan_MaxIdle": 0}
    assert wanted_limits(edited, Throttles(idle=7)) == LimitsWanted(idle=0)


def test_throttles() -> None:
    assert throttles(Throttles(jobs=0, idle=1000, pre=20, post=21, hold=22, submits=100)) == {
        "DAGMan_MaxIdle": "1000",
        "DAGMan_MaxJobs": "0",
        "DAGMan_MaxPreScripts": "20",
        "DAGMan_MaxPostScripts": "21",
        "DAGMan_MaxHoldScripts": "22",
        "DAGMan_MaxSubmitsPerInterval": "100",
        "PYDAGMAN_OwnPace": "false",
    }


@pytest.mark.parametrize(
    ("own_pace", "number", "found"),
    [(True, 100, 0), (True, 60, 60), (False, 100, 100), (None, 100, 100), (None, -1, None)],
)
def test_throttles_of_an_earlier_start(
    own_pace: bool | None, number: int, found: int | None
) -> None:
    ad = {"PYDAGMAN_OwnPace": own_pace, "DAGMan_MaxSubmitsPerInterval": number, "DAGMan_MaxJobs": 3}
    want = {"jobs": 3} if found is None else {"jobs": 3, "submits": found}
    assert earlier_throttles(ad) == want


def test_quoted() -> None:
    assert quoted('a"b\\c\nd') == '"a\\"b\\\\c\\nd"'


def test_the_end_is_noted_with_the_count_of_this_start() -> None:
    assert ended(0, 3) == {"PYDAGMAN_Ended": '"0 3"'}
    assert ended(2, 1) == {"PYDAGMAN_Ended": '"2 1"'}


@pytest.mark.parametrize(("code", "count"), [(3, 1), (4, 1), (-9, 1), (0, None), (0, "1")])
def test_an_end_with_which_the_job_comes_back_is_none(code: int, count: object) -> None:
    assert ended(code, count) == {}


KILLED = {"ExitBySignal": True, "ExitCode": None}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, 1),
        (KILLED, 1),  # after the lock file was gone
        ({"ExitBySignal": False, "ExitCode": 3}, 1),  # of a start before: held and released
        ({"ExitBySignal": False, "ExitCode": 1}, None),  # the schedd wants it again
        ({"ExitBySignal": False, "ExitCode": 1, "OnExitRemove": True}, 1),  # it died too soon
        ({"JobRunCount": 6, **KILLED}, 1),  # the start in between was killed as well
        ({"JobRunCount": 6, "ExitBySignal": False, "ExitCode": 1}, None),
        ({"JobRunCount": 4}, None),
        ({"JobRunCount": None}, None),
        ({"PYDAGMAN_Ended": None}, None),
        ({"PYDAGMAN_Ended": "1 4 2"}, None),
        ({"PYDAGMAN_Ended": 14}, None),
    ],
)
def test_an_end_that_the_schedd_has_not_heard_of(more: dict[str, object], code: int | None) -> None:
    assert ended_with({"PYDAGMAN_Ended": "1 4", "JobRunCount": 5, **more}) == code


def test_a_first_start_has_not_ended() -> None:
    assert ended_with({}) is None


@pytest.mark.parametrize("ad", [{}, {"JobRunCount": 1}, {"JobRunCount": None}])
def test_a_first_run_does_not_begin_anew(ad: dict[str, object]) -> None:
    assert begun_anew(ad, 1000.5, recovers=False) == {}


@pytest.mark.parametrize(
    ("ad", "recovers"),
    [
        ({"JobRunCount": 2}, False),
        ({"JobRunCount": 2, "PYDAGMAN_Ended": "0 1"}, False),
        ({"JobRunCount": 2, "PYDAGMAN_Ended": "0 1"}, True),  # it left its lock file
    ],
)
def test_a_later_run_of_the_same_job_is_told_from_the_one_before(
    ad: dict[str, object], recovers: bool
) -> None:
    told = {"PYDAGMAN_Ended": "undefined", "PYDAGMAN_BegunAnew": "1000"}
    assert begun_anew(ad, 1000.5, recovers=recovers) == told


def test_a_run_that_goes_on_does_not_begin_anew() -> None:
    assert begun_anew({"JobRunCount": 2}, 1000.5, recovers=True) == {}


@pytest.mark.parametrize(
    ("brake", "shown"), [(None, None), ("", "undefined"), ('a "b"', '"a \\"b\\""')]
)
def test_a_brake_is_shown_and_restores_nothing(brake: str | None, shown: str | None) -> None:
    shown_by_it = () if brake is None else (Shown("Brake", brake, "PYDAGMAN_Brake"),)
    texts = attributes(REPORT._replace(shown=shown_by_it), 1.0)
    assert texts.get("PYDAGMAN_Brake") == shown
    assert texts["PYDAGMAN_HaltedByCommand"] == "false"


def test_how_a_feeder_does() -> None:
    assert "PYDAGMAN_Feeder" not in attributes(REPORT, 1.0)
    feeder = Shown("Feeder", FeederReport("waits", 1, 2000, 'no "x"').text, "PYDAGMAN_Feeder")
    texts = attributes(REPORT._replace(shown=(feeder,)), 1.0)
    assert texts["PYDAGMAN_Feeder"] == '"waits, 1 feeding, 2,000 nodes; no \\"x\\""'
    assert feeder_text("", 3) == "3 feedings"
