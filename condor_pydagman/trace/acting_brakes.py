"""What a whole DAG has decided: brakes that act, ENOUGH lines that are reached.

DAGMan's records in the nodes log go in, events come out.
"""

from __future__ import annotations

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import ActingBrake, ReachedEnough, Run
from condor_pydagman.vocabulary import JournalRecord

RECORDS = (JournalRecord.BRAKED, JournalRecord.BRAKES_OFF, JournalRecord.ENOUGH)


def take_record(run: Run, read: RecordRead, time: float) -> DagEvent | None:
    """Take in a record; returns an event if a brake has begun to act, or an ENOUGH is reached.

    A record may be in the log twice, and be of before a resume.
    """
    if read.record is JournalRecord.ENOUGH:
        return _reached(run, read, time)
    if read.record is JournalRecord.BRAKES_OFF:
        if read.value == run.resumes:
            run.resumes += 1
            run.brakes.clear()
        return None
    resumes, _, rest = read.text.partition(" ")
    effect, _, what = rest.partition(" ")
    name, _, reason = what.partition(": ")
    if resumes != str(run.resumes) or name in run.brakes:
        return None
    run.brakes[name] = ActingBrake(effect, reason, time)
    return DagEvent("dag.brake", time, data={"brake": name, "effect": effect, "reason": reason})


def _reached(run: Run, read: RecordRead, time: float) -> DagEvent | None:
    line, _, counts = read.text.rpartition(": ")
    if not line or (line in run.enough and run.enough[line].counts == counts):
        return None
    run.enough[line] = ReachedEnough(counts, time)
    return DagEvent("dag.enough", time, data={"enough": line, "reason": counts})
