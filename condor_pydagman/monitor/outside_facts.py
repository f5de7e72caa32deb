"""What features know of DAGs that is not in their files.

The module `outside` of a feature may have:

- `watcher()`: its `Watcher`, for DAGs that are watched together.
- `asked(dag, primary)`: what an explanation asks DAGMan and others, see `asked_of_features`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional, Protocol

from condor_pydagman import feature_table
from condor_pydagman.graph.model import Dag


class Watcher(Protocol):
    """What a feature knows of DAGs that are looked at again and again."""

    def shown(self, dag: Dag | None, cluster: int, *, has_any: bool) -> Mapping[str, Any]:
        """Its fields of an Overview, by name.

        Args:
            dag: None if it is too large to be read.
            cluster: of its DAGMan job, or the number of its process.
            has_any: whether the DAG may have something outside of its files.
        """


class OutsideFacts(dict[str, Optional[Watcher]]):
    """Watchers by the names of features, for DAGs that are watched together; what is not there is
    made when a DAG needs it."""

    def __missing__(self, feature: str) -> Watcher | None:
        make = feature_table.own(feature, "outside", "watcher")
        self[feature] = make() if make is not None else None
        return self[feature]


def asked_of_features(dag: Dag, primary: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What features ask DAGMan and others of a DAG that runs, by their names; and sentences on what
    can't be found out.

    Args:
        dag: the graph.
        primary: path of its first DAG file.
    """
    known: dict[str, Any] = {}
    unknown: tuple[str, ...] = ()
    for ask in feature_table.told("outside", "asked", dag.features):
        found, problems = ask(dag, primary)
        known.update(found)
        unknown += problems
    return known, unknown
