"""Entering the file of a SPLICE, leaving it, and lifting its nodes into the file that names it."""

from __future__ import annotations

from array import array
from itertools import chain
from operator import ne

from condor_pydagman.dagfile import commands
from condor_pydagman.graph.building import STRICT_MIDDLE, Building, fail
from condor_pydagman.graph.model import Splice
from condor_pydagman.graph.scope import Scope
from condor_pydagman.vocabulary import NodeKind

MAX_PREFIX_LENGTH = 10_000  # of a node's name, for the splices that it is in
# With so many no further splice is read: a few lines can define more nodes than memory holds.
MAX_NODES = 20_000_000
MAX_EDGES = 10 * MAX_NODES  # each PARENT line that shares its edges counts once

_FORBIDDEN = (NodeKind.FINAL, NodeKind.PROVISIONER)


def enter(building: Building, command: commands.Splice) -> Scope:
    """The scope of a new splice, which becomes the present one."""
    _refuse_flood(building)
    outer = building.scope
    name = outer.munge + command.name
    clash = "give the splice another name"
    if name in building.dag.ids and building.find(command.name) is not None:
        fail(
            f"Splice name {command.name} already associated with a node in DAG.",
            clash,
            at=command.name,
        )
    if name in outer.splices:
        fail(f"Splice named {command.name} already exists in DAG.", clash, at=command.name)
    scope = Scope(outer, name, command.file)
    if len(scope.prefix) > MAX_PREFIX_LENGTH:
        fail(
            f"The names of its nodes would be longer than {MAX_PREFIX_LENGTH:,} characters",
            "splices nest too deep",
        )
    scope.enter_directory(command.directory)
    building.scope = scope
    building.has_splices = True
    return scope


def _refuse_flood(building: Building) -> None:
    for count, limit, what in (
        (len(building.dag), MAX_NODES, "nodes"),
        (len(building.dag.edges), MAX_EDGES, "edges"),
    ):
        if count > limit:
            fail(
                f"More than {limit:,} {what}: no further splice is taken in",
                "do splices hold splices that hold splices? A SUBDAG has a DAGMan of its own",
            )


def leave(building: Building, *, good: bool) -> None:
    """The splice's file has been read: its scope ends, and if it was `good` waits to be lifted."""
    scope = building.scope
    outer = scope.outer
    if outer is None:
        raise ValueError("the root can't be left")
    building.scope = outer
    if not good:
        return
    _refuse_forbidden(building, scope)
    outer.splices[scope.name] = scope


def end_file(building: Building) -> None:
    """At the end of a file, INCLUDEd or not: what the scope's splices hold becomes its own."""
    outer = building.scope
    for splice in outer.lift():
        _lift_limits(building, outer, splice)
        _lift_descriptions(building, outer, splice)
    if outer.outer is not None:
        _note_ends(building, outer)


def arrange(building: Building) -> None:
    """After all files: number the nodes in the order of stock DAGMan's list, and note splices."""
    note(building)
    order = array("i", chain.from_iterable(building.scope.ranges()))
    if any(map(ne, order, range(len(order)))):
        building.dag.renumber(order)


def note(building: Building) -> None:
    """Have the Dag tell which of its nodes are of which splice."""
    count, found = 0, building.dag.splices
    open_splices: dict[Scope, int] = {}
    for piece in building.scope.walk():
        if isinstance(piece, range):
            count += len(piece)
        elif piece in open_splices:
            place = open_splices.pop(piece)
            found[place] = found[place]._replace(end=count)
        else:
            open_splices[piece] = len(found)
            found.append(Splice(piece.prefix[:-1], piece.file, piece.directory, count, count))


def _refuse_forbidden(building: Building, scope: Scope) -> None:
    for node in sorted(building.special):
        kind = NodeKind(building.dag.kinds[node])
        if kind in _FORBIDDEN and node in scope:
            name = scope.name[len(scope.munge) :]
            fail(
                f"Splice {name} has a {kind.name} node. This is not permitted.",
                f"put the {kind.name} node into the DAG file that names the splice",
            )


def _note_ends(building: Building, scope: Scope) -> None:
    """The initial and terminal nodes among those that are new: what is noted here stays noted, even
    if the file goes on after an INCLUDE and gives them parents (as in stock)."""
    building.mark_ends()
    special = building.special
    for piece in scope.new_pieces():
        nodes = (piece, piece) if isinstance(piece, range) else (piece.initial, piece.terminal)
        has_parents, has_children = building.has_parents, building.has_children
        scope.initial += [n for n in nodes[0] if not has_parents[n] and n not in special]
        scope.terminal += [n for n in nodes[1] if not has_children[n] and n not in special]


def _lift_limits(building: Building, outer: Scope, splice: Scope) -> None:
    cut = len(outer.prefix)
    for category in sorted(splice.categories | set(splice.limits)):
        outer.categories.add(category)
        limit, higher = splice.limits.get(category, -1), outer.limits.get(category)
        if higher is None:
            if limit >= 0:
                outer.limits[category] = limit
        elif higher != limit:
            shown = category if category[0] == "+" else category[cut:]
            building.warn(
                f"Warning: higher-level ({outer}) maxjobs value of {higher} for category {shown}"
                f" overrides splice {splice.name} value of {limit}",
                STRICT_MIDDLE,
            )


def _lift_descriptions(building: Building, outer: Scope, splice: Scope) -> None:
    where = f"splice {outer}" if outer.outer else "root"
    for name, text in splice.descriptions.items():
        if outer.descriptions.setdefault(name, text) != text:
            building.keep_warning(
                "WARNING: Conflicting inline descriptions using the same name"
                f" '{name}' between {where} and splice {splice.name}."
            )
