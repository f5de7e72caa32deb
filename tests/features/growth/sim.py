"""What is added to a simulated DAG while it runs: by nodes, and by people.

Texts outlive a DAGMan, as in the file beside a DAG.  O45: each request of a person is answered at
most once.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.growth.commands import (
    Extend,
    GrowthOfDag,
    Piece,
    add_piece,
    growth_of,
)
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import (
    HELPER,
    PieceOffered,
    PieceRead,
    PieceRefused,
    ReadPiece,
)
from condor_pydagman.graph.build import BuildOptions, DagFileErrors
from condor_pydagman.graph.joins import joins
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import ORDINARY_KINDS
from tests.oracles import require
from tests.pieces import Pieces, piece_of
from tests.sim.parts import Part

if TYPE_CHECKING:
    from tests.sim.fake_jobs import Cluster
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

MAX_DELAY_S = 20.0  # seconds that reading a piece may take
MAX_NODES = 60  # of a DAG that grows


def _grows(world: World) -> bool:
    return world.trace_text().count("The DAG has grown by") >= 3


class FakeGrowth:
    """What a simulated DAGMan does about pieces of nodes."""

    def __init__(self, process: Process) -> None:
        self._growers = Growers.of(process.world)
        self._process = process

    def ask(self, request: ReadPiece, then: Callable[[Any], None]) -> None:
        delay, node = self._growers.rng.uniform(0.0, MAX_DELAY_S), request.node
        self._process.world.after(delay, lambda: self._answer(node))

    def _answer(self, node: int) -> None:
        process, world = self._process, self._process.world
        if world.process is not process:
            return
        dag, name = process.dag, process.dag.names[node]
        retry = process.engine.run.nodes.retries.get(node, 0)
        era = 0 if "cached" in world.kinds else world.era  # what is the same again may be cached
        rng = Random(f"{world.seed} {era} piece {name} {retry}")
        told: PieceRead | PieceRefused
        if rng.random() < 0.2 and retry < 5:
            told = PieceRefused(node, "it is wrong")
        else:
            between = growth_of(dag).extensions[node].between
            text = self._growers.text(dag, rng, name, between)
            if process.engine.run.nodes.total > MAX_NODES:
                text = text._replace(texts={"p": ""})
            piece = self._growers.read(process, text)
            told = PieceRefused(node, piece) if isinstance(piece, str) else PieceRead(node, piece)
        process.add_input(inputs.Answered(HELPER, told))


class Growers(Part):
    """All that is added.

    Attributes:
        texts: of pieces, by digest.
    """

    kind = "growing"
    meaning = "nodes and people add to the DAG"
    place = 6
    crashed: ClassVar = ((3, _grows), (4, _grows))
    helpers: ClassVar = {"growth": FakeGrowth}
    undoes = True
    at_once = ("GROWN",)

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.rng = rng = Random(f"grow {world.seed}")
        self._rate = rng.random() ** 2 * 0.5
        self.texts: dict[str, PieceText] = {}
        self._asked = 0
        self._unanswered: set[int] = set()
        if self.is_on:
            world.every(30.0, self._add)

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        for node in range(len(dag)):
            if dag.kinds[node] in ORDINARY_KINDS and rng.random() < 0.4:
                GrowthOfDag.put(dag).extensions[node] = Extend(
                    0, "", "p", between=rng.random() < 0.7
                )

    def given(self, dag: Dag) -> Mapping[str, Piece]:
        return Pieces(dag, self.texts)

    def keep(self, piece: Piece, text: PieceText) -> Piece:
        """Its text is on the disk."""
        digest = hashlib.sha256(repr(text).encode()).hexdigest()[:32]
        self.texts[digest] = text
        return piece._replace(digest=digest)

    def text(self, dag: Dag, rng: Random, node: str = "", between: bool = False) -> PieceText:
        """Some nodes, with names that are mostly new, and edges that are mostly right."""
        known = [name for node, name in enumerate(dag.names) if dag.kinds[node] in ORDINARY_KINDS]
        number = rng.randrange(10**6)
        names = [f"G{number}n{place}" for place in range(rng.choice((0, 1, 1, 2, 3)))]
        if known and rng.random() < 0.05:
            names.append(rng.choice(known))
        lines = [f"JOB {name} n.sub" + " DONE" * (rng.random() < 0.1) for name in names]
        parents: dict[str, list[str]] = {}
        for child in names:
            if rng.random() < 0.5:
                parent = rng.choice([*known, *names])
                lines.append(f"PARENT {parent} CHILD {child}")
                parents.setdefault(child, []).append(parent)
            if rng.random() < 0.3:
                lines.append(f"PARENT {child} CHILD {rng.choice([*known, *names])}")
            if rng.random() < 0.3:
                lines.append(f"RETRY {child} {rng.randint(1, 3)}")
            if rng.random() < 0.2:
                lines.append(f"EXTEND {child} p")
            if rng.random() < 0.2:
                lines.append(f"CATEGORY {child} a")
        if len(names) > 1 and len(known) > 2 and rng.random() < 0.3:
            two = rng.sample(known, 2)
            lines.append(f"PARENT {' '.join(two)} CHILD {' '.join(names)}")
            for child in names:
                parents.setdefault(child, []).extend(two)
        lines += self._lines(names, parents, Random(f"decide {number}"))
        options = BuildOptions(use_join_nodes=rng.random() < 0.5)
        text = "".join(line + "\n" for line in lines)
        if not node:
            return PieceText("p", {"p": text}, options, join=dag.next_join)
        after = dict.fromkeys(dag.children(dag.ids[node])) if between else ()
        children = tuple(dag.names[child] for child in after)
        whole = PieceText("p", {"p": text}, options, "", "", node, children, between)
        return whole._replace(join=dag.next_join)

    def read(self, process: Process, text: PieceText) -> Piece | str:
        """The piece, kept; or why it can't be added."""
        growth = process.engine.feature("growth")
        try:
            begun = growth.has_begun
            children = tuple(n for n in text.children if not begun(process.dag.ids[n]))
            text = text._replace(children=children)
            piece = at_once(read_piece(process.dag, text, begun))
        except DagFileErrors as errors:
            return str(errors)
        why = growth.obstacle(piece)
        return why or self.keep(piece, text)

    def _add(self) -> None:
        """A person adds something."""
        world, rng = self.world, self.rng
        process = world.process
        if process is None or world.now >= world.faults.until or rng.random() >= self._rate:
            return
        if (
            process.engine.run.phase is not Phase.RUNNING
            or process.engine.run.nodes.total > MAX_NODES
        ):
            return
        piece = self.read(process, self.text(process.dag, rng))
        if isinstance(piece, Piece):
            self._asked += 1
            self._unanswered.add(self._asked)
            process.add_input(PieceOffered(self._asked, piece, "ann"))

    def _lines(
        self, names: Iterable[str], parents: Mapping[str, Collection[str]], rng: Random
    ) -> list[str]:
        """What other features say of these new nodes.  This is drawn apart from the rest of a
        piece, so that worlds of other kinds stay as they are."""
        lines: list[str] = []
        for name in names:
            mine: list[str] = []
            for part in self.world.parts:
                if part.is_on:
                    mine += part.lines(name, parents.get(name, ()), rng, mine)
            lines += mine
        return lines

    def answered(self, answer: do.Action) -> None:
        if not isinstance(answer, do.Grown):
            return
        require(answer.request in self._unanswered, f"O45: {answer.request} is answered twice")
        self._unanswered.discard(answer.request)

    # What is checked.

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        """A piece is in force."""
        if event.record != "GROWN":
            return
        dag, digest = truth.dag, event.text.partition(" ")[0]
        if any(piece.digest == digest for piece in growth_of(dag).pieces):
            return
        try:
            piece = piece_of(dag, self.texts[digest], digest)
        except DagFileErrors:
            if truth.unsure:  # a record of the same piece had been forgotten
                return
            raise
        children = [dag.names[child] for child in piece.children]
        truth.extra.update(children)  # PRE runs anew
        truth.begin_anew.update(children)
        for child in _behind_joins(dag, piece.children):
            for part in self.world.parts:
                part.got_parent(dag.names[child])
        growth = add_piece(dag, piece, event.value)
        truth.done.update(dag.names[node] for node in growth.nodes if dag.flags[node] & DONE)
        if piece.node:
            truth.done.add(piece.node)

    def is_incomplete(self, truth: Truth, name: str, *, ran: bool) -> bool:
        """What it adds to the DAG is still to be in force."""
        growth = growth_of(truth.dag)
        adds = truth.dag.ids[name] in growth.extensions
        return adds and not any(piece.node == name for piece in growth.pieces)


def _behind_joins(dag: Dag, nodes: Iterable[int]) -> list[int]:
    """These, and children of those among them that only join PARENT lines."""
    found = list(nodes)
    for node in found:  # which grows meanwhile
        if joins(dag, node):
            found += dag.children(node)
    return found


PART = Growers
