"""How a DAG grows while it runs: by a piece that a node adds when it has ended well, or a person.

A piece is read, checked and kept by content outside of the engine; what is in it is in force when
the record that names it has been read back from the nodes log, live and in recovery mode alike.
Until then nothing new is started and the DAG does not end, so what was checked still holds.

A node whose piece can't be added fails, and its retries apply; the DAG stays as it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import Feature, begin_features
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import ALONE, NOT_BEGUN, Cause, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.errors import FileError
from condor_pydagman.features.common import rerun
from condor_pydagman.features.growth.commands import Piece, add_piece, growth_of
from condor_pydagman.graph.grow import Growth
from condor_pydagman.graph.joins import joins
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import EXIT_RESTART, FEEDING, LAST, NO_NODE, RETURN_GROWTH_FAILED

HELPER = "growth"

_UNTRIED = NOT_BEGUN - {State.RETRY_WAIT} | {State.FUTILE}


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


class PieceOffered(NamedTuple):
    """A person adds a piece, whose text is kept.  Answered by `actions.Grown`."""

    request: int
    piece: Piece
    by: str


PIECE = Kind("piece of the DAG", holds=True)  # by its number
STARTS = 2000  # nodes that are started at once; log events are handled in between


class Growing(Feature):
    """What is added to a DAG."""

    name = "growth"
    # value: number of a piece; text: its digest, of the FEEDER: FEEDING 7 [LAST]
    records = (("GROWN", "on_grown"),)
    # text: why what the node adds to the DAG is refused
    attempt_records = (("GROWTH_FAILED", "on_growth_failed"),)
    inputs = ((PieceOffered, "on_offered"),)
    replies = ((PieceRead, "on_read"), (PieceRefused, "on_refused"))

    def __init__(self, run: RunState) -> None:
        """The DAG may have pieces already, as a rescue file says."""
        super().__init__(run)
        # nodes that have ended well and add a piece; whether that has been asked for
        self.wanting: dict[int, bool] = {}
        self.requests: dict[int, int] = {}  # number of a person's request, by that of its piece
        self.grown_by: set[str] = set()  # names of nodes whose piece is in force
        # nodes that wait for no parent and have not been started yet
        self.free: deque[int] = deque()
        self._highest = 0  # number of a piece that is in force
        for piece in growth_of(run.dag).pieces:
            self._take(piece.number, piece.node)

    def _take(self, number: int, node: str) -> None:
        """A piece is in force, which `node` has added, or a person if that is ''."""
        self._highest = max(self._highest, number)
        if node:
            self.grown_by.add(node)

    # A piece is asked for, and comes.

    def before_ended(self, node: int, error: str) -> bool:
        """Whether what it adds to the DAG is still to be read."""
        run = self.run
        if error or node not in growth_of(run.dag).extensions or run.mode is Mode.DRY_RUN:
            return False
        if run.dag.names[node] in self.grown_by or run.nodes.states[node] == State.GROWING:
            return False
        run.nodes.move(node, Cause.ADDS_NODES, run.now)
        self.wanting[node] = False
        return True

    def work(self) -> None:
        """Have pieces read, and new nodes that wait for no parent started: some at a time."""
        if self.wanting and not self.run.is_over:
            for node in [node for node, asked in self.wanting.items() if not asked]:
                self.wanting[node] = True
                self.run.emit(do.Ask(HELPER, ReadPiece(node)))
        if self.free:
            some = [self.free.popleft() for _ in range(min(len(self.free), STARTS))]
            waiting = self.run.nodes.waiting
            lifecycle.start_all(self.run, [node for node in some if not waiting[node]])

    def deadline(self) -> float | None:
        """Now, if there are nodes to start."""
        return self.run.now if self.free else None

    def under_way(self, halted: bool) -> bool:
        """Whether new nodes have not been started."""
        return bool(self.free)

    def has_begun(self, node: int) -> bool:
        """Whether a node can't get another parent any more."""
        found = map(self.run.nodes.states.__getitem__, (node, *self._decided((node,))))
        return any(state not in _UNTRIED for state in found)

    def _decided(self, children: Iterable[int]) -> list[int]:
        """Of nodes that get further parents, those whose turn is decided by more than that; also
        the children of a node that only joins a PARENT line, which stands for its parents."""
        gated, dag = self.run.nodes.gated.parents, self.run.dag
        found: dict[int, None] = {}
        todo = list(children) if gated else []
        for child in todo:  # which grows meanwhile
            if child in gated:
                found[child] = None
            elif joins(dag, child):
                todo += dag.children(child)
        return list(found)

    def obstacle(self, piece: Piece) -> str:
        """Why a piece can't be added now; '' if it can."""
        run = self.run
        if run.phase is not Phase.RUNNING or run.is_over or run.end.rescue_asked:
            return "the DAG is ending" if run.is_over else "DAGMan is recovering: ask again"
        most = run.config.max_grown_nodes
        nodes = len(run.dag) + piece.size
        if most and nodes > most:
            return (
                f"the DAG would have {nodes:,} nodes, more than the {most:,} of"
                " PYDAGMAN_MAX_GROWN_NODES: another DAG can go on, see docs/growth.md"
            )
        feeder = run.features.get("feeder") if piece.feeding is not None else None
        why = feeder.obstacle(piece) if feeder is not None else ""
        if why:
            return str(why)
        names, known = piece.dag.names[: piece.size], run.dag.ids.keys()
        if not known.isdisjoint(names):
            name = next(name for name in names if name in known)
            return f"there is a node {name} already"
        bundles = run.features.get("bundle")
        for node in piece.children:
            if self.has_begun(node):
                return f"node {run.dag.names[node]} has begun: it can't get another parent"
            why = bundles.obstacle_to_steer(node) if bundles is not None else ""
            if why:
                return f"node {run.dag.names[node]} can't get another parent now: {why}"
        return ""

    @property
    def is_growing(self) -> bool:
        """Whether a piece is about to be in force: one that is read now would be outdated."""
        return bool(self.run.written.of(PIECE))

    def is_outdated(self, piece: Piece) -> bool:
        """Whether the DAG has grown, or is about to, since the piece was checked; or whether it is
        just being decided whether one of the children is to run."""
        run = self.run
        children = {*piece.children, *self._decided(piece.children)}
        decided = any(deciding(child) for deciding in run.hooks.is_deciding for child in children)
        return decided or self.is_growing or piece.base != run.dag.changes

    def on_read(self, read: PieceRead) -> None:
        """The piece of a node is read and kept."""
        if self.wanting.get(read.node) is None or self.run.is_over:
            return
        if self.is_outdated(read.piece):
            self.wanting[read.node] = False
            return
        why = self.obstacle(read.piece)
        if why:
            self.on_refused(PieceRefused(read.node, why))
        else:
            self.journal(read.node, read.piece)

    def on_offered(self, offered: PieceOffered) -> None:
        """A person adds a piece."""
        why = self.obstacle(offered.piece)
        if not why and self.is_outdated(offered.piece):
            why = "the DAG has grown meanwhile: ask again"
        if why:
            self.run.emit(do.Grown(offered.request, 0, why))
            return
        self.run.say(f"{offered.by} adds {number_of(offered.piece.size, 'node')} to the DAG")
        self.requests[self.journal(NO_NODE, offered.piece)] = offered.request

    def on_refused(self, refused: PieceRefused) -> None:
        """The piece of a node can't be added."""
        run, node = self.run, refused.node
        if self.wanting.get(node) is None or run.is_over:
            return
        run.say(f"ERROR: what node {run.dag.names[node]} adds to the DAG is refused:", 0)
        for line in refused.error.split("\n"):
            run.say(f"  {line}", 0)
        retry = run.nodes.retries.get(node, 0)
        text = refused.error.split("\n")[0]
        record = do.AppendJournalRecord("GROWTH_FAILED", node, retry, 0, text=text)
        run.journal(node, record)

    def journal(self, node: int, piece: Piece) -> int:
        """Write that the piece is in force, which counts when it has been read back; returns its
        number."""
        run = self.run
        number: int = max((self._highest, *run.written.of(PIECE))) + 1
        text = piece.digest
        if piece.feeding is not None:
            feeder = run.features.get("feeder")
            last = piece.feeding.last or (feeder is not None and piece.size == feeder.room)
            text += f" {FEEDING} {piece.feeding.number}{f' {LAST}' * last}"
        retry = run.nodes.retries.get(node, 0)
        record = do.AppendJournalRecord("GROWN", node, retry, number, text=text)
        run.write(PIECE, number, record)
        return number

    # The records have been read.

    def on_grown(self, node: int, event: LogEvent) -> None:
        """The piece is in force.  Who only follows the log can do without its nodes."""
        run, number = self.run, event.value
        run.written.drop(PIECE, number)
        if number <= self._highest:
            return  # its record was written twice
        piece: Piece | None = None
        try:
            piece = run.given.get(self.name, {}).get(event.text.partition(" ")[0])
        except FileError as error:
            if run.mode is not Mode.FOLLOW:
                self._stop_without_piece(error)
                return
        self._take(number, run.dag.names[node] if event.node else "")
        if piece is not None:
            self._extend(piece, number)
            run.say(f"The DAG has grown by {number_of(piece.size, 'node')}, piece {number}")
            request = self.requests.pop(number, 0)
            if request:
                run.emit(do.Grown(request, piece.size, ""))
        if event.node and run.nodes.states[node] == State.GROWING:
            self.wanting.pop(node, None)
            self._set_free(lifecycle.end_well(run, node))

    def _extend(self, piece: Piece, number: int) -> None:
        """Add the piece to the DAG, and to all that is known of its nodes."""
        run = self.run
        decided = self._decided(piece.children)
        for child in dict.fromkeys((*piece.children, *decided)):
            rerun.wait_for_more(run, child)
        growth = add_piece(run.dag, piece, number)
        free = run.nodes.grow(growth)
        decided += growth.decided
        run.nodes.gated.grow(run.dag, decided, run.nodes.states)
        for grown in run.hooks.grown:
            grown(growth, decided)
        begin_features(run)
        if run.query.orphans:
            for node in growth.nodes:
                run.query.introduce(node, run.dag.names[node])
        run.categories.grow(run.dag.categories, growth.nodes)
        for node in growth.done:
            run.nodes.move(node, Cause.MARKED_DONE, run.now)
        for node in growth.done:
            free += run.nodes.release_children(node)
        if run.nodes.count_all(State.FAILED) or run.nodes.count_all(State.FUTILE):
            self._mark_futile(growth)
        self._set_free(free)

    def _mark_futile(self, growth: Growth) -> None:
        """Mark what stands behind nodes that have failed, or can't run."""
        nodes, now = self.run.nodes, self.run.now
        for node, successors, weak in growth.behind:
            state = nodes.states[node]
            if state == State.FUTILE:
                nodes.mark_futile_from(successors, now)
            elif state == State.FAILED and not nodes.marks[node] & ALONE:
                strong = [vertex for vertex, mark in zip(successors, weak) if not mark]
                nodes.mark_futile_from(strong, now)
        nodes.mark_unreachable(now)

    def _set_free(self, nodes: Sequence[int]) -> None:
        """Have nodes started; a replay must know at once, since the next events may be theirs."""
        if self.run.recovering:
            lifecycle.start_all(self.run, nodes)
        else:
            self.free.extend(nodes)

    def on_growth_failed(self, node: int, event: LogEvent) -> None:
        """The run of the node has failed, since what it adds is refused."""
        if self.run.nodes.states[node] == State.GROWING:
            self.wanting.pop(node, None)
            error = f"What it adds: {event.text}"
            lifecycle.fail_run(self.run, node, RETURN_GROWTH_FAILED, error)

    def _stop_without_piece(self, error: FileError) -> None:
        """Without a piece nobody knows what the DAG is: leave everything as it is, and put DAGMan's
        job on hold."""
        run = self.run
        reason = f"{error}, then release the DAGMan job. Nothing has been changed"
        run.say(f"ERROR: {reason}", 0)
        run.emit(do.KillScripts())
        run.emit(do.HoldJobs(0, 0, reason))
        run.emit(do.Exit(EXIT_RESTART, keep_lock=True, concluded=False))
        run.enter(Phase.ENDED)

    # What others see.

    def validate(self) -> None:
        """Nodes whose piece is to come are GROWING."""
        growing = set(self.run.nodes.in_state(State.GROWING))
        assert growing == set(self.wanting), (growing, self.wanting)
