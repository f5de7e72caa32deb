"""What a whole DAG has decided: ENOUGH lines that are reached.

DAGMan's records in the nodes log go in, events come out.
"""

from __future__ import annotations

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import ReachedEnough, Run
from condor_pydagman.vocabulary import JournalRecord

RECORDS = (JournalRecord.ENOUGH,)


def take_record(run: Run, read: RecordRead, time: float) -> DagEvent | None:
    """Take in a record, which may be in the log twice; returns an event if an ENOUGH is reached."""
    line, _, counts = read.text.rpartition(": ")
    if not line or (line in run.enough and run.enough[line].counts == counts):
        return None
    run.enough[line] = ReachedEnough(counts, time)
    return DagEvent("dag.enough", time, data={"enough": line, "reason": counts})
