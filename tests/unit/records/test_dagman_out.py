"""What the end of `.dagman.out` tells."""

from __future__ import annotations

import pytest

from condor_pydagman.records.dagman_out import RunLog, last_run
from condor_pydagman.vocabulary import DagStatus

TABLE = """\
{0}DAG status: 2 (DAG_STATUS_NODE_FAILED)
{0}Of 9 nodes total:
{0} Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile
{0}  ===     ===      ===     ===     ===        ===      ===      ===
{0}    1       2        0       0       0          3        3        0
{0}0 job proc(s) currently held
"""
COUNTS = (9, 1, 2, 0, 0, 0, 3, 3, 0)
END = "**** condor_dagman (condor_DAGMAN) pid 5 EXITING WITH STATUS 1\n"
START = "** condor_dagman (CONDOR_DAGMAN) STARTING UP\n"


@pytest.mark.parametrize("stamp", ["", "11/22/26 09:46:15 ", "1795340775 (pid:12) (D_ALWAYS) "])
def test_the_last_table_counts(stamp: str) -> None:
    text = TABLE.format(stamp).replace(" 9 nodes", " 8 nodes") + TABLE.format(stamp) + stamp + END
    assert last_run(text) == RunLog(COUNTS, 2, 1)


def test_a_new_start_begins_anew() -> None:
    assert last_run(TABLE.format("") + END + START) == RunLog()


def test_a_log_that_begins_or_ends_within_a_table() -> None:
    text = TABLE.format("x ")
    for cut in range(len(text)):
        found = last_run(text[cut:])
        assert found.counts in ((), COUNTS)
    assert last_run(text[: text.index("    1       2")]).counts == ()


def test_nothing_is_known_of_an_empty_log() -> None:
    assert last_run("") == RunLog((), None, None)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["Halting DAGMan progess..."], DagStatus.HALTED),
        (["Halting DAGMan progess...", "Halt reason: x", "Resuming DAG progress..."], None),
        (["Restoring halted state."], DagStatus.HALTED),
        (["DAG Pause: Freezing all work..."], DagStatus.HALTED),
        (["DAG Pause: Freezing all work...", "DAG Un-Pause: Resuming work..."], None),
        (
            ["DAG Un-Pause: Resuming work...", "The DAG stays halted by the halt file"],
            DagStatus.HALTED,
        ),
    ],
)
def test_a_halt_counts_before_the_next_table(lines: list[str], status: DagStatus | None) -> None:
    text = TABLE.format("x ") + "".join(f"11/22/26 09:46:15 {line}\n" for line in lines)
    assert last_run(text) == RunLog(COUNTS, status)


def test_a_table_after_a_halt_counts() -> None:
    assert last_run("Halting DAGMan progess...\n" + TABLE.format("")) == RunLog(COUNTS, 2)
