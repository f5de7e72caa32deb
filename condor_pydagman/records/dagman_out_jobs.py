"""Those lines of `.dagman.out` that tell of jobs, which the nodes log tells better.

When a run begins DAGMan empties the nodes log: of earlier runs there is nothing else.  Both
programs write the same lines, unless DAGMAN_VERBOSITY is below its default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from condor_pydagman.named_tuple import NamedTuple

SUBMIT, EXECUTE, TERMINATED, ABORTED = "SUBMIT", "EXECUTE", "JOB_TERMINATED", "JOB_ABORTED"
HELD, RELEASED, EVICTED = "JOB_HELD", "JOB_RELEASED", "JOB_EVICTED"
LOST = ("SHADOW_EXCEPTION", "JOB_RECONNECT_FAILED")  # evicted, too
RESULT = "result"  # of a job that has ended by itself

_ID = rb"\((\d{1,10})\.(\d{1,10})\.(\d{1,10})\)"
_EVENT = re.compile(
    rb"Event: ULOG_(SUBMIT|EXECUTE|JOB_TERMINATED|JOB_ABORTED|JOB_HELD|JOB_RELEASED|JOB_EVICTED"
    rb"|SHADOW_EXCEPTION|JOB_RECONNECT_FAILED) for HTCondor Node (.+?) " + _ID + rb" \{([^}]*)\}"
)
_RESULT = re.compile(
    rb"Node (.+?) job proc " + _ID + rb" (?:completed successfully\."
    rb"|failed with status (\d{1,10})\.|failed with signal (\d{1,3})\.)"
)


class JobLine(NamedTuple):
    """A line that tells of a job.

    Attributes:
        what: the name of an event of the nodes log, or RESULT.
        time: of the event, seconds since the epoch; 0.0 if there is none.
        node: its full name.
        job: cluster, proc and subproc.
        value: of a RESULT: exit code, or negative signal.
        end: offset behind the line in the file, bytes.
    """

    what: str
    time: float
    node: str
    job: tuple[int, int, int]
    value: int
    end: int


def job_lines(data: bytes, begin: int, seconds: Callable[[str], float]) -> Iterator[JobLine]:
    """The lines that tell of jobs, of a part of the file that begins at offset `begin`; `seconds`
    gives those since the epoch of a time stamp."""
    for found in re.finditer(rb"[^\n]*\n", data):
        line, end = found[0], begin + found.end()
        event = _EVENT.search(line) if b"Event: ULOG_" in line else None
        if event is not None:
            what, node, *ids, stamp = event.groups()
            time = seconds(stamp.decode("ascii", "replace"))
            yield JobLine(what.decode(), time, _name(node), _job(ids), 0, end)
        elif b" job proc (" in line:
            result = _RESULT.search(line)
            if result is not None:
                node, *ids, status, signal = result.groups()
                value = -int(signal) if signal else int(status or 0)
                yield JobLine(RESULT, 0.0, _name(node), _job(ids), value, end)


def _name(node: bytes) -> str:
    return node.decode("utf-8", "surrogateescape")


def _job(ids: list[bytes]) -> tuple[int, int, int]:
    cluster, proc, subproc = map(int, ids)
    return cluster, proc, subproc
