"""The last status table and the end of a run, read from the end of `.dagman.out`.

Stock DAGMan's log looks the same (`status_table`, `banner`).
"""

from __future__ import annotations

import re

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import DagStatus

_RUN_LINES = re.compile(
    r"\(CONDOR_DAGMAN\) (?P<start>STARTING UP)$"
    r"|EXITING WITH STATUS (?P<code>\d+)$"
    r"|(?P<halt>Halting DAGMan prog\w+\.\.\.|DAG Pause: Freezing all work\.\.\."
    r"|Restoring halted state\.|The DAG stays halted by [\w ]+)$"
    r"|(?P<resume>Resuming DAG progress\.\.\.|DAG Un-Pause: Resuming work\.\.\.)$"
    r"|DAG status: (?P<status>\d+) \(DAG_STATUS_"
    r"|Of (?P<total>\d+) nodes total:\n.*\bDone +Pre +Queued.*\n.*===.*\n(?P<row>.*)$",
    re.MULTILINE,
)
COLUMNS = 8  # done, pre, queued, post, ready, unready, failed, futile


class RunLog(NamedTuple):
    """What is known of the last run that the log tells of.

    Attributes:
        counts: the number of nodes, then those of the COLUMNS; () if there is no table.
        dag_status: number of the DAG's state (`vocabulary.DagStatus`), None if not told.
        exit_code: of condor_dagman, None if it has not ended.
    """

    counts: tuple[int, ...] = ()
    dag_status: int | None = None
    exit_code: int | None = None


def last_run(text: str) -> RunLog:
    """What a log, or the end of one, tells of its last run."""
    run = RunLog()
    for found in _RUN_LINES.finditer(text):
        if found["start"]:
            run = RunLog()
        elif found["code"]:
            run = run._replace(exit_code=int(found["code"]))
        elif found["halt"] or found["resume"]:  # the next table may be long in coming
            run = run._replace(dag_status=DagStatus.HALTED if found["halt"] else None)
        elif found["status"]:
            run = run._replace(dag_status=int(found["status"]))
        else:
            row = re.findall(r"\d+", found["row"])[-COLUMNS:]  # a time stands before them
            if len(row) == COLUMNS:
                run = run._replace(counts=(int(found["total"]), *map(int, row)))
    return run
