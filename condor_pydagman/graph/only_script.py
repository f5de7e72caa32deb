"""The scripts of a node that has only one, as most have that have any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import ScriptKind


class OnlyScript(Mapping[ScriptKind, Script]):
    """The scripts of a node that has one, without options: a dictionary takes six times the memory
    of that.

    Args:
        kind: of the script.
        command: see `Script`.
    """

    __slots__ = ("_command", "_kind")

    def __init__(self, kind: ScriptKind, command: str) -> None:
        self._kind, self._command = kind, command

    def __getitem__(self, kind: ScriptKind) -> Script:
        if kind is not self._kind:
            raise KeyError(kind)
        return Script(self._command)

    def __iter__(self) -> Iterator[ScriptKind]:
        yield self._kind

    def __len__(self) -> int:
        return 1
