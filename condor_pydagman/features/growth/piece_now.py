"""What an EXTEND or SCATTER would add if its node had ended well now: for those who look ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from condor_pydagman.features.growth import untrusted
from condor_pydagman.features.growth.commands import Piece, Scatter, growth_of
from condor_pydagman.features.growth.piece import PieceText, read_piece, scattered
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once

ReadText = Callable[[str], str]


class _Texts(Mapping[str, str]):
    """The files of a piece, each read when it is first named; the first is known."""

    def __init__(self, read: ReadText, known: dict[str, str]) -> None:
        self._read = read
        self._known = known

    def __getitem__(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


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
    children = dict.fromkeys(dag.children(node)) if how.between else {}
    whole = PieceText(
        how.file,
        _Texts(read, {how.file: text}),
        options,
        how.directory,
        how.prefix or "",
        dag.names[node],
        tuple(dag.names[child] for child in children),
        how.between,
        untrusted=not how.trusted,
    )
    named = untrusted.Named(dag) if whole.untrusted else None
    return at_once(read_piece(dag, whole, named=named))
