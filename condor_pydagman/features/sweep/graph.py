"""SWEEP and SWEEP_PARENT: many nodes, and the edges between them, from one line each.

A sweep is known by its name as its line has it, `sim_{energy}_{seed}`: wherever a file may name a
node, this stands for all its nodes.  In the Dag they are nodes like others.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Sequence
from itertools import repeat

from condor_pydagman.dagfile.lexer import item_text
from condor_pydagman.errors import UsageError
from condor_pydagman.features.sweep.grammar import Sweep, SweepParent
from condor_pydagman.features.sweep.nodes import (
    Swept,
    Table,
    filled,
    matched,
    node_names,
    table_of,
)
from condor_pydagman.graph import define
from condor_pydagman.graph.apply import Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.variable_table import Variable, in_order

_SIMPLE = re.compile(r"[ !#-\[\]-~]*")  # values that `VariableTable.add_simple` takes
_BLOCK = 1 << 16  # nodes whose variables are written at a time
_SIMPLE_KEY = re.compile("[A-PR-Za-pr-z_][A-Za-z0-9_]*")


def sweep(building: Building, command: Sweep, text: str = "") -> None:
    """SWEEP; `text` is that of its table, if it has one."""
    scope = building.scope
    if scope.munge + command.name in scope.sets:
        fail(f"There is a sweep {command.name} already", "give one of the two another name")
    if command.directory and building.options.use_dag_dir:
        fail(
            "SWEEP DIR <directory> can not be used with -UseDagDir",
            "take the DIR out, or leave -usedagdir away",
        )
    try:
        table = table_of(command, text)
        names = node_names(command, table)
        directories = filled(command.directory, table, "DIR")
        pairs = _pairs(command, table)
    except UsageError as error:
        fail(str(error))
    nodes = _define(building, command, names)
    _set_directories(building, nodes, directories, bool(command.directory))
    _set_variables(building, nodes, pairs, command.append)
    scope.sets[scope.munge + command.name] = Swept(nodes, table.columns)


def _pairs(command: Sweep, table: Table) -> dict[str, Sequence[str]]:
    """By key the values of all nodes: variables, and what VARS says.

    Those of a table are text; those of OVER are the author's, like VARS.
    """
    if command.rows:
        columns = {key: list(map(item_text, column)) for key, column in table.columns.items()}
        table = table._replace(columns=columns)
    pairs = dict(table.columns)
    for key, value in command.pairs:
        pairs[key] = list(filled(value, table, f"VARS {key}"))
    return pairs


def _define(building: Building, command: Sweep, names: Sequence[str]) -> range:
    dag, scope = building.dag, building.scope
    full = building.full_names(names)
    if not dag.ids.keys().isdisjoint(full):
        known = next(name for name in full if name in dag.ids)
        fail(
            f"Node {known[len(scope.prefix) :]} already exists in DAG.",
            f"the first is defined at {dag.place(dag.ids[known]) or 'an unknown place'}",
        )
    if scope.splices and not {scope.munge + name for name in names}.isdisjoint(scope.splices):
        fail(f"A node of sweep {command.name} has the name of a splice", "rename one of them")
    first = len(dag)
    submits = repeat(building.text(command.submit), len(names))
    dag.add_jobs(full, submits, repeat(command.line, len(names)))
    scope.add(first, len(names))
    return range(first, first + len(names))


def _set_directories(
    building: Building, nodes: range, directories: Iterable[str], is_given: bool
) -> None:
    scope = building.scope
    if not is_given and not scope.directory:
        return
    for node, directory in zip(nodes, directories):
        path = os.path.join(scope.directory, directory)
        building.dag.directories[node] = building.text(path.rstrip("/") or "/")


def _set_variables(
    building: Building, nodes: range, pairs: dict[str, Sequence[str]], append: bool | None
) -> None:
    if append is None:
        append = building.options.default_append_vars
    if not _add_simple(building, nodes, pairs, append):
        keys = list(pairs)
        for node, row in zip(nodes, zip(*pairs.values())):
            found = in_order(zip(keys, row))
            building.dag.variables[node] = tuple(
                Variable(building.text(key), value, append) for key, value in found
            )


def _add_simple(
    building: Building, nodes: range, pairs: dict[str, Sequence[str]], append: bool
) -> bool:
    """Keep the variables as text, which takes the least memory; False if they are not as simple."""
    values = set().union(*pairs.values())
    if not all(map(_SIMPLE_KEY.fullmatch, pairs)) or not all(map(_SIMPLE.fullmatch, values)):
        return False
    form = " ".join(f'{key}="%s"' for key in pairs)
    columns = list(pairs.values())
    for begin in range(0, len(nodes), _BLOCK):
        rows = zip(*(column[begin : begin + _BLOCK] for column in columns))
        texts = list(map(form.__mod__, rows))
        building.dag.variables.add_simple(nodes[begin : begin + _BLOCK], texts, append)
    return True


def sweep_parent(building: Building, command: SweepParent) -> None:
    """SWEEP_PARENT."""
    parents, children = (_swept(building, name) for name in (command.parent, command.child))
    try:
        groups = matched(command, parents, children)
    except UsageError as error:
        fail(str(error))
    if command.keys:
        for tails, heads in groups:
            define.join(building, tails, heads)
    else:
        building.dag.edges.add_many(parents.nodes, children.nodes)


def _advice(building: Building, name: str) -> str:
    known = sorted(building.scope.sets)
    if building.find(name) is not None:
        return f"{name} is a node: a PARENT line joins it with all nodes of a sweep"
    if not known:
        return "no SWEEP line comes before this one"
    return f"the sweeps are {', '.join(known[:5])}{', ...' * (len(known) > 5)}"


def _swept(building: Building, name: str) -> Swept:
    found = building.scope.sets.get(building.scope.munge + name)
    if not isinstance(found, Swept):
        fail(
            f"Unknown sweep {name}",
            _advice(building, name),
            at=name,
        )
    return found


APPLIED = (Applied(Sweep, sweep, file="rows"), Applied(SweepParent, sweep_parent))
