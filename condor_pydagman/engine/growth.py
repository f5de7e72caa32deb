"""The DAG grows while it runs: by a piece that a node adds when it has ended well, or a person.

A piece is read, checked and kept by content outside of the engine; what is in it is in force when
the record that names it has been read back from the nodes log, live and in recovery mode alike.
Until then nothing new is started and the DAG does not end, so what was checked still holds.

A node whose piece can't be added fails, and its retries apply; the DAG stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, rerun
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import begin_features
from condor_pydagman.engine.growth_records import LET_GO, PIECE
from condor_pydagman.engine.inputs import LogEvent, PieceOffered
from condor_pydagman.engine.node_states import ALONE, NOT_BEGUN, Cause, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.graph.condition_commands import joins
from condor_pydagman.graph.grow import Growth
from condor_pydagman.graph.piece import Piece, add_piece
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import FEEDING, LAST, NO_NODE, RETURN_GROWTH_FAILED, JournalRecord

HELPER = "growth"
STARTS = 2000  # nodes that are started at once; log events are handled in between


class ReadPiece(NamedTuple):
    """Read what a node that has ended well adds to the DAG, and keep its text.

    Answered by PieceRead or PieceRefused.
    """

    node: int


class ReadOffer(NamedTuple):
    """Read what a person wants to add: `text`, or without one the file of that name.  Asked by who
    answers the person, and answered by the piece and what is wrong with it.

    `dry`: it is checked, and not kept.
    """

    name: str
    text: str | None
    dry: bool = False


class PieceRead(NamedTuple):
    """Answer to ReadPiece: the piece, whose text is kept."""

    node: int
    piece: Piece


class PieceRefused(NamedTuple):
    """Answer to ReadPiece: what the node adds to the DAG is wrong, or can't be read."""

    node: int
    error: str


# A piece is asked for, and comes.


def ask(run: RunState) -> None:
    """Have the pieces read of nodes that have ended well."""
    if run.is_over:
        return
    for node in [node for node, asked in run.growth.wanting.items() if not asked]:
        run.growth.asked(node)
        run.emit(do.Ask(HELPER, ReadPiece(node)))


def work(run: RunState) -> None:
    """Have pieces read, and new nodes started."""
    ask(run)
    if run.growth.free and not run.starts_nothing:
        start_free(run)


def has_begun(run: RunState, node: int) -> bool:
    """Whether a node can't get another parent any more."""
    return any(map(_is_begun, (run.nodes.states[one] for one in (node, *_decided(run, (node,))))))


def _is_begun(state: int) -> bool:
    return state != State.FUTILE and (state not in NOT_BEGUN or state == State.RETRY_WAIT)


def _decided(run: RunState, children: Iterable[int]) -> list[int]:
    """Of nodes that get further parents, those whose turn is decided by more than that; also the
    children of a node that only joins a PARENT line, which stands for its parents."""
    gated = run.nodes.turns.parents
    found: dict[int, None] = {}
    todo = list(children) if gated else []
    for child in todo:  # which grows meanwhile
        if child in gated:
            found[child] = None
        elif joins(run.dag, child):
            todo += run.dag.children(child)
    return list(found)


def obstacle(run: RunState, piece: Piece) -> str:
    """Why a piece can't be added now; '' if it can."""
    if run.phase is not Phase.RUNNING or run.is_over or run.end.rescue_asked:
        return "the DAG is ending" if run.is_over else "DAGMan is recovering: ask again"
    most = run.config.max_grown_nodes
    nodes = len(run.dag) - len(run.dag.free) + piece.size
    if most and nodes > most:
        return (
            f"the DAG would have {nodes:,} nodes, more than the {most:,} of"
            " PYDAGMAN_MAX_GROWN_NODES"
        )
    room = run.feeder.room
    if piece.feeding is not None and room is not None and piece.size > room:
        return (
            f"it has {piece.size:,} nodes, and the FEEDER may add {room:,} more: AT-MOST"
            f" {run.feeder.nodes + room:,}"
        )
    names, known = piece.dag.names[: piece.size], run.dag.ids.keys()
    if not known.isdisjoint(names):
        name = next(name for name in names if name in known)
        return f"there is a node {name} already"
    for node in piece.children:
        if has_begun(run, node):
            return f"node {run.dag.names[node]} has begun: it can't get another parent"
    return ""


def is_outdated(run: RunState, piece: Piece) -> bool:
    """Whether the DAG has grown, or is about to, since the piece was checked; or whether it is just
    being decided whether one of the children is to run."""
    children = {*piece.children, *_decided(run, piece.children)}
    decided = any(deciding(child) for deciding in run.hooks.is_deciding for child in children)
    decided = decided or bool(run.cache and any(map(run.cache.is_being_decided, piece.children)))
    changes = bool(run.written.of(PIECE) or run.written.of(LET_GO))
    return decided or changes or piece.base != run.dag.changes


def on_read(run: RunState, read: PieceRead) -> None:
    """The piece of a node is read and kept."""
    if run.growth.wanting.get(read.node) is None or run.is_over:
        return
    if is_outdated(run, read.piece):
        run.growth.want(read.node)
        return
    why = obstacle(run, read.piece)
    if why:
        on_refused(run, PieceRefused(read.node, why))
    else:
        journal(run, read.node, read.piece)


def on_offered(run: RunState, offered: PieceOffered) -> None:
    """A person adds a piece."""
    why = obstacle(run, offered.piece)
    if not why and is_outdated(run, offered.piece):
        why = "the DAG has grown meanwhile: ask again"
    if why:
        run.emit(do.Grown(offered.request, 0, why))
        return
    run.say(f"{offered.by} adds {number_of(offered.piece.size, 'node')} to the DAG")
    number = journal(run, NO_NODE, offered.piece)
    run.growth.ask(number, offered.request)


