"""What the features of a run begin with, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.features import part
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths


class Given(Mapping[str, Any]):
    """What `given(dag, paths)` of the module `helper` of a feature makes, by the feature's name.

    What nobody has asked for is not counted.
    """

    def __init__(self, dag: Dag, paths: DagPaths) -> None:
        self._of = dag, paths
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            make = getattr(part(name, "helper"), "given", None)
            if make is None:
                raise KeyError(name)
            self._made[name] = make(*self._of)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)
