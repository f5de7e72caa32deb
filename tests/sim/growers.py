"""What is added to a simulated DAG while it runs: by nodes, and by people.

Texts outlive a DAGMan, as in the file beside a DAG.  O45: each request of a person is answered at
most once.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.features.growth.graph import Extension, GrowthOfDag, Piece, growth_of
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.requests import (
    HELPER,
    PieceOffered,
    PieceRead,
    PieceRefused,
    ReadPiece,
)
from condor_pydagman.graph.build import BuildOptions, DagFileErrors
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import ORDINARY_KINDS
from tests.pieces import Pieces
from tests.sim.grown_lines import decision_lines
from tests.sim.verdicts import require

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

MAX_DELAY_S = 20.0  # seconds that reading a piece may take
MAX_NODES = 60  # of a DAG that grows


def add_extensions(dag: Dag, rng: Random) -> None:
    """Let some nodes add to the DAG."""
    for node in range(len(dag)):
        if dag.kinds[node] in ORDINARY_KINDS and rng.random() < 0.4:
            GrowthOfDag.put(dag).extensions[node] = Extension("p", between=rng.random() < 0.7)


class Growers:
    """All that is added.

    Attributes:
        texts: of pieces, by digest.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.rng = rng = Random(f"grow {world.seed}")
        self._rate = rng.random() ** 2 * 0.5
        self.texts: dict[str, PieceText] = {}
        self._asked = 0
        self._unanswered: set[int] = set()
        if world.kinds.growing:
            world.every(30.0, self._add)

    def pieces(self, dag: Dag) -> Mapping[str, Piece]:
        """The kept pieces, for a DAG."""
        return Pieces(dag, self.texts)

    def keep(self, piece: Piece, text: PieceText) -> Piece:
        """Its text is on the disk."""
        digest = hashlib.sha256(repr(text).encode()).hexdigest()[:32]
        self.texts[digest] = text
        return piece._replace(digest=digest)

    def text(self, dag: Dag, rng: Random, node: str = "", between: bool = False) -> PieceText:
        """Some nodes, with names that are mostly new, and edges that are mostly right."""
        known = [name for node, name in dag.named() if dag.kinds[node] in ORDINARY_KINDS]
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
        kinds = self._world.kinds
        lines += decision_lines(names, parents, Random(f"decide {number}"), kinds)
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
        known = self._world.oracles.truth.names
        used = [name for name in piece.dag.names[: piece.size] if name in known]
        if used:  # names tell nodes apart in what is checked
            return f"{used} have been let go"
        why = growth.obstacle(piece)
        return why or self.keep(piece, text)

    def _add(self) -> None:
        """A person adds something."""
        world, rng = self._world, self.rng
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

    def answered(self, answer: do.Grown) -> None:
        """DAGMan has answered a person."""
        require(answer.request in self._unanswered, f"O45: {answer.request} is answered twice")
        self._unanswered.discard(answer.request)


class FakeGrowth:
    """What a simulated DAGMan does about pieces of nodes."""

    def __init__(self, process: Process) -> None:
        self._growers = process.world.growers
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
        era = 0 if world.kinds.cached else world.era  # what is the same again may be cached
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
