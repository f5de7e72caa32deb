"""What shapes of boxes and dashes of lines mean: for the legends of pictures and of the page."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture.shapes import kind_outline
from condor_pydagman.picture.sketch import Edge, Sketch
from condor_pydagman.vocabulary import NodeKind

WIDE, HIGH = 18.0, 12.0  # of a mark's outline
KINDS = {
    NodeKind.SUBDAG: "SUBDAG: a DAG of its own",
    NodeKind.PROVISIONER: "PROVISIONER: runs first",
    NodeKind.SERVICE: "SERVICE: runs beside the others",
    NodeKind.FINAL: "FINAL: runs last, whatever happens",
    NodeKind.DATA: "DATA: moves data",
}


class Mark(NamedTuple):
    """An entry of the legend: of a kind of node its `outline`, of a kind of edge its `look`."""

    words: str
    outline: str = ""
    look: str = ""


def marks(sketch: Sketch) -> Iterator[Mark]:
    """Those of what is there and is not plain."""
    kinds = {box.kind for box in sketch.boxes}
    for kind, words in KINDS.items():
        if kind in kinds:
            yield Mark(words, outline=kind_outline(kind, WIDE, HIGH))
    edges = {line.kind for line in sketch.lines}
    for edge in Edge:
        if edge.look and edge in edges:
            yield Mark(edge.value, look=edge.look)
