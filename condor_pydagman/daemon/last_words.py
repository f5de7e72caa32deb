"""Telling the schedd that the DAG has ended, before the lock file goes.

Killed behind that, DAGMan would begin the DAG anew: nothing else says that there is nothing left to
do.  So a schedd that does not hear is told again until it does, until it is gone (its successor's
DAGMan then finds the lock file, and in the nodes log how the DAG ended), or until somebody wants
DAGMan to leave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Union

from condor_pydagman.daemon.run import Run
from condor_pydagman.engine.inputs import Leave, Stop
from condor_pydagman.errors import PoolError

PAUSE_MAX = 30.0  # seconds between two tries
REFUSALS = 10  # tries of a schedd that gives us our job's ad and does not let us edit it

# Waits so many seconds for a signal that ends the wait.
Wait = Callable[[float], Union[Leave, Stop, None]]


class Heard(Enum):
    """What came of it."""

    YES = "the schedd knows"
    GONE = "the schedd that started us is gone"
    NEVER = "it lives, and does not let us say it: it will hear the exit code"
    LEAVE = "DAGMan is to leave and to come back (held, vacated)"
    REMOVED = "its job is being removed, and does not come back"


def tell(run: Run, end: Mapping[str, str], wait: Wait) -> Heard:
    """Tell the schedd of the end, that is set these attributes in DAGMan's own ad.

    Args:
        wait: see `Wait`; the pauses between tries grow up to PAUSE_MAX.
    """
    pause, refusals = 1.0, 0
    while not run.abandoned():
        if not end:  # an exit code with which the job comes back, to begin anew
            return Heard.YES
        try:
            run.schedd.publish(end, durable=True)
        except PoolError as error:
            reason = error.reason
        else:
            return Heard.YES
        refusals += _answers(run)
        if refusals >= REFUSALS:
            text = f"can't tell the schedd that the DAG has ended: {reason}"
            return _over(run, Heard.NEVER, f"Warning: {text}")
        run.out.say(
            f"Warning: can't tell the schedd that the DAG has ended ({reason});"
            f" next try in {pause:.0f} s",
            0,
        )
        run.out.flush()
        told = wait(pause)
        if isinstance(told, Leave):
            text = f"{told.reason}: leaving before the schedd knows that the DAG has ended"
            return _over(run, Heard.LEAVE, f"{text}; started again, DAGMan ends it as now")
        if told is not None:
            return _over(run, Heard.REMOVED, "The DAGMan job is removed, and the DAG has ended")
        pause = min(2 * pause, PAUSE_MAX)
    return Heard.GONE


def _answers(run: Run) -> bool:
    """Whether the schedd speaks with us at all."""
    try:
        run.schedd.own_ad()
    except PoolError:
        return False
    return True


def _over(run: Run, heard: Heard, text: str) -> Heard:
    run.out.say(text, 0)
    return heard
