"""How the DAG of a run has grown: DAGMan's records in the nodes log in, events out."""

from __future__ import annotations

from condor_pydagman.graph.let_go import numbers
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import FeederSeen, Run
from condor_pydagman.vocabulary import FEEDING, LAST, JournalRecord

REFUSED = "what it adds to the DAG is refused"


def take_record(run: Run, read: RecordRead, time: float) -> list[DagEvent]:
    """Take in a record, if it is about that; it may be in the log twice.  Returns what has
    happened."""
    if read.record is JournalRecord.FEEDER_FAILED:
        if run.feeding.state:
            return []
        run.feeding = run.feeding._replace(state="failed", reason=read.text, time=time)
        return [_feeder(run.feeding)]
    if read.record is JournalRecord.LET_GO:
        run.pieces.difference_update(numbers(read.text))
        return []
    if read.record is not JournalRecord.GROWN or read.value in run.pieces:
        return []
    run.pieces.add(read.value)
    _, word, number, *more = [*read.text.split(), "", "", ""]
    if word != FEEDING or not numbers(number):
        return [DagEvent("dag.grow", time, data={"piece": read.value})]
    run.feeding = FeederSeen(int(number), "ended" if LAST in more else "", "", time)
    grown = DagEvent("dag.grow", time, data={"piece": read.value, "feeding": int(number)})
    return [grown, _feeder(run.feeding)] if run.feeding.state else [grown]


def refusal(text: str) -> str:
    """Why a node has failed of which a record says that what it adds is refused."""
    return f"{REFUSED}: {text.removeprefix('ERROR: ')}"


def _feeder(feeding: FeederSeen) -> DagEvent:
    data = {"state": feeding.state, "feedings": feeding.number}
    if feeding.reason:
        data["reason"] = feeding.reason
    return DagEvent("dag.feeder", feeding.time, data=data)
