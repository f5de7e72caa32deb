"""A Dag that is written as a DAG file and built again."""

from __future__ import annotations

from typing import Any

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.cache.commands import CachedOfDag, cached_of
from condor_pydagman.features.sites.commands import GroupsOfDag
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import JOIN, Dag, FeatureData

OPTIONS = BuildOptions(allow_any_node_name_characters=True, use_join_nodes=False)

# What the text of a Dag can't say, or says in other words (compared below), or is of `finish`.
_NOT_COMPARED = {
    *("files", "places", "priority", "splices", "warnings", "remarks"),
    *("edges", "features", "flags", "variables"),
}
_COMPARED = [name for name in vars(Dag()) if name not in _NOT_COMPARED and not name.startswith("_")]


def rebuilt(dag: Dag) -> Dag:
    """The Dag of the lines of `dag`; ValueError if it can't be written."""
    text = "\n".join(dag_lines(dag)) + "\n"
    return build(["x.dag"], lambda file: text, OPTIONS)


def differences(dag: Dag, other: Dag) -> list[str]:
    """In what two Dags differ that should be the same."""
    pairs: list[tuple[str, Any, Any]] = [
        (name, getattr(dag, name), getattr(other, name)) for name in _COMPARED
    ]
    pairs.append(("variables", dict(dag.variables), dict(other.variables)))
    pairs.append(("features", _features(dag), _features(other)))
    pairs.append(("flags", _flags(dag), _flags(other)))
    pairs.append(("edges", arrows(dag), arrows(other)))
    return [f"{name}: {one!r} became {two!r}" for name, one, two in pairs if one != two]


def arrows(dag: Dag) -> list[Any]:
    """All edges, weak or not, in their order; parents in theirs."""
    vertices = list(dag.vertices())
    down = [[(head, dag.is_weak(tail, head)) for head in dag.successors(tail)] for tail in vertices]
    return [down, [list(dag.parents(node)) for node in range(len(dag))]]


def _flags(dag: Dag) -> list[int]:
    return [flag & ~JOIN for flag in dag.flags]


def _features(dag: Dag) -> list[Any]:
    """CACHE lines with ALL_NODES are written as lines of the nodes for which they are."""
    others = (data for data in dag.all_features() if not isinstance(data, CachedOfDag))
    found = list(map(_feature, others))
    return [*found, {node: one._replace(named=True) for node, one in cached_of(dag).items()}]


def _feature(data: FeatureData) -> Any:
    """A node that cleans up is named as it is in its splice; its number is the same."""
    if not isinstance(data, GroupsOfDag):
        return data
    return [group._replace(policy=group.policy._replace(clean_up="")) for group in data.site_groups]
