"""What there is to say to people of a DAG: notices, each with its evidence and with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from condor_pydagman.feature_table import FEATURES
from condor_pydagman.named_tuple import NamedTuple

# Each cause that the core has, and what it is.  The names are an interface (docs/watching.md): they
# are only added to.
CAUSES: Mapping[str, str] = {
    "dagman.held": "DAGMan's job is on hold",
    "dagman.interrupted": "DAGMan is gone, and its run is not over",
    "dagman.removed": "DAGMan's job was removed",
    "dagman.succeeded": "the DAG succeeded although nodes failed",
    "dagman.failed": "DAGMan ended with an error that no node caused",
    "dagman.not_started": "the DAG has not started",
    "dagman.idle": "DAGMan's job is waiting to be started",
    "dag.aborted": "a node ended the DAG by ABORT-DAG-ON",
    "dag.halted": "the DAG is halted, or ended because it was",
    "node.submit": "the jobs of nodes can't be submitted",
    "node.pre": "PRE scripts failed",
    "node.exit": "jobs ended with an exit code other than 0",
    "node.signal": "jobs were killed by a signal",
    "node.post": "POST scripts failed",
    "node.removed": "jobs were removed",
    "node.cancelled": "nodes were cancelled by a person (condor_pydagman steer)",
    "node.subdag": "sub-DAGs failed",
    "node.failed": "nodes failed for a reason that the logs do not contain",
    "node.stopped": "DAGMan removed jobs, or killed scripts, because the DAG ended",
    "node.futile": "nodes can't run because ancestors of theirs failed",
    "job.held": "jobs are on hold",
    "job.evicted": "jobs are taken from their machines again and again",
    "job.no_match": "no machine can run jobs that are idle",
    "subdag.problem": "a running sub-DAG has a problem",
    "node.waiting": "the node is waiting for others",
    "throttle.full": "as many nodes, jobs or scripts are active as a throttle permits",
    "node.retry": "failed nodes are waiting for the delay of their next attempt",
    "script.put_off": "scripts asked to be put off, and run again later (SCRIPT DEFER)",
    "data.waiting": "DATA nodes are waiting for a server, a turn, space or another transfer",
    "dag.stalled": "no node has finished for longer than usual",
    "job.idle": "jobs are waiting in the queue",
    "script.running": "PRE or POST scripts are running",
    "job.running": "jobs are running",
    "node.state": "the state of the node",
    "dag.rescue": "where the DAG continues when you submit it again",
    "unknown": "something that could not be determined",
}
# All causes, in the order in which they are told.
ALL_CAUSES = tuple(
    cause
    for own in CAUSES
    for cause in (own, *(more for one in FEATURES for more in one.causes.get(own, ())))
)
_ORDER = {cause: number for number, cause in enumerate(ALL_CAUSES)}


class Weight(IntEnum):
    """How much a notice matters, the most important first."""

    PROBLEM = 0  # somebody must do something, or the DAG has failed because of it
    WAITING = 1  # goes on by itself
    NOTE = 2


class Evidence(NamedTuple):
    """Where a notice is from."""

    source: str  # a file, perhaps with a line (`x.dag:7`), an attribute of an ad, a log
    text: str = ""  # what it says
    time: float = 0.0  # when that happened, seconds since the epoch; 0.0 if that does not matter
    lines: tuple[str, ...] = ()  # an excerpt of it

    def to_json(self) -> dict[str, Any]:
        """As an object for JSON, without what is empty."""
        return {name: value for name, value in self._asdict().items() if value}


class Notice(NamedTuple):
    """One thing that keeps a DAG from going on, or has made it fail, or is worth knowing."""

    cause: str  # one of ALL_CAUSES
    weight: Weight  # how much it matters
    sentence: str  # what it is, for people
    nodes: tuple[str, ...] = ()  # the nodes that it is about, by their full names
    evidence: tuple[Evidence, ...] = ()  # what says so
    advice: tuple[str, ...] = ()  # what can be done, a sentence or command each
    # explanations (`explain.explanation.Explanation`) of the sub-DAGs that it is about
    inner: tuple[Any, ...] = ()
    since: float = 0.0  # when that began, seconds since the epoch; 0.0 if nobody knows
    command: str = ""  # what does something about it, for a shell or a button; '' if nothing does
    # the command of steering that does the same, to these nodes if it is one for nodes
    button: str = ""
    says_all: bool = False  # whether the sentence has all that the evidence says
    awaited: str = ""  # what has to happen before that goes on, in words; '' if it goes on

    @property
    def brief(self) -> str:
        """In a few words that stay the same as time goes on."""
        why = next((f": {one.text}" for one in self.evidence if one.text), "")
        return f"{CAUSES[self.cause]}{why}"

    def to_json(self) -> dict[str, Any]:
        """As an object for JSON."""
        return {
            "cause": self.cause,
            "weight": self.weight.name.lower(),
            "sentence": self.sentence,
            "nodes": list(self.nodes),
            "evidence": [each.to_json() for each in self.evidence],
            "advice": list(self.advice),
            "inner": [each.to_json() for each in self.inner],
        }


def in_order(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """The most important first; of one cause, the one that is about most nodes."""
    return tuple(
        sorted(notices, key=lambda each: (each.weight, _ORDER[each.cause], -len(each.nodes)))
    )
