"""What a person may ask of a node in which state, and how a command is written into the nodes log.

No state of the run is needed here: `steering` asks, journals and applies.
"""

from __future__ import annotations

from condor_pydagman.engine.node_states import NOT_BEGUN, State
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeCommand

RETRY = "retry"  # option of CANCEL
DESCENDANTS = "descendants"  # option of RERUN
BEGUN = "begun"  # of CANCEL, in the log: something of the node's run had begun

_ENDED = {
    State.DONE: "it is done",
    State.FAILED: "it failed",
    State.FUTILE: "one of its ancestors failed",
}
_MARKS = (NodeCommand.DONE, NodeCommand.SKIP)
_JOBS = (NodeCommand.HOLD, NodeCommand.RELEASE)


class Words(NamedTuple):
    """A command as the nodes log has it."""

    by: str
    command: NodeCommand
    options: str = ""


def record_text(words: Words) -> str:
    """The text of a record of a command."""
    return f"{words.by} {words.command.value} {words.options}".rstrip()


def read_text(text: str) -> Words | None:
    """Read it back; None if it is not known, of a later version for one."""
    by, _, rest = text.partition(" ")
    command, _, options = rest.partition(" ")
    try:
        return Words(by, NodeCommand(command), options)
    except ValueError:
        return None


def obstacle(command: NodeCommand, state: State, options: str) -> str:
    """Why a command does not fit a node in this state, in words; '' if it does."""
    if command in _JOBS:
        return "" if state == State.SUBMITTED else f"it has no jobs in the queue: {shown(state)}"
    if command is NodeCommand.REMATCH:
        return ""  # its group's state counts
    if command is NodeCommand.CANCEL:
        if state in _ENDED:
            return _ENDED[state]
        jobs_only = options == RETRY and state != State.SUBMITTED
        return f"it has no jobs in the queue: {shown(state)}" if jobs_only else ""
    if command is NodeCommand.RERUN:
        return _obstacle_to_rerun(state)
    if command is NodeCommand.SET:
        return "" if state in NOT_BEGUN or state in _ENDED else f"it has started: {shown(state)}"
    return _obstacle_to_mark(command, state)


def _obstacle_to_rerun(state: State) -> str:
    if state in (State.DONE, State.FAILED):
        return ""
    if state == State.FUTILE:
        return "one of its ancestors failed: run that one again"
    return f"it has not ended: {shown(state)}"


def _obstacle_to_mark(command: NodeCommand, state: State) -> str:
    assert command in _MARKS
    if state in NOT_BEGUN or (state == State.FAILED and command is NodeCommand.DONE):
        return ""
    if state == State.FAILED:
        return "it failed: mark it done, or run it again"
    if state == State.FUTILE:
        return "one of its ancestors failed: mark that one done, or run it again"
    if state == State.DONE:
        return "it is done already"
    return f"it has started: {shown(state)}; cancel it first"


_SHOWN = {
    State.WAITING: "it is waiting for other nodes",
    State.PRE_WAIT: "its PRE script is about to start",
    State.PRE_RUN: "its PRE script is running",
    State.PRE_UNCONFIRMED: "its PRE script has just ended",
    State.READY: "it is about to be submitted",
    State.SUBMITTING: "it is being submitted",
    State.UNKNOWN: "DAGMan is asking the schedd for its job",
    State.SUBMIT_UNCONFIRMED: "its submission has just failed",
    State.SUBMITTED: "its jobs are in the queue",
    State.POST_WAIT: "its POST script is about to start",
    State.POST_RUN: "its POST script is running",
    State.POST_UNCONFIRMED: "its POST script has just ended",
    State.RETRY_WAIT: "it is waiting for its next retry",
    State.RESULT: "DAGMan is reading the values that it publishes",
    State.GROWING: "DAGMan is reading the nodes that it adds",
}


def shown(state: State) -> str:
    """A state, for a person."""
    return _SHOWN.get(state) or _ENDED[state]
