"""FEEDER: a program that is run when few nodes are left, and whose output is added to the DAG.

What it gives is a piece, in force when its record has been read back, as any other (`growth`).  The
number of a feeding counts those in force: what was not kept before a crash is asked for once more,
under the same number.  A program that fails is run again after a pause; when it has failed too
often, that is journaled: nothing more is fed, and the DAG goes on to its end, which is a failure.
"""

from __future__ import annotations

from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import growth
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feeder_records import FEEDER_FAILED
from condor_pydagman.engine.growth import HELPER
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.graph.piece import Piece
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message, number_of
from condor_pydagman.vocabulary import NO_NODE, JournalRecord

MAX_REASON = 300  # characters of why it has failed, that are kept
VARIABLE = "PYDAGMAN_"  # before the names of macros, in the environment of the program


class RunFeeder(NamedTuple):
    """Run the program of the FEEDER, and read and keep what it writes.  Answered by Fed.

    Attributes:
        number: of the feeding, from 1.
        words: the program and its arguments.
        variables: names and values for its environment.
    """

    number: int
    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


class Fed(NamedTuple):
    """Answer to RunFeeder: a piece, whose text is kept; or why there is none; neither if the
    program has nothing to add now."""

    number: int
    piece: Piece | None = None
    error: str = ""


def work(run: RunState) -> None:
    """Run the program, if it is to add to the DAG now."""
    feeder = run.feeder
    if not _may_run(run) or feeder.again_at > run.now:
        return
    assert feeder.feeder is not None
    feeder.begin()
    values = _values(run)
    words = tuple(
        values[word[1:].upper()] if word.startswith("$") else word
        for word in feeder.feeder.program.split()
    )
    left = number_of(run.open_nodes, "node")
    run.say(f"Running the FEEDER, feeding {feeder.fed + 1}, with {left} left")
    variables = tuple((VARIABLE + name, value) for name, value in values.items())
    run.emit(do.Ask(HELPER, RunFeeder(feeder.fed + 1, words, variables)))


def _may_run(run: RunState) -> bool:
    """Whether the program could be run but for its pause."""
    feeder = run.feeder
    if feeder.asked or run.written.of(FEEDER_FAILED) or feeder.feeder is None:
        return False
    if run.phase is not Phase.RUNNING or run.is_over or run.starts_nothing:
        return False
    return run.provisioner.ready and run.open_nodes < feeder.feeder.below


def _values(run: RunState) -> dict[str, str]:
    """Values of macros in the program's arguments; in its environment they are, too."""
    counts = run.nodes.counts
    return {
        "FEEDING": str(run.feeder.fed + 1),
        "FED_COUNT": str(run.feeder.nodes),
        "OPEN_COUNT": str(run.open_nodes),
        "NODE_COUNT": str(run.nodes.total),
        "DONE_COUNT": str(counts[State.DONE]),
        "QUEUED_COUNT": str(counts[State.SUBMITTED]),
        "FAILED_COUNT": str(counts[State.FAILED]),
        "FUTILE_COUNT": str(counts[State.FUTILE]),
        "DAG_STATUS": str(int(run.shown_status)),
        "DAGID": str(run.dag_id),
    }


def next_time(run: RunState) -> float | None:
    """When the program is to be run."""
    return run.feeder.again_at if _may_run(run) else None


def on_fed(run: RunState, fed: Fed) -> None:
    """The program has been run, and what it has written was read."""
    feeder = run.feeder
    feeder.answered()
    if run.is_over or fed.number != feeder.fed + 1 or not feeder:
        return
    if fed.error:
        _fail(run, fed.error)
    elif fed.piece is None:
        feeder.had_nothing(run.now)
    elif not growth.is_outdated(run, fed.piece):  # else the program is run once more, at once
        why = growth.obstacle(run, fed.piece)
        if why:
            _fail(run, why)
            return
        if fed.piece.size:
            feeder.did_well()
        else:
            feeder.had_nothing(run.now)
        growth.journal(run, NO_NODE, fed.piece)


def _fail(run: RunState, error: str) -> None:
    feeder = run.feeder
    assert feeder.feeder is not None
    first, *more = map(message, error.split("\n"))
    first = first[:MAX_REASON]
    feeder.did_fail(first, run.now)
    run.say(f"ERROR: the FEEDER has failed, feeding {feeder.fed + 1}: {first}", 0)
    for line in more:
        run.say(f"  {line}", 0)
    if feeder.failures <= feeder.feeder.retries:
        retry = f"retry {feeder.failures} of {feeder.feeder.retries}"
        run.say(f"It is run again in {feeder.again_at - run.now:.0f} s, {retry}")
        return
    text = f"feeding {feeder.fed + 1}: {first}"
    record = do.AppendJournalRecord(JournalRecord.FEEDER_FAILED, NO_NODE, 0, text=text)
    run.write(FEEDER_FAILED, 0, record)


def on_failed(run: RunState, _node: int, event: LogEvent) -> None:
    """It is asked no more."""
    run.written.clear(FEEDER_FAILED)
    if run.feeder:
        run.feeder.fail(event.text)
        run.say("ERROR: the FEEDER is run no more; the DAG goes on with the nodes that it has", 0)


REPLIES: dict[type, Any] = {Fed: on_fed}
