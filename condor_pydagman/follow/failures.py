"""Why nodes have failed, by their last attempts: the one answer that all who show a DAG give."""

from __future__ import annotations

import signal

from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeKind
from condor_pydagman.words import result

# Reasons of removals by DAGMan, or with it by the schedd.
_END_OF_DAG = ("DAG Abort:", "DAG Removed:", "removed because <OtherJobRemoveRequirements")
PUT_OFF = "asked to be put off"  # what a script has done too often, or for too long


class Failure(NamedTuple):
    """Why a node has failed."""

    node: NodeRun  # what has happened to it
    cause: str  # one of `notice.ALL_CAUSES`
    value: int = 0  # exit code of its jobs or script, negative for a signal; 0 if there is none
    # in words, of jobs that can't be submitted or were removed, or what a script could not do;
    # who has cancelled the node; why DAGMan takes it as failed though its jobs have not; which
    # script was killed since the DAG was to end
    reason: str = ""

    @property
    def brief(self) -> tuple[int | None, str]:
        """Exit code or negative signal, None if it has none or that does not matter; and what that
        is of, or why the node has failed, in words."""
        if self.cause == "node.cancelled":
            return None, f"cancelled by {self.reason}"
        if self.cause in ("node.pre", "node.post"):
            script = f"{self.cause[5:].upper()} script"
            return (None, f"{script} {self.reason}") if self.reason else (self.value, script)
        if self.cause == "node.stopped" and self.value:
            return None, f"{self.reason} killed when the DAG ended"
        if self.cause in ("node.removed", "node.stopped"):
            return RETURN_JOB_ABORTED, self.reason
        return self.value or None, self.reason


def failure_of(node: NodeRun, run: Run, dag: Dag | None = None) -> Failure:
    """Why a node has failed; without the DAG a sub-DAG is a job."""
    if node.cancelled_by:
        return Failure(node, "node.cancelled", reason=node.cancelled_by)
    attempt = node.attempts[-1] if node.attempts else Attempt(0)
    killed = run.killed_script(node)
    if killed:
        return Failure(node, "node.stopped", -signal.SIGKILL, f"{killed} script")
    for kind, script in ("POST", attempt.post), ("PRE", attempt.pre):
        if script is not None and script.value and not (kind == "PRE" and attempt.procs):
            reason = node.why.partition(f"{kind} script {PUT_OFF} ")[2]
            reason = f"{PUT_OFF} {reason}" if reason else ""
            if node.name in run.unstarted:
                reason = f"could not be started: {run.unstarted[node.name]}"
            return Failure(node, f"node.{kind.lower()}", script.value, reason)
    if not attempt.procs and attempt.reason:
        return Failure(node, "node.submit", reason=attempt.reason)
    if attempt.value == RETURN_JOB_ABORTED:
        is_stopped = attempt.reason.startswith(_END_OF_DAG)
        cause = "node.stopped" if is_stopped else "node.removed"
        return Failure(node, cause, reason=attempt.reason)
    if not (attempt.procs and attempt.value):  # what it publishes or adds is refused, or its RUN_IF
        return Failure(node, "node.failed", reason=node.why)
    if is_of_kind(node, dag, NodeKind.SUBDAG):
        return Failure(node, "node.subdag", attempt.value)
    reason = attempt.reason if attempt.is_part else ""  # of others it is of other jobs
    return Failure(node, "node.exit" if attempt.value > 0 else "node.signal", attempt.value, reason)


def how_failed(node: NodeRun, run: Run) -> str:
    """The same in a few words: `exit code 3`."""
    return result(*failure_of(node, run).brief)


def is_of_kind(node: NodeRun, dag: Dag | None, kind: NodeKind) -> bool:
    """Whether a node is of that kind; False if that is not known."""
    number = dag.find(node.name) if dag is not None else None
    return number is not None and dag is not None and dag.kinds[number] == kind
