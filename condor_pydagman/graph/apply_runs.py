"""Runs of simple lines, obeyed many at a time: what `apply` does with each of them, only faster.

Whatever is out of the ordinary (an unknown name, a second VARS for a node) is left to `apply`: a
function that returns False has done nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, repeat
from operator import lt

from condor_pydagman.dagfile.bulk import Run
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Retry, Script
from condor_pydagman.vocabulary import ScriptKind


class NotSimple(Exception):
    """A name is defined twice: start again, and obey the commands one by one."""


def define_jobs(building: Building, run: Run) -> None:
    """The JOB lines of a run.

    Raises:
        NotSimple: the Dag is spoilt.
    """
    scope, dag = building.scope, building.dag
    rows = run.rows("JOB")
    if not rows:
        return
    names: Sequence[str]
    names, submits = zip(*rows)
    names = _full(building, names)
    first = len(dag)
    if not dag.add_jobs(names, building.texts(submits), run.job_lines()):
        raise NotSimple
    if scope.splices and not scope.splices.keys().isdisjoint(names):
        raise NotSimple
    scope.add(first, len(names))
    if scope.directory:
        directory = building.text(scope.directory.rstrip("/") or "/")
        dag.directories.update(zip(range(first, first + len(names)), repeat(directory)))


def use(building: Building, run: Run, kind: str) -> bool:
    """The lines of another kind."""
    rows = run.rows(kind)
    if not rows:
        return True
    names, details = zip(*rows)
    try:
        nodes = list(map(building.dag.ids.__getitem__, _full(building, names)))
    except KeyError:
        return False
    return _FUNCTIONS[kind](building, nodes, details)


def _set_variables(building: Building, nodes: list[int], texts: Sequence[str]) -> bool:
    append = building.options.default_append_vars
    return building.dag.variables.add_simple(nodes, texts, append)


def _set_retries(building: Building, nodes: list[int], limits: Sequence[str]) -> bool:
    if not building.special.isdisjoint(nodes):
        return False
    retries = building.dag.retries
    if not retries.keys().isdisjoint(nodes) or len(set(nodes)) < len(nodes):
        return False
    values = {limit: building.share(Retry(int(limit))) for limit in set(limits)}
    retries.update(zip(nodes, map(values.__getitem__, limits)))
    return True


def _set_scripts(
    kind: ScriptKind, building: Building, nodes: list[int], texts: Sequence[str]
) -> bool:
    scripts = building.dag.scripts
    if len(set(nodes)) < len(nodes):
        return False
    if any(kind in scripts[node] for node in nodes if node in scripts):
        return False
    for node, text in zip(nodes, texts):
        scripts[node] = {**scripts.get(node, {}), kind: Script(text)}
    return True


def _add_edges(building: Building, tails: list[int], children: Sequence[str]) -> bool:
    lists = [names.split() for names in children]
    flat = _full(building, list(chain.from_iterable(lists)))
    try:
        heads = list(map(building.dag.ids.__getitem__, flat))
    except KeyError:
        return False
    if building.special and not building.special.isdisjoint(chain(tails, heads)):
        return False
    if len(heads) > len(lists):
        tails, heads = _edges_in_order(tails, heads, list(map(len, lists)))
    building.dag.edges.add_many(tails, heads)
    return True


def _edges_in_order(
    parents: list[int], children: list[int], sizes: list[int]
) -> tuple[list[int], list[int]]:
    """Tails and heads of the edges, those of each line in the order of its children's numbers."""
    if sizes.count(2) == len(sizes) and all(map(lt, children[0::2], children[1::2])):
        return list(chain.from_iterable(zip(parents, parents))), children
    tails: list[int] = []
    heads: list[int] = []
    begin = 0
    for parent, size in zip(parents, sizes):
        ends = children[begin : begin + size]
        if size > 1:
            ends = sorted(set(ends))
        heads += ends
        tails += [parent] * len(ends)
        begin += size
    return tails, heads


def _full(building: Building, names: Sequence[str]) -> Sequence[str]:
    before = building.scope.prefix + building.scope.munge
    return [before + name for name in names] if before else names


_FUNCTIONS: dict[str, Callable[[Building, list[int], Sequence[str]], bool]] = {
    "PARENT": _add_edges,
    "VARS": _set_variables,
    "RETRY": _set_retries,
    "SCRIPT PRE": partial(_set_scripts, ScriptKind.PRE),
    "SCRIPT POST": partial(_set_scripts, ScriptKind.POST),
}
