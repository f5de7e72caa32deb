"""What the checker finds in BUNDLE lines."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence

from condor_pydagman.errors import FileError
from condor_pydagman.features.bundle.commands import Bundle, bundle_lines_of, line_of_nodes
from condor_pydagman.features.bundle.one_bundle import why_alone
from condor_pydagman.features.bundle.tasks import (
    NO_FILE,
    CannotBundle,
    Description,
    Node,
    before_and_after,
    described,
    packable,
)
from condor_pydagman.features.shared_limits.commands import limit_uses_of
from condor_pydagman.features.timeout.commands import timeouts_of
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.node_sets import CATEGORY
from condor_pydagman.lint.findings import FileKind, Findings, World
from condor_pydagman.lint.first_nodes import FirstNodes
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import NodeKind


def check(dag: Dag, findings: Findings) -> None:
    """Look for lines that mean no node."""
    for one in bundle_lines_of(dag):
        if one.of.is_of_unused_category(dag):
            category = one.of.category
            message = f"no node is in category {category}, so BUNDLE {one.name} has no effect"
            findings.add("DAG207", message, words=("BUNDLE", category))


def check_around(dag: Dag, world: World, findings: Findings, options: BuildOptions) -> None:
    """Tell which nodes run alone, and why; once for a reason."""
    alone: dict[str, list[int]] = {}
    for node, why in _alone(dag, world):
        alone.setdefault(why, []).append(node)
    for why, nodes in alone.items():
        name = dag.names[nodes[0]]
        others = f" and {number_of(len(nodes) - 1, 'other node')}" if len(nodes) > 1 else ""
        message = f"node {name}{others} can't be bundled: {why}"
        findings.add("DAG423", message, place=dag.place(nodes[0]), node=name)


def _alone(dag: Dag, world: World) -> Iterator[tuple[int, str]]:
    known: dict[str, Description] = {}
    nodes = line_of_nodes(dag, range(len(dag)))
    limited = {
        node for use in limit_uses_of(dag) for node in use.of.among(dag, nodes, (NodeKind.JOB,))
    }
    timeouts, firsts = timeouts_of(dag), FirstNodes(dag)
    for node in nodes:
        why = why_alone(dag, node, has_limit=node in limited, timeout=timeouts.get(node))
        if why:
            yield node, why
            continue
        try:
            description = _described(dag, node, world, known)
        except (OSError, FileError):
            continue  # which is told elsewhere
        directory = world.absolute(dag.directories.get(node, "") or ".")
        vars_of = before_and_after(dag.variables.get(node, ()))
        try:
            _, task = packable(description, Node(dag.names[node], 0, directory, *vars_of))
        except CannotBundle as error:
            yield node, str(error)
            continue
        for path in task.sources if firsts.job_is_first(node) else ():
            if world.kind(path) is FileKind.MISSING:
                yield node, f"{NO_FILE}: {path}"
                break


def _described(dag: Dag, node: int, world: World, known: dict[str, Description]) -> Description:
    name = dag.submits[node]
    text = dag.descriptions.get(name)
    path = name if text is not None else os.path.join(dag.directories.get(node, ""), name)
    if path not in known:
        known[path] = described(world.read_text(path) if text is None else text)
    return known[path]


def is_about(command: Bundle, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """As of BRAKE's; a word is a bundle, or the full name of a category."""
    names = command.names if command.members == CATEGORY else ()
    return words[0] in (command.name, *(prefix + name for prefix in prefixes for name in names))
