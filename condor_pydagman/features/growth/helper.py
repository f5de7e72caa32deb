"""Reads what nodes and people add to the DAG, has it checked and kept, and gives it to the engine.

One piece at a time, a step of some milliseconds in a pass of the loop: log events, signals and
other requests get their turn in between.
"""

from __future__ import annotations

import os.path
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from condor_pydagman.daemon.dag_input import build_options
from condor_pydagman.daemon.helpers import Foreseen
from condor_pydagman.errors import FileError
from condor_pydagman.feature_table import part, wanted_by
from condor_pydagman.features.feeder.commands import feeder_of
from condor_pydagman.features.growth import untrusted
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.adapters.kept_pieces import KeptPieces, read_whole
from condor_pydagman.features.growth.commands import (
    Extend,
    Extension,
    Feeding,
    Piece,
    Scatter,
    growth_of,
)
from condor_pydagman.features.growth.piece import PieceText, Texts, read_piece, scattered, text_of
from condor_pydagman.features.growth.run import PieceRead, PieceRefused, ReadOffer, ReadPiece
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import MB

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.model import Dag
    from condor_pydagman.names import DagPaths

STEP_S = 0.02  # seconds of work before the loop has its turn
RETRY_S = 5.0  # seconds between two tries to keep what a node adds, while the disk is full or so


class _Order(NamedTuple):
    """A piece to be read."""

    node: int  # that adds it; -1 if a person does
    text: str | None  # its text, if it is not to be read from a file
    name: str  # of its first file
    tell: Callable[[Piece | None, str], None]  # is given the piece, or why there is none
    dry: bool = False  # it is not to be kept
    feeding: Feeding | None = None  # if the FEEDER has given it

    @property
    def is_of_dag(self) -> bool:
        """Whether no person waits: while it can't be kept, it waits itself."""
        return self.node >= 0 or self.feeding is not None


