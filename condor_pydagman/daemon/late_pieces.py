"""The pieces that are kept beside a DAG; what reads them is loaded when one is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from condor_pydagman.features import part
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths


class LatePieces(Mapping[str, Any]):
    """By the digests of their texts."""

    def __init__(self, dag: Dag, paths: DagPaths) -> None:
        self._of = dag, paths

    @cached_property
    def kept(self) -> Any:
        """What keeps them."""
        return part("growth", "adapters.kept_pieces").of(*self._of)

    def __getitem__(self, digest: str) -> Any:
        return self.kept[digest]

    def __iter__(self) -> Iterator[str]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)
