"""The commands that make edges: PARENT, CONNECT and the pins it connects.

Both ends of a PARENT command are handled in the order in which nodes were read, as in stock DAGMan:
the order of edges shows in the records, and in the order in which jobs are submitted.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.dagfile import commands
from condor_pydagman.graph import model
from condor_pydagman.graph.building import ALL_NODES, Building, fail
from condor_pydagman.graph.scope import Scope
from condor_pydagman.vocabulary import NodeKind

_NO_EDGE = {
    NodeKind.FINAL: ("a parent to a Final", "a child to a Final"),
    NodeKind.PROVISIONER: ("parent to the PROVISIONER", "child to the PROVISIONER"),
    NodeKind.SERVICE: ("a parent to a SERVICE", "a child to a SERVICE"),
}


def parent_child(building: Building, command: commands.ParentChild) -> None:
    """PARENT ... CHILD ..., weak or not."""
    parents = _ends(building, command.parents, "parent")
    children = _ends(building, command.children, "child")
    empty = [which for ends, which in ((parents, "parent"), (children, "child")) if not ends]
    gone = [sum(map(building.is_gone, names)) for names in (command.parents, command.children)]
    if empty and not any(gone):
        fail(
            f"No {' nor '.join(empty)} nodes provided for dependency creation",
            "the splice is empty, or each of its nodes is a parent or a child of another one",
            also="failed to add dependency between nodes",
        )
    building.admit_edges(children)
    join(building, parents, children, gone, weak=command.weak)


def join(
    building: Building,
    parents: Sequence[int],
    children: Sequence[int],
    gone: Sequence[int] = (0, 0),
    *,
    weak: bool = False,
) -> None:
    """Make each of `parents` a parent of each of `children`, through a join node if those are to be
    used.

    `gone`: how many more parents and children there were, which have been let go.
    """
    many = len(parents) + gone[0] > 1 and len(children) + gone[1] > 1
    with_node = many and building.options.use_join_nodes
    if building.special:
        _refuse_special(building, parents, children, with_node)
    if with_node:
        node = _join_node(building)
        building.dag.add_edges(parents, (node,), weak=weak)
        building.dag.add_edges((node,), children)
    elif parents and children:
        building.dag.add_edges(parents, children, weak=weak)


def pin(building: Building, command: commands.Pin) -> None:
    """PIN_IN, PIN_OUT."""
    node = building.find(command.node)
    if node is None:
        name = command.node
        if name.upper() != ALL_NODES:
            name = building.scope.munge + name
        fail(f"node {name} not found!", building.near(command.node), at=command.node)
    nodes = building.scope.pins[command.out].setdefault(command.number, [])
    if node not in nodes:
        nodes.append(node)


def connect(building: Building, command: commands.Connect) -> None:
    """CONNECT: pin k of one splice to pin k of the other, for every k."""
    parent = _splice(building, command.parent, "parent")
    child = _splice(building, command.child, "child")
    outs, ins = parent.pins[True], child.pins[False]
    if not outs:
        fail(f"parent splice {parent.name} has 0 pin_outs", "its file needs PIN_OUT commands")
    if not ins:
        fail(f"child splice {child.name} has 0 pin_ins", "its file needs PIN_IN commands")
    if max(outs) != max(ins):
        fail(
            f"pin_in/out mismatch:  parent splice {parent.name} has {max(outs)} pin_outs;"
            f" child splice {child.name} has {max(ins)} pin_ins",
            "both need the same highest pin number",
        )
    for number in range(1, max(outs) + 1):
        if number not in outs:
            fail(f"parent splice {parent.name} has no node for pin_out {number}")
        if number not in ins:
            fail(f"child splice {child.name} has no node for pin_in {number}")
        building.admit_edges(ins[number])
        for tail in outs[number]:
            building.dag.add_edges((tail,), ins[number])
    _refuse_orphans(building, child)


def _ends(building: Building, names: tuple[str, ...], which: str) -> Sequence[int]:
    """Nodes at one end of the edges, in the order in which they were read."""
    scope = building.scope
    quick = building.find_all(names)
    if quick is not None:
        return quick
    found = set()
    for name in names if len(names) == 1 else sorted(set(names)):
        node = building.find(name)
        if node is not None:
            found.add(node)
            continue
        sweep = scope.sweeps.get(scope.munge + name)
        if sweep is not None:
            found.update(sweep.nodes)
            continue
        splice = scope.splices.get(scope.munge + name)
        if splice is None and building.is_gone(name):
            continue
        if splice is None:
            fail(
                f"Unknown {which} node {name} specified",
                building.near(name),
                at=name,
            )
        found.update(splice.terminal if which == "parent" else splice.initial)
    return sorted(found)


def _refuse_special(
    building: Building, parents: Sequence[int], children: Sequence[int], join: bool
) -> None:
    """FINAL, PROVISIONER and SERVICE nodes stand outside the order of the others."""
    if building.special.isdisjoint(parents) and building.special.isdisjoint(children):
        return
    for ends, which in ((parents, 1), (children, 0)):
        for node in ends:
            if node in building.special:
                what = _NO_EDGE[NodeKind(building.dag.kinds[node])][which]
                also = "failed to add dependency between nodes"
                if join:
                    name = f"{model.JOIN_NAME}{building.next_join()}"
                    also = f"failed to add dependency to join node {name}"
                fail(
                    f"Tried to add {what} node {building.shown(node)}",
                    "such a node can be neither parent nor child",
                    also=also,
                )


def _join_node(building: Building) -> int:
    name = building.join_name()
    if building.defined_at(name) is not None:
        fail(f"Join node name {name} already in use in DAG!!!", "rename that node")
    return building.add_node(name, "DNE.sub", NodeKind.JOB, model.NOOP | model.JOIN, 0)


def _splice(building: Building, name: str, which: str) -> Scope:
    splice = building.scope.splices.get(building.scope.munge + name)
    if splice is None:
        fail(
            f"Connect {which} splice {name} does not exist",
            "CONNECT joins splices of its own file",
            at=name,
        )
    return splice


def _refuse_orphans(building: Building, splice: Scope) -> None:
    """After CONNECT no node of the second splice may start on its own."""
    building.mark_ends()
    for node in splice.initial:
        if not building.has_parents[node]:
            fail(
                f"child splice node {building.shown(node)} has no parents after making pin"
                " connections; add pin_in or parent"
            )
