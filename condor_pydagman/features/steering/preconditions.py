"""What a person may ask of a node in which state, and how a command is written into the nodes log.

No state of the run is needed here: `run` asks, journals and applies.
"""

from __future__ import annotations

from condor_pydagman.engine.node_states import ENDED, NOT_BEGUN, State, shown
from condor_pydagman.features.steering.steer_commands import RETRY, NodeCommand
from condor_pydagman.named_tuple import NamedTuple

BEGUN = "begun"  # of CANCEL, in the log: something of the node's run had begun

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
        if state in ENDED:
            return shown(state)
        jobs_only = options == RETRY and state != State.SUBMITTED
        return f"it has no jobs in the queue: {shown(state)}" if jobs_only else ""
    if command is NodeCommand.RERUN:
        return _obstacle_to_rerun(state)
    if command is NodeCommand.SET:
        return "" if state in NOT_BEGUN or state in ENDED else f"it has started: {shown(state)}"
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
