"""Node states: which there are, which moves are legal, and what the outside world calls them.

Rule 1: `Nodes.move()` (nodes.py) is the single writer of a node's state.
Rule 2: a move that is not in TABLE raises IllegalMove, with the node's recent moves.
Rule 3: throttles, files and the schedd have no part in it.

    WAITING --parents ended--+--> PRE_WAIT -> PRE_RUN -> PRE_UNCONFIRMED --+
       |                     |        ^                              |
       |                     +--------|--> READY <-------------------+
       |                              |      |  ^
       |                          retry      v  | not taken
       |                              |  SUBMITTING -> UNKNOWN (reply lost; the schedd is asked)
       |                              |      |            |
       |                              |      v            v
       |                 RETRY_WAIT <-+-- SUBMITTED <-----+
       |                              |      |
       |                              +-- POST_WAIT -> POST_RUN -> POST_UNCONFIRMED
       |                              |                               |
       |                              +------- RESULT, if it publishes anything
       |                              +------- GROWING, if it adds to the DAG
       |                              |                               |
       +--an ancestor failed--> FUTILE    FAILED <--------------------+--> DONE

An *unconfirmed* state waits for our own event in the nodes log: what DAGMan itself decided counts
only when it has been read back from there.  Replaying an old log skips the states that only live
running has (…_RUN, …_UNCONFIRMED, SUBMITTING), so most moves out of them are legal from the waiting
state too.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from condor_pydagman.vocabulary import NodeStatus


class State(IntEnum):
    """Where a node is in its life.  Finer than `NodeStatus`, see PUBLISHED."""

    WAITING = 0  # some parent has not ended, or nothing is started any more
    PRE_WAIT = 1  # PRE script to be started
    PRE_RUN = 2  # PRE script runs
    PRE_UNCONFIRMED = 3  # PRE script ended; waiting to read that in the nodes log
    READY = 4  # in the ready queue
    SUBMITTING = 5  # handed to the schedd, no answer yet
    UNKNOWN = 6  # the schedd's answer was lost
    SUBMIT_UNCONFIRMED = 7  # can't be submitted; waiting to read that in the nodes log
    SUBMITTED = 8  # its jobs are in the queue
    POST_WAIT = 9  # POST script to be started
    POST_RUN = 10  # POST script runs
    POST_UNCONFIRMED = 11  # POST script ended; waiting to read that in the nodes log
    RETRY_WAIT = 12  # to be retried when its RETRY DELAY has passed
    DONE = 13  # ended well
    FAILED = 14  # ended badly
    FUTILE = 15  # an ancestor failed
    RESULT = 16  # ended well; what it publishes (PUBLISH) is not known yet
    GROWING = 17  # ended well; what it adds to the DAG is being read


# Marks of a node, beside its state: what features have decided of it, and others go by.
SKIPPED = 1  # it is done without having run
LEADS = 2  # so are children of which all parents have this mark
NOT_NEEDED = 4  # it is done without having ended well: others have
UNWANTED = 8  # it is not to be started any more, and a failure of it does not count
STOPPED = 16  # what of it is in the queue is to be removed, and fails whatever is tolerated
CLEANING = 32  # it runs out of its turn, to clean up: as if it were not unwanted
CANCELLED = 64  # its present run is to fail, whatever becomes of it
ALONE = 128  # it has failed, and that makes no other futile


class Cause(IntEnum):
    """Why a node moves."""

    MARKED_DONE = 0  # the DAG file or a rescue file says DONE
    NEEDS_PRE = 1  # its parents ended or it is retried, and it has a PRE script
    NEEDS_SUBMIT = 2  # nothing stands before its submission (any more)
    SCRIPT_STARTED = 3
    SCRIPT_DEFERRED = 4  # DEFER: the script is to run again later
    SCRIPT_ENDED = 5
    SUBMIT_STARTED = 6
    REPLY_LOST = 7
    SUBMIT_REFUSED = 8
    JOBS_SEEN = 9  # the log, a reply or the queue shows its jobs
    NEEDS_POST = 10
    SUCCEEDED = 11
    FAILED = 12
    ANCESTOR_FAILED = 13
    RETRY_LATER = 14  # this run failed; the next one starts after a delay
    DROPPED = 15  # nothing but the FINAL node is started any more; or a parent is to run anew
    RUN_AGAIN = 16  # a person wants it to run anew
    FREED = 17  # no ancestor of it has failed any more
    NEEDS_RESULT = 18  # what it publishes is to be read
    ADDS_NODES = 19  # this run ended well, and adds to the DAG
    NOT_NEEDED = 20  # an ENOUGH is reached: it counts as done, however far it has come


class Anew(Enum):
    """Why the next run of a node begins, or is to begin once more."""

    RETRY = "its run has failed"
    RUN = "what it has come to counts no more: it is to run as if it never had"
    WAITS = "nothing of it has begun, and it waits for parents again"
    BY_PERSON = "it had ended, and a person has it run again, or a node before it; after RUN"


_S, _C = State, Cause

TABLE: dict[tuple[State, Cause], State] = {
    (_S.WAITING, _C.MARKED_DONE): _S.DONE,
    (_S.WAITING, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.WAITING, _C.NEEDS_SUBMIT): _S.READY,
    (_S.WAITING, _C.ANCESTOR_FAILED): _S.FUTILE,
    # a person's commands
    (_S.WAITING, _C.FAILED): _S.FAILED,
    (_S.RETRY_WAIT, _C.FAILED): _S.FAILED,
    (_S.PRE_WAIT, _C.MARKED_DONE): _S.DONE,
    (_S.READY, _C.MARKED_DONE): _S.DONE,
    (_S.RETRY_WAIT, _C.MARKED_DONE): _S.DONE,
    (_S.FAILED, _C.MARKED_DONE): _S.DONE,
    (_S.FUTILE, _C.MARKED_DONE): _S.DONE,
    (_S.PRE_WAIT, _C.DROPPED): _S.WAITING,
    (_S.RETRY_WAIT, _C.DROPPED): _S.WAITING,
    (_S.DONE, _C.RUN_AGAIN): _S.WAITING,
    (_S.FAILED, _C.RUN_AGAIN): _S.WAITING,
    (_S.FUTILE, _C.FREED): _S.WAITING,
    # PRE script
    (_S.PRE_WAIT, _C.SCRIPT_STARTED): _S.PRE_RUN,
    (_S.PRE_RUN, _C.SCRIPT_DEFERRED): _S.PRE_WAIT,
    (_S.PRE_RUN, _C.SCRIPT_ENDED): _S.PRE_UNCONFIRMED,
    (_S.PRE_UNCONFIRMED, _C.NEEDS_SUBMIT): _S.READY,
    (_S.PRE_UNCONFIRMED, _C.NEEDS_POST): _S.POST_WAIT,
    (_S.PRE_UNCONFIRMED, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.PRE_UNCONFIRMED, _C.SUCCEEDED): _S.DONE,
    (_S.PRE_UNCONFIRMED, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.PRE_UNCONFIRMED, _C.FAILED): _S.FAILED,
    # the same read from an old log, and a log without a record of the PRE script (stock DAGMan's)
    (_S.PRE_WAIT, _C.NEEDS_SUBMIT): _S.READY,
    (_S.PRE_WAIT, _C.NEEDS_POST): _S.POST_WAIT,
    (_S.PRE_WAIT, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.PRE_WAIT, _C.SUCCEEDED): _S.DONE,
    (_S.PRE_WAIT, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.PRE_WAIT, _C.FAILED): _S.FAILED,
    (_S.PRE_WAIT, _C.JOBS_SEEN): _S.SUBMITTED,
    # submission
    (_S.READY, _C.SUBMIT_STARTED): _S.SUBMITTING,
    (_S.READY, _C.DROPPED): _S.WAITING,
    (_S.SUBMITTING, _C.NEEDS_SUBMIT): _S.READY,
    (_S.SUBMITTING, _C.REPLY_LOST): _S.UNKNOWN,
    (_S.SUBMITTING, _C.SUBMIT_REFUSED): _S.SUBMIT_UNCONFIRMED,
    (_S.SUBMITTING, _C.JOBS_SEEN): _S.SUBMITTED,
    (_S.UNKNOWN, _C.NEEDS_SUBMIT): _S.READY,
    (_S.UNKNOWN, _C.SUBMIT_REFUSED): _S.SUBMIT_UNCONFIRMED,
    (_S.UNKNOWN, _C.JOBS_SEEN): _S.SUBMITTED,
    (_S.SUBMIT_UNCONFIRMED, _C.NEEDS_POST): _S.POST_WAIT,
    (_S.SUBMIT_UNCONFIRMED, _C.FAILED): _S.FAILED,
    # the same read from an old log, or from the schedd's queue
    (_S.READY, _C.JOBS_SEEN): _S.SUBMITTED,
    (_S.READY, _C.NEEDS_POST): _S.POST_WAIT,
    (_S.READY, _C.FAILED): _S.FAILED,
    # it was in a job that is not its own, and has jobs in the log after all
    (_S.SUBMITTED, _C.JOBS_SEEN): _S.SUBMITTED,
    # the jobs ended
    (_S.SUBMITTED, _C.NEEDS_POST): _S.POST_WAIT,
    (_S.SUBMITTED, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.SUBMITTED, _C.NEEDS_SUBMIT): _S.READY,
    (_S.SUBMITTED, _C.SUCCEEDED): _S.DONE,
    (_S.SUBMITTED, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.SUBMITTED, _C.FAILED): _S.FAILED,
    # POST script
    (_S.POST_WAIT, _C.SCRIPT_STARTED): _S.POST_RUN,
    (_S.POST_RUN, _C.SCRIPT_DEFERRED): _S.POST_WAIT,
    (_S.POST_RUN, _C.SCRIPT_ENDED): _S.POST_UNCONFIRMED,
    (_S.POST_UNCONFIRMED, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.POST_UNCONFIRMED, _C.NEEDS_SUBMIT): _S.READY,
    (_S.POST_UNCONFIRMED, _C.SUCCEEDED): _S.DONE,
    (_S.POST_UNCONFIRMED, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.POST_UNCONFIRMED, _C.FAILED): _S.FAILED,
    # the same read from an old log
    (_S.POST_WAIT, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.POST_WAIT, _C.NEEDS_SUBMIT): _S.READY,
    (_S.POST_WAIT, _C.SUCCEEDED): _S.DONE,
    (_S.POST_WAIT, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.POST_WAIT, _C.FAILED): _S.FAILED,
    # what it publishes
    (_S.PRE_WAIT, _C.NEEDS_RESULT): _S.RESULT,
    (_S.PRE_UNCONFIRMED, _C.NEEDS_RESULT): _S.RESULT,
    (_S.SUBMITTED, _C.NEEDS_RESULT): _S.RESULT,
    (_S.POST_WAIT, _C.NEEDS_RESULT): _S.RESULT,
    (_S.POST_UNCONFIRMED, _C.NEEDS_RESULT): _S.RESULT,
    (_S.RESULT, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.RESULT, _C.NEEDS_SUBMIT): _S.READY,
    (_S.RESULT, _C.SUCCEEDED): _S.DONE,
    (_S.RESULT, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.RESULT, _C.FAILED): _S.FAILED,
    # a node that adds to the DAG
    (_S.PRE_UNCONFIRMED, _C.ADDS_NODES): _S.GROWING,
    (_S.PRE_WAIT, _C.ADDS_NODES): _S.GROWING,
    (_S.SUBMITTED, _C.ADDS_NODES): _S.GROWING,
    (_S.POST_UNCONFIRMED, _C.ADDS_NODES): _S.GROWING,
    (_S.POST_WAIT, _C.ADDS_NODES): _S.GROWING,
    (_S.GROWING, _C.SUCCEEDED): _S.DONE,
    (_S.GROWING, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.GROWING, _C.NEEDS_SUBMIT): _S.READY,
    (_S.GROWING, _C.RETRY_LATER): _S.RETRY_WAIT,
    (_S.GROWING, _C.FAILED): _S.FAILED,
    (_S.RESULT, _C.ADDS_NODES): _S.GROWING,
    # the delay before a retry has passed
    (_S.RETRY_WAIT, _C.NEEDS_PRE): _S.PRE_WAIT,
    (_S.RETRY_WAIT, _C.NEEDS_SUBMIT): _S.READY,
}
# What may fail may also be found not to be needed, and so may what has failed or can't run.
TABLE.update({(old, _C.NOT_NEEDED): _S.DONE for old, cause in list(TABLE) if cause == _C.FAILED})
TABLE[_S.FAILED, _C.NOT_NEEDED] = TABLE[_S.FUTILE, _C.NOT_NEEDED] = _S.DONE

PUBLISHED: dict[int, NodeStatus] = {
    _S.WAITING: NodeStatus.NOT_READY,
    _S.PRE_WAIT: NodeStatus.PRERUN,
    _S.PRE_RUN: NodeStatus.PRERUN,
    _S.PRE_UNCONFIRMED: NodeStatus.PRERUN,
    _S.READY: NodeStatus.READY,
    _S.SUBMITTING: NodeStatus.READY,
    _S.UNKNOWN: NodeStatus.READY,
    _S.SUBMIT_UNCONFIRMED: NodeStatus.READY,
    _S.SUBMITTED: NodeStatus.SUBMITTED,
    _S.POST_WAIT: NodeStatus.POSTRUN,
    _S.POST_RUN: NodeStatus.POSTRUN,
    _S.POST_UNCONFIRMED: NodeStatus.POSTRUN,
    _S.RETRY_WAIT: NodeStatus.READY,
    _S.GROWING: NodeStatus.POSTRUN,
    _S.DONE: NodeStatus.DONE,
    _S.FAILED: NodeStatus.ERROR,
    _S.FUTILE: NodeStatus.FUTILE,
    _S.RESULT: NodeStatus.POSTRUN,
}

# When the run is over no answer is waited for: the schedd may have the jobs, and what can't be
# submitted has failed.  Stock DAGMan waits for each submission, and has no such states.
PUBLISHED_AT_THE_END: dict[int, NodeStatus] = {
    **PUBLISHED,
    _S.SUBMITTING: NodeStatus.SUBMITTED,
    _S.UNKNOWN: NodeStatus.SUBMITTED,
    _S.SUBMIT_UNCONFIRMED: NodeStatus.ERROR,
}

ENDED = frozenset((_S.DONE, _S.FAILED, _S.FUTILE))

# Nodes that hold a place under -MaxJobs and under their category's limit.
IN_QUEUE = frozenset((_S.SUBMITTING, _S.UNKNOWN, _S.SUBMITTED))

# A script of the node runs, or its end has not been read back yet.
IN_SCRIPT = frozenset(
    (_S.PRE_RUN, _S.PRE_UNCONFIRMED, _S.POST_WAIT, _S.POST_RUN, _S.POST_UNCONFIRMED),
)

# Nothing of the node's present run has begun.
NOT_BEGUN = frozenset((_S.WAITING, _S.PRE_WAIT, _S.READY, _S.RETRY_WAIT))

# States that a node leaves only when a script or a submission is started for it.
NEEDS_A_START = frozenset((_S.WAITING, _S.PRE_WAIT, _S.READY, _S.RETRY_WAIT))

_SHOWN = {
    State.DONE: "it is done",
    State.FAILED: "it failed",
    State.FUTILE: "one of its ancestors failed",
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
    return _SHOWN[state]
