"""Events that can't be: doubled, too late, too early.  DAGMAN_ALLOW_EVENTS says what they lead to.

No such event can mislead the engine, which keeps a book of every proc; so our default is to say
what is wrong and to go on.  Whoever sets the knob gets stock DAGMan's strictness: a bad event that
is not allowed ends the DAG, with a rescue file.
"""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING

from condor_pydagman.engine import endings
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED
from condor_pydagman.vocabulary import EventKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

ALL = -1  # the knob's value that allows everything


class Bad(IntFlag):
    """What is wrong with an event: the bits of DAGMAN_ALLOW_EVENTS."""

    ALMOST_ANYTHING = 1  # but RUN_AFTER_END
    TERMINATED_AND_ABORTED = 2
    RUN_AFTER_END = 4
    GARBAGE = 8
    BEFORE_SUBMIT = 16
    TERMINATED_TWICE = 32
    DOUBLED = 64


_ENDS = (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED)


def refuse(engine: Engine, event: LogEvent, bad: Bad, what: str) -> None:
    """Say that an event is ignored, and end the DAG if it is not allowed."""
    allowed = engine.config.allow_events
    job = f"({event.cluster}.{event.proc}.{event.subproc})"
    text = f"BAD EVENT: job {job} {what}"
    mercy = Bad.ALMOST_ANYTHING if bad is not Bad.RUN_AFTER_END else Bad(0)
    if allowed == ALL or allowed & (bad | mercy):
        engine.say(f"{text}: ignoring it")
        return
    engine.say(f"ERROR: aborting DAG because of bad event ({text})", 0)
    endings.want(engine, endings.bad_event())


def refuse_if_strict(engine: Engine, event: LogEvent, bad: Bad, what: str) -> None:
    """As `refuse`, of an event that is not ignored where it is allowed: it says more than it is
    wrong."""
    allowed = engine.config.allow_events
    if allowed != ALL and not allowed & (bad | Bad.ALMOST_ANYTHING):
        refuse(engine, event, bad, what)


def second_end(engine: Engine, event: LogEvent, before: int | None) -> None:
    """A proc that has ended with `before` (None: aborted) ends once more."""
    aborted = event.kind == EventKind.JOB_ABORTED
    if aborted and before is None:
        bad = Bad.DOUBLED
    elif aborted or before is None:
        bad = Bad.TERMINATED_AND_ABORTED
    else:
        bad = Bad.TERMINATED_TWICE
    refuse(engine, event, bad, "ended, but it had ended before")


def on_stranger(engine: Engine, event: LogEvent) -> None:
    """An event of no cluster that is in the queue: one that has ended may not go on."""
    jobs = (engine.book.ended or {}).get(event.cluster)
    if jobs is None or not jobs.procs.get(event.proc, 0) & ENDED:
        return
    if event.kind in _ENDS:
        second_end(engine, event, jobs.codes.get(event.proc))
    elif event.kind == EventKind.EXECUTE:
        refuse(engine, event, Bad.RUN_AFTER_END, "runs, but it had ended before")
