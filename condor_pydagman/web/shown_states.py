"""The state of each node as the page shows it: a number, whose word is in LEGEND."""

from __future__ import annotations

from condor_pydagman.trace.run_history import NodeRun
from condor_pydagman.vocabulary import NodeStatus

# Words of `condor_pydagman watch`, and "retry" for a node that has failed and waits for its next
# attempt.  One byte tells the state of a node: its place here.
LEGEND = (
    "waiting",
    "ready",
    "pre",
    "idle",
    "running",
    "held",
    "post",
    "retry",
    "done",
    "failed",
    "futile",
)
WAITING, READY, PRE, IDLE, RUNNING, HELD, POST, RETRY, DONE, FAILED, FUTILE = range(len(LEGEND))

_SHOWN = {
    NodeStatus.NOT_READY: WAITING,
    NodeStatus.PRERUN: PRE,
    NodeStatus.POSTRUN: POST,
    NodeStatus.DONE: DONE,
    NodeStatus.ERROR: FAILED,
    NodeStatus.FUTILE: FUTILE,
}


def shown_state(node: NodeRun) -> int:
    """The state of a node."""
    if node.status is NodeStatus.SUBMITTED:
        attempt = node.attempts[-1] if node.attempts else None
        if attempt is None or attempt.running:
            return RUNNING
        return HELD if attempt.held else IDLE
    if node.status is NodeStatus.READY:
        return RETRY if node.attempts and node.attempts[-1].over else READY
    return _SHOWN[node.status]
