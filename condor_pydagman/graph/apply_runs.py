"""Runs of simple lines, obeyed many at a time: what `apply` does with each of them, only faster.

Whatever is out of the ordinary (an unknown name, a second VARS for a node) is left to `apply`: a
function that returns False has done nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from operator import lt

from condor_pydagman.dagfile.bulk import Rows, Run
from condor_pydagman.graph.building import Building


class NotSimple(Exception):
    """A name is defined twice: start again, and obey the commands one by one."""


def define_jobs(building: Building, run: Run, line: int) -> None:
    """The JOB lines of a run whose first line has number `line`.

    Raises:
        NotSimple: the Dag is spoilt.
    """
    scope, dag = building.scope, building.dag
    if not run.jobs:
        return
    names: Sequence[str]
    names, submits = zip(*run.jobs)
    before = scope.prefix + scope.munge
    if before:
        names = [before + name for name in names]
    first = len(dag)
    lines: Iterable[int] = range(line, line + run.lines)
    if len(run.jobs) < run.lines:
        lines = [line + place for place in run.job_lines]
    if not dag.add_jobs(names, building.texts(submits), lines):
        raise NotSimple
    if scope.splices and not scope.splices.keys().isdisjoint(names):
        raise NotSimple
    scope.add(first, len(names))
    if scope.directory:
        directory = building.text(scope.directory.rstrip("/") or "/")
        dag.directories.update(zip(range(first, first + len(names)), repeat(directory)))


def use(building: Building, run: Run) -> bool:
    """The PARENT and VARS lines of a run; False if some of them, of either kind, are left."""
    if run.parents and not _add_edges(building, run.parents):
        return False
    # Edges may come twice, variables may not: they are last.
    return not run.variables or _set_variables(building, run.variables)


def _set_variables(building: Building, rows: Rows) -> bool:
    """The VARS lines of a run."""
    names, texts = zip(*rows)
    try:
        nodes = list(map(building.dag.ids.__getitem__, _full(building, names)))
    except KeyError:
        return False
    append = building.options.default_append_vars
    return building.dag.variables.add_simple(nodes, texts, append)


def _add_edges(building: Building, rows: Rows) -> bool:
    parents, children = zip(*rows)
    lists = [names.split() for names in children]
    flat = _full(building, list(chain.from_iterable(lists)))
    get = building.dag.ids.__getitem__
    try:
        tails = list(map(get, _full(building, parents)))
        heads = list(map(get, flat))
    except KeyError:
        return False
    if building.special and not building.special.isdisjoint(chain(tails, heads)):
        return False
    sizes = list(map(len, lists))
    if len(heads) > len(sizes):
        tails, heads = _edges_in_order(tails, heads, sizes)
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
