"""Lines of `.dagman.out` that clients take apart (pegasus-monitord, lsst.ctrl.bps): every kind of
them comes out of a run in the shape that they look for.

`tests/pool/test_compare.py` (record `parsed`) holds how often, against stock.
"""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.records import banner
from condor_pydagman.vocabulary import EventKind
from tests.make import EngineHarness, dag, of_job
from tests.pool.file_records import parsed_lines

PID = 4711


def run() -> list[str]:
    """What is said in a run in which everything happens."""
    harness = EngineHarness(
        dag("""
            A B C
            SCRIPT PRE A p
            SCRIPT POST A q
            RETRY A 1
        """)
    ).begin()
    harness.take("B", 12)
    harness.tell(of_job(EventKind.JOB_HELD, 12, text="no disk"))
    harness.tell(inputs.SubmitFailed(harness.dag.ids["C"], "no", True, False, "11/21/26 10:00:00"))
    harness.read_back()
    harness.pre_ends("A")
    harness.run_node("A", 10, value=3)
    harness.post_ends("A", 1)
    harness.pre_ends("A")
    harness.run_node("A", 11)
    harness.post_ends("A")
    harness.tell(inputs.DagRemoved())
    said = [line for say in harness.ever(do.Say) for line in say.text.split("\n")]
    return [*said, banner.exit_line(PID, 2)]


@pytest.fixture(scope="module")
def found() -> list[str]:
    """What clients find in it."""
    return parsed_lines([f"11/21/26 10:00:00 {line}" for line in run()])


@pytest.mark.parametrize(
    "entry",
    [
        "event: A 0.0 JOB_TERMINATED",
        "event: A 0.0 POST_SCRIPT_TERMINATED",
        "event: B 0.0 JOB_HELD",
        "event: C 0.-1 SUBMIT_FAILURE",
        "script runs: A PRE",
        "script runs: A POST",
        "script ended: A PRE",
        "script ended: A POST",
        "script failed: A POST",
        "submit: A ",
        "submit failed: ERROR: submit attempt failed",
        "failed: A 0.0 status 3",
        "ended: A 1.0 ",
        "retry: A retry #1 of 1",
        "held: no disk",
        "aborted: ",
        "finished: 2",
    ],
)
def test_found(found: list[str], entry: str) -> None:
    assert " ".join(entry.split()) in [" ".join(one.split()) for one in found]
