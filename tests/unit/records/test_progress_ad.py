"""What a DAG waits for, as its job ad tells operators."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.report import Deferrals, Halts, Report
from condor_pydagman.follow.notice import CAUSES
from condor_pydagman.records import progress_ad
from condor_pydagman.vocabulary import DagStatus

NOTHING = Report(*[0] * 10, DagStatus.OK, False, *[0] * 5, Deferrals())


@pytest.mark.parametrize(
    ("counts", "cause", "count"),
    [
        ({}, "", 0),
        ({"halts": Halts(by_file=True), "ready": 3, "procs_held": 1}, "dag.halted", 3),
        ({"halts": Halts(by_rule=True)}, "dag.halted", 0),
        ({"procs_held": 2, "procs_running": 5}, "job.held", 2),
        ({"ready": 4, "resubmitting": 1, "throttled": True}, "node.submit", 1),
        ({"ready": 4, "throttled": True, "procs_running": 5}, "throttle.full", 4),
        ({"ready": 4, "procs_running": 5}, "job.running", 5),
        ({"throttled": True, "procs_running": 5}, "job.running", 5),
        ({"procs_idle": 7}, "job.idle", 7),
        ({"procs_idle": 7, "procs_running": 1}, "job.running", 1),
        ({"pre": 1, "post": 2, "hold_scripts": 3}, "script.running", 6),
        ({"retrying": 2, "futile": 1}, "node.retry", 2),
        ({"futile": 1}, "node.futile", 1),
    ],
)
def test_what_a_person_can_change_comes_first(counts: dict, cause: str, count: int) -> None:
    assert progress_ad.waits_for(NOTHING._replace(**counts)) == (cause, count)
    assert not cause or cause in CAUSES


def test_what_is_not_there_is_not_published() -> None:
    names = {progress_ad.VERSION, progress_ad.WAITS_FOR, progress_ad.WAITS_FOR_COUNT}
    assert progress_ad.attributes(NOTHING).keys() == names
    more = progress_ad.attributes(NOTHING._replace(last_end_at=5.5, refusals=2))
    assert more[progress_ad.LAST_END] == 5 and more[progress_ad.REFUSALS] == 2
    assert progress_ad.usage(0, 7) == {}
    assert progress_ad.usage(12, 7) == {progress_ad.MEMORY: "12", progress_ad.CPU: "7.00"}


def test_what_the_history_keeps() -> None:
    report = NOTHING._replace(retries=2, idle_s=1.6, running_s=60.0, wasted_s=9.0)
    assert progress_ad.summary(report) == {
        "PYDAGMAN_Retries": 2,
        "PYDAGMAN_IdleSeconds": 2,
        "PYDAGMAN_HeldSeconds": 0,
        "PYDAGMAN_RunSeconds": 60,
        "PYDAGMAN_WastedSeconds": 9,
    }
    for count, names in ((1, "N0"), (5, "N0, N1, N2, N3, N4"), (6, "N0, N1, N2, N3, N4, ...")):
        failed = tuple(f"N{number}" for number in range(count))
        assert (
            progress_ad.summary(report._replace(failed_first=failed))[progress_ad.FAILED] == names
        )