class GrowthHelper:
    """What is to be added to the DAG of a run; see `helpers.InSteps`."""

    def __init__(
        self,
        run: DagRun,
        pieces: KeptPieces,
        options: BuildOptions,
    ) -> None:
        self._run = run
        self._pieces = pieces
        self._options = options
        self._orders: deque[_Order] = deque()
        self._order: _Order | None = None  # that is being read
        self._steps: Steps[None] | None = None
        self._changes = 0  # of the DAG, when reading began
        self._failed: list[_Order] = []  # what could not be kept, to be tried again
        self._retry_at = 0.0
        self._told = ""  # why, as it was last said
        self._known: untrusted.Named | None = None

    def next_deadline(self) -> float | None:
        """See `helpers.InSteps`."""
        if self._busy:
            return 0.0
        return self._retry_at if self._failed else None

    @property
    def _busy(self) -> bool:
        waits = self._run.engine.feature("growth").is_growing
        return self._steps is not None or (bool(self._orders) and not waits)

    def ask(self, request: ReadPiece | ReadOffer, then: Callable[[Any], None]) -> None:
        """Read what a node or a person adds; `then` is given the reply later."""
        if isinstance(request, ReadPiece):
            node = request.node
            name = growth_of(self._run.dag).extensions[node].file
            self._orders.append(_Order(node, None, name, lambda *read: then(_reply(node, *read))))
        else:
            name, text, dry = request
            self._orders.append(_Order(-1, text, name, lambda *read: then(read), dry))

    def kill_programs(self) -> None:
        """See `helpers.InSteps`: there are none."""

    def read_feeding(
        self, feeding: Feeding, text: str, tell: Callable[[Piece | None, str], None]
    ) -> None:
        """Read what a FEEDER has written; the piece is told, or why there is none."""
        feeder = feeder_of(self._run.dag)
        assert feeder is not None
        name = os.path.join(feeder.where, f"<feeding {feeding.number}>")
        self._orders.append(_Order(-1, text, name, tell, feeding=feeding))

    def work(self, now: float) -> None:
        """See `helpers.InSteps`."""
        if self._failed and now >= self._retry_at:
            self._orders.extend(self._failed)
            self._failed.clear()
        until = now + STEP_S
        while self._busy and self._run.clock.monotonic() < until:
            if self._order is not None and self._changes != self._run.dag.changes:
                self._orders.appendleft(self._order)  # what has been found may hold no more
                self._steps = None
            if self._steps is None:
                self._order = self._orders.popleft()
                self._changes = self._run.dag.changes
                self._steps = self._read(self._order)
            try:
                next(self._steps)
            except StopIteration:
                self._order = self._steps = None
                return  # the engine is to know of it before the next one is read

    def _read(self, order: _Order) -> Steps[None]:
        try:
            piece = yield from self._piece(order)
        except DagFileErrors as errors:
            order.tell(None, errors.only_of(order.name).detail())
        except FileError as error:
            if error.transient and order.is_of_dag:
                self._try_later(order, str(error))
            else:
                order.tell(None, f"ERROR: {error}")
        except OSError as error:
            order.tell(None, f"ERROR: can't read {order.name}: {error.strerror or error}")
        else:
            order.tell(piece, "")

    def _try_later(self, order: _Order, why: str) -> None:
        """The jobs of the node are done: they are not to run again since a disk is full."""
        if why != self._told:
            self._run.out.say(f"{why}; what is added to the DAG waits until it can be kept")
            self._told = why
        self._failed.append(order)
        self._retry_at = self._run.clock.monotonic() + RETRY_S

    def _piece(self, order: _Order) -> Steps[Piece]:
        run = self._run
        most = run.config.max_piece_mb * MB
        extensions = growth_of(run.dag).extensions
        how = Extend(0, "", order.name) if order.node < 0 else extensions[order.node]
        known = {}
        if order.text is not None:
            known[how.file] = order.text
        elif isinstance(how, Scatter):
            known[how.file] = scattered(how, read_whole(how.file, most))
        texts = Texts(read_whole, known, most)
        yield
        text = self._text(order, how, texts)
        named = self._named(text)
        growth = run.engine.feature("growth")
        piece = yield from read_piece(run.dag, text, growth.has_begun, named=named)
        why = yield from run.helpers.obstacle(piece.dag)
        for name in wanted_by(piece.dag):
            part(name, "run")
        why = why or growth.obstacle(piece)
        if why:
            raise FileError(why)
        yield
        if order.dry:
            return piece
        return (yield from self._pieces.keep(piece, text))

    def _text(self, order: _Order, how: Extension, texts: Texts) -> PieceText:
        dag, growth, node = self._run.dag, self._run.engine.feature("growth"), order.node
        options, feeder = self._options, feeder_of(dag)
        if order.feeding is not None and feeder is not None:
            text = PieceText(how.file, texts, options, feeder.directory, feeder.prefix)
            return text._replace(feeding=order.feeding, join=dag.next_join)
        if node < 0:
            return PieceText(how.file, texts, options, join=dag.next_join)
        return text_of(dag, node, texts, options, growth.has_begun, dag.next_join)

    def _named(self, text: PieceText) -> untrusted.Named | None:
        """The submit descriptions that the piece may name; None for all."""
        if not text.untrusted:
            self._known = None  # it may name more
        elif self._known is None:
            self._known = untrusted.Named(self._run.dag)
        return self._known


def _reply(node: int, piece: Piece | None, error: str) -> PieceRead | PieceRefused:
    return PieceRefused(node, error) if piece is None else PieceRead(node, piece)


def open_helper(helpers: Helpers) -> GrowthHelper:
    """The helper of a DAG to which something is added."""
    run = helpers.run
    return GrowthHelper(run, helpers.given["growth"], build_options(run.options, run.config))


def given(dag: Dag, paths: DagPaths) -> KeptPieces:
    """What is added to the DAG, or has been by an earlier DAGMan, by digest."""
    return kept_pieces.of(dag, paths)


def foresee(dag: Dag, config: Config, how: BuildOptions, *, checks_only: bool = False) -> Foreseen:
    """What would be added."""
    outlook = part("growth", "adapters.outlook")
    found, feeder = outlook.outlook(dag, how, config.max_piece_mb * MB), feeder_of(dag)
    fields = {
        "growth": [one._asdict() for one in found],
        "feeder": feeder.program if feeder is not None else "",
    }
    return Foreseen(list(outlook.told(dag, found)), fields, goes_on=feeder is not None)
