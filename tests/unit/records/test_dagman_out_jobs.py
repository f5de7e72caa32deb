"""Lines of `.dagman.out` that tell of jobs."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.records.dagman_out import RESULT, JobLine, job_lines

TIMES = LocalTimes(lambda text, utc: 60.0, 2026)
HEAD = "11/26/26 17:48:30 "


def read(text: str) -> list[JobLine]:
    return list(job_lines(f"{HEAD}{text}\n".encode(), 100, TIMES.seconds))


@pytest.mark.parametrize("more", ["", " [recovery mode]"])
@pytest.mark.parametrize("what", ["SUBMIT", "EXECUTE", "JOB_TERMINATED", "JOB_HELD"])
def test_events(what: str, more: str) -> None:
    text = f"Event: ULOG_{what} for HTCondor Node S+a (7.1.0) {{11/26/26 17:48:29}}{more}"
    (line,) = read(text)
    assert line == JobLine(what, 89.0, "S+a", (7, 1, 0), 0, 100 + len(HEAD) + len(text) + 1)


@pytest.mark.parametrize(
    ("how", "value"),
    [("completed successfully.", 0), ("failed with status 3.", 3), ("failed with signal 9.", -9)],
)
def test_results(how: str, value: int) -> None:
    (line,) = read(f"Node A job proc (7.0.0) {how}")
    assert (line.what, line.node, line.job, line.value) == (RESULT, "A", (7, 0, 0), value)


@pytest.mark.parametrize(
    "text",
    [
        "Event: ULOG_IMAGE_SIZE for HTCondor Node A (7.0.0) {11/26/26 17:48:29}",
        "Event: ULOG_SUBMIT for unknown Node (7.0.0) {11/26/26 17:48:29}: ignoring...",
        "Node A job proc (7.0.0) was removed: via condor_rm",
        "Number of idle job procs: 1",
    ],
)
def test_other_lines(text: str) -> None:
    assert not read(text)
