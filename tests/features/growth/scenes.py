"""A DAG that grows, in scenes: by its nodes, by a FEEDER, by a person."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine import actions as do
from condor_pydagman.features.feeder.run import Fed, RunFeeder
from condor_pydagman.features.growth.commands import Feeding, Piece
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.growth.run import PieceOffered, PieceRead, PieceRefused, ReadPiece
from condor_pydagman.graph.building import BuildOptions
from tests import make
from tests.pieces import Pieces, piece_of
from tests.scenes import reading
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage, answers
from tests.scenes.words import Words, in_words


class Grown:
    """What is added; by name of a node, what it adds; the `last` piece."""

    last: Piece

    def __init__(self) -> None:
        self.by_node: dict[str, str] = {}
        self.texts: dict[str, PieceText] = {}
        self.offers = 0

    def piece(self, stage: Stage, text: str, **more: object) -> Piece:
        """What is in the brackets, or nothing, as a piece whose text is kept."""
        of_dag = make.dag_file(reading._dag(text[1:-1].split("; "))) if text else ""
        digest = f"d{len(self.texts) + 1}"
        given = PieceText("p", {"p": of_dag}, BuildOptions())._replace(**more)
        found = piece_of(stage.harness.dag, given, digest)
        self.texts[digest] = given
        self.last = found
        run = stage.harness.engine.run
        run.given = {**run.given, "growth": Pieces(stage.harness.dag, self.texts)}
        return found


@phrase("(ann adds|the feeder gives) the same again")
def _again(stage: Stage, who: str) -> Told:
    """The last piece, though it does not fit any more."""
    last = stage.part(Grown).last
    if who == "ann adds":
        yield PieceOffered(0, last, "ann")
    else:
        number = _asked(stage)
        yield Fed(number, last._replace(feeding=Feeding(number)))


@phrase(r"ann adds (\(.+\))")
def _offers(stage: Stage, text: str) -> Told:
    grown = stage.part(Grown)
    grown.offers += 1
    yield PieceOffered(grown.offers, grown.piece(stage, text), "ann")


@phrase(r"<node> adds (\(.+\))")
def _adds(stage: Stage, node: str, text: str) -> None:
    """When it has ended well, between itself and its children."""
    stage.part(Grown).by_node[node] = text


@answers(ReadPiece)
def _read(stage: Stage, request: ReadPiece) -> Iterable[PieceRead | PieceRefused]:
    dag, grown = stage.harness.dag, stage.part(Grown)
    node = dag.names[request.node]
    if node not in grown.by_node:
        yield PieceRefused(request.node, "ERROR: it is wrong\n  at length")
        return
    below = tuple(dag.names[child] for child in dag.children(request.node))
    place = {"node": node, "children": below, "between": True}
    yield PieceRead(request.node, grown.piece(stage, grown.by_node[node], **place))


@phrase(r"the feeder gives( \(.+\))?( and ends)?")
def _gives(stage: Stage, text: str, ends: str) -> Told:
    """What it was asked for last; without a piece, `nothing` now."""
    number = _asked(stage)
    feeding = Feeding(number, bool(ends))
    yield Fed(number, stage.part(Grown).piece(stage, text.strip(), feeding=feeding))


@phrase("the feeder (has nothing now|fails: <text>)")
def _fails(stage: Stage, _: str, error: str) -> Told:
    yield Fed(_asked(stage), error=error)


def _asked(stage: Stage) -> int:
    return stage.harness.ever(RunFeeder)[-1].number


@in_words(ReadPiece)
def _read_piece(words: Words, request: ReadPiece) -> str:
    return f"read piece of {words.name(request.node)}"


@in_words(do.Grown)
def _told(_: Words, answer: do.Grown) -> str:
    return f"refused ({answer.error})" if answer.error else f"added {answer.nodes}"


@in_words(RunFeeder)
def _run_feeder(_: Words, request: RunFeeder) -> str:
    """In brackets its words, and how many nodes it may add."""
    room = dict(request.variables)["PYDAGMAN_ROOM_COUNT"]
    return f"run feeder {request.number} ({' '.join(request.words)}, room {room})"
