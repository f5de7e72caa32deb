"""What an EXTEND or SCATTER would add if its node had ended well now: for those who look ahead."""

from __future__ import annotations

from collections.abc import Callable

from condor_pydagman.features.growth import untrusted
from condor_pydagman.features.growth.commands import Piece, Scatter, growth_of
from condor_pydagman.features.growth.piece import Texts, read_piece, scattered, text_of
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once

ReadText = Callable[[str], str]


def read_now(dag: Dag, node: int, text: str, read: ReadText, options: BuildOptions) -> Piece:
    """The piece of a node whose file has this text; the Dag, which is finished, stays as it is.

    Args:
        read: gives the text of other files.

    Raises:
        DagFileErrors: it is refused.
        OSError, FileError: as `read`.
    """
    how = growth_of(dag).extensions[node]
    if isinstance(how, Scatter):
        text = scattered(how, text)
    texts = Texts(lambda path, _most: read(path), {how.file: text}, most=0)  # `read` has its own
    whole = text_of(dag, node, texts, options, lambda child: False, 0)
    named = untrusted.Named(dag) if whole.untrusted else None
    return at_once(read_piece(dag, whole, named=named))