def on_refused(run: RunState, refused: PieceRefused) -> None:
    """The piece of a node can't be added."""
    node = refused.node
    if run.growth.wanting.get(node) is None or run.is_over:
        return
    run.say(f"ERROR: what node {run.dag.names[node]} adds to the DAG is refused:", 0)
    for line in refused.error.split("\n"):
        run.say(f"  {line}", 0)
    retry = run.nodes.retries.get(node, 0)
    text = refused.error.split("\n")[0]
    record = do.AppendJournalRecord(JournalRecord.GROWTH_FAILED, node, retry, 0, text=text)
    run.journal(node, record)


def journal(run: RunState, node: int, piece: Piece) -> int:
    """Write that the piece is in force, which counts when it has been read back; returns its
    number."""
    number, retry = run.growth.number(run.written.of(PIECE)), run.nodes.retries.get(node, 0)
    text = piece.digest
    if piece.feeding is not None:
        last = piece.feeding.last or piece.size == run.feeder.room
        text += f" {FEEDING} {piece.feeding.number}{f' {LAST}' * last}"
    record = do.AppendJournalRecord(JournalRecord.GROWN, node, retry, number, text=text)
    run.write(PIECE, number, record)
    return number


def next_time(run: RunState) -> float | None:
    """When there is something to be done."""
    if run.growth.free and not run.starts_nothing:
        return run.now
    return None


# The records have been read.


def on_grown(run: RunState, node: int, event: LogEvent) -> None:
    """The piece is in force."""
    number = event.value
    run.written.drop(PIECE, number)
    if run.growth.was_in_force(number):
        return  # its record was written twice
    digest = event.text.partition(" ")[0]
    piece = run.growth.pieces.get(digest)
    if piece is None:
        _end_without_piece(run, number, digest)
        return
    run.growth.take(number, piece.node)
    growth = _extend(run, piece, number)
    run.feeder.take(run.dag.pieces[-1])
    run.say(f"The DAG has grown by {number_of(len(growth.nodes), 'node')}, piece {number}")
    if piece.node and run.nodes.states[node] == State.GROWING:
        run.growth.over(node)
        _set_free(run, lifecycle.end_well(run, node))
    request = run.growth.answered(number)
    if request:
        run.emit(do.Grown(request, len(growth.nodes), ""))


def _extend(run: RunState, piece: Piece, number: int) -> Growth:
    """Add the piece to the DAG, and to all that is known of its nodes."""
    decided = _decided(run, piece.children)
    for child in dict.fromkeys((*piece.children, *decided)):
        rerun.wait_for_more(run, child)
    growth = add_piece(run.dag, piece, number)
    run.growth.grow_by(piece.size)
    run.cache.sums_changed()
    free = run.nodes.grow(growth)
    run.shared.grow(run.dag, growth.nodes)
    run.queue_by_class()
    run.note_extras()
    decided += growth.decided
    run.nodes.turns.grow(run.dag, decided, run.nodes.states)
    for grown in run.hooks.grown:
        grown(growth, decided)
    begin_features(run)
    if run.query.strangers:
        for node in growth.nodes:
            run.query.introduce(node, run.dag.names[node])
    run.categories.grow(run.dag.categories, growth.nodes)
    for node in growth.done:
        run.nodes.move(node, Cause.MARKED_DONE, run.now)
    for node in growth.done:
        free += run.nodes.release_children(node)
    if run.nodes.count_all(State.FAILED) or run.nodes.count_all(State.FUTILE):
        _mark_futile(run, growth)
    _set_free(run, free)
    return growth


def _mark_futile(run: RunState, growth: Growth) -> None:
    """Mark what stands behind nodes that have failed, or can't run."""
    for node, successors, weak in growth.behind:
        state = run.nodes.states[node]
        if state == State.FUTILE:
            run.nodes.mark_futile_from(successors, run.now)
        elif state == State.FAILED and not run.nodes.marks[node] & ALONE:
            strong = [vertex for vertex, mark in zip(successors, weak) if not mark]
            run.nodes.mark_futile_from(strong, run.now)
    run.nodes.mark_hopeless(run.now)


def _set_free(run: RunState, nodes: list[int]) -> None:
    """Have nodes started; a replay must know at once, since the next events may be theirs."""
    if run.recovering:
        lifecycle.start_all(run, nodes)
    else:
        run.growth.set_free(nodes)


def start_free(run: RunState) -> None:
    """Start new nodes that wait for no parent: some at a time."""
    free = run.growth.free
    some = [free.popleft() for _ in range(min(len(free), STARTS))]
    lifecycle.start_all(run, [node for node in some if not run.nodes.waiting[node]])


def on_growth_failed(run: RunState, node: int, event: LogEvent) -> None:
    """The run of the node has failed, since what it adds is refused."""
    if run.nodes.states[node] != State.GROWING:
        return
    run.growth.over(node)
    lifecycle.fail_run(run, node, RETURN_GROWTH_FAILED, f"What it adds: {event.text}")


def _end_without_piece(run: RunState, number: int, digest: str) -> None:
    """Without the text of a piece nobody knows what the DAG is: leave everything as it is."""
    run.say(
        f"ERROR: piece {number} of the DAG is missing or damaged: the file {run.dag.files[0]}.grown"
        f" has no text with the digest {digest}. Put it back, and release DAGMan's job or submit"
        " the DAG again",
        0,
    )
    run.emit(do.KillScripts())
    run.emit(do.Exit(1, keep_lock=True, concluded=False))
    run.enter(Phase.ENDED)


REPLIES: dict[type, Any] = {PieceRead: on_read, PieceRefused: on_refused}
