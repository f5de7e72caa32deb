"""Stock's commands that make a DAG: nodes and submit descriptions, edges, settings of it."""

from __future__ import annotations

import os.path
from collections.abc import Sequence

from condor_pydagman.graph import model
from condor_pydagman.graph.building import (
    ALL_NODES,
    NEVER,
    STRICT_HIGH,
    STRICT_MIDDLE,
    Building,
    fail,
)
from condor_pydagman.graph.model import StatusFile
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.graph.scope import Scope
from condor_pydagman.language import commands
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind

SUBDAG_SUFFIX = ".condor.sub"
EMPTY_INLINE = "INLINE"  # the submit file of a node with an empty inline description, as in stock
_ONE_ONLY = (NodeKind.FINAL, NodeKind.PROVISIONER)


def job(building: Building, command: commands.Job) -> None:
    """JOB, FINAL, PROVISIONER, SERVICE, DATA."""
    submit, subdag = command.submit, ""
    if command.description == "":
        submit = EMPTY_INLINE
    elif command.description is not None:
        name = building.scope.munge + command.name
        submit = f"{name}-InlineDesc{building.next_inline()}"
        building.scope.descriptions[submit] = command.description
    elif submit.endswith(SUBDAG_SUFFIX) and command.kind != NodeKind.DATA:
        if command.kind != NodeKind.FINAL:
            raise ProcessingError(
                "The use of the JOB keyword for nested DAGs is prohibited.",
                prefix="Error: ",
                hint="write SUBDAG EXTERNAL and the name of the DAG file",
            )
        subdag = submit[: -len(SUBDAG_SUFFIX)]
    _refuse_second(building, command.name, command.kind)
    node = _add(building, command, submit, command.kind)
    if subdag:
        building.dag.subdags[node] = subdag


def subdag(building: Building, command: commands.Subdag) -> None:
    """SUBDAG EXTERNAL."""
    node = _add(building, command, command.file + SUBDAG_SUFFIX, NodeKind.SUBDAG)
    building.dag.subdags[node] = building.text(command.file)


def submit_description(building: Building, command: commands.SubmitDescription) -> None:
    """SUBMIT-DESCRIPTION."""
    if command.name in building.scope.descriptions:
        building.warn(
            f"Warning: Inline Description name '{command.name}' used multiple time."
            " Overwritting...",
            NEVER,
        )
    building.scope.descriptions[command.name] = command.description


def _add(
    building: Building,
    command: commands.Job | commands.Subdag,
    submit: str,
    kind: NodeKind,
) -> int:
    dag, scope = building.dag, building.scope
    name = scope.full(command.name)
    first = building.defined_at(name)
    if first is not None:
        fail(
            f"Node {scope.munge}{command.name} already exists in DAG.",
            f"give one of the two nodes another name; the first is defined at {first}",
            at=command.name,
        )
    if scope.munge + command.name in scope.splices:
        fail(
            f"Node name {scope.munge}{command.name} already associated with a splice in DAG",
            "give the node or the splice another name",
            at=command.name,
        )
    if command.directory and building.options.use_dag_dir:
        fail(
            "Node DIR <directory> sub-command can not be used with -UseDagDir",
            "take the DIR out, or leave -usedagdir away",
        )
    done = command.done
    if done and kind not in ORDINARY_KINDS:  # stock calls it fatal, and goes on
        building.keep_warning(f"WARNING: {kind.name} node {command.name} can not be marked as DONE")
        done = False
    flags = model.NOOP * command.noop | (model.DONE | model.USER_DONE) * done
    node = building.add_node(name, submit, kind, flags, command.line)
    directory = os.path.join(scope.directory, command.directory)
    if directory:
        dag.directories[node] = building.text(directory.rstrip("/") or "/")
    return node


def _refuse_second(building: Building, name: str, kind: NodeKind) -> None:
    if kind not in _ONE_ONLY:
        return
    first = [node for node in building.dag.of_kind(kind) if node in building.scope]
    if first:
        word = kind.name.lower()
        raise ProcessingError(
            f"DAG already has a {word} node {building.dag.names[first[0]]};"
            f" attempting to add {word} node {building.scope.full(name)}",
            prefix="Error: ",
            also=f"Failed to add node {building.scope.full(name)} to DAG.",
            hint=f"there can be one {kind.name} node only, over all DAG files",
        )


# The commands about the whole DAG: throttles of categories, files that DAGMan writes, REJECT.


def max_jobs(building: Building, command: commands.MaxJobs) -> None:
    """MAXJOBS."""
    limits = building.scope.limits
    name = building.text(category_name(building, command.category))
    old = limits.get(name)
    if old not in (None, command.limit):
        building.warn(
            f"Warning: new maxjobs value {command.limit} for category {command.category}"
            f" overrides old value {old}",
            STRICT_HIGH,
        )
    limits[name] = command.limit


def node_status_file(building: Building, command: commands.NodeStatusFile) -> None:
    """NODE_STATUS_FILE; that of a splice has no effect."""
    old = building.dag.status_file
    if _is_first(building, "NODE_STATUS_FILE", command.file, "" if old is None else old.file):
        building.dag.status_file = StatusFile(command.file, command.interval, command.always)


def jobstate_log(building: Building, command: commands.JobstateLog) -> None:
    """JOBSTATE_LOG; that of a splice has no effect."""
    if _is_first(building, "JOBSTATE_LOG", command.file, building.dag.jobstate_log):
        building.dag.jobstate_log = command.file


def dot(building: Building, command: commands.Dot) -> None:
    """DOT; that of a splice has no effect."""
    if building.scope.outer is None:
        building.dag.dot = model.DotFile(*command[1:])


def reject(building: Building, command: commands.Reject) -> None:
    """REJECT."""
    raise ProcessingError(
        "DAG marked as rejected",
        prefix="",
        hint="take out the REJECT line when the DAG is ready to be run",
    )


def warn_of_categories(building: Building) -> None:
    """After all files: categories without nodes and categories without a throttle."""
    limits, used = building.dag.category_limits, set(building.dag.categories.values())
    for category in sorted(used | building.scope.categories | set(limits)):
        if category not in used:
            building.warn(
                f"Warning: category {category} has no assigned nodes, so the throttle setting"
                f" ({limits.get(category, -1)}) will have no effect",
                STRICT_MIDDLE,
            )
        if category not in limits:
            building.warn(f"Warning: category {category} has no throttle value set", STRICT_MIDDLE)


def add_priority(building: Building) -> None:
    """After all files: -Priority and DAGMAN_DEFAULT_PRIORITY go on top of every node's own."""
    dag, more = building.dag, building.options.priority
    if more:
        dag.priority = more
        for node in range(len(dag)):
            dag.priorities[node] = dag.priorities.get(node, 0) + more


def _is_first(building: Building, word: str, new: str, old: str) -> bool:
    """Whether a line is the first of its word outside of splices."""
    if building.scope.outer is None and old:
        text = f"Attempt to set {word} to {new} does not override existing value of {old}"
        building.warn(f"Warning: {text}", STRICT_HIGH)
    return building.scope.outer is None and not old


# The commands that make edges: PARENT, CONNECT and the pins it connects.
#
# Both ends of a PARENT command are handled in the order in which nodes were read, as in stock
# DAGMan: the order of edges shows in the records, and in the order in which jobs are submitted.

_NO_EDGE = {
    NodeKind.FINAL: ("a parent to a Final", "a child to a Final"),
    NodeKind.PROVISIONER: ("parent to the PROVISIONER", "child to the PROVISIONER"),
    NodeKind.SERVICE: ("a parent to a SERVICE", "a child to a SERVICE"),
}


def parent_child(building: Building, command: commands.ParentChild) -> None:
    """PARENT ... CHILD ..., weak or not."""
    parents = ends(building, command.parents, "parent")
    children = ends(building, command.children, "child")
    if parents is None or children is None:
        return
    empty = [which for ends, which in ((parents, "parent"), (children, "child")) if not ends]
    if empty:
        fail(
            f"No {' nor '.join(empty)} nodes provided for dependency creation",
            "the splice is empty, or each of its nodes is a parent or a child of another one",
            also="failed to add dependency between nodes",
        )
    building.admit_edges(children)
    join(building, parents, children, weak=command.weak)


def join(
    building: Building, parents: Sequence[int], children: Sequence[int], *, weak: bool = False
) -> None:
    """Make each of `parents` a parent of each of `children`, through a join node if those are to be
    used."""
    many = len(parents) > 1 and len(children) > 1
    with_node = many and building.options.use_join_nodes
    if building.special:
        _refuse_special(building, parents, children, with_node)
    if with_node:
        name = building.join_name()
        if building.defined_at(name) is not None:
            fail(f"Join node name {name} already in use in DAG!!!", "rename that node")
        flags = model.NOOP | model.JOIN
        node = building.add_node(name, "DNE.sub", NodeKind.JOB, flags, 0)
        building.dag.add_edges(parents, (node,), weak=weak)
        building.dag.add_edges((node,), children)
    else:
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


def ends(building: Building, names: tuple[str, ...], which: str) -> Sequence[int] | None:
    """Nodes at one end of the edges, in the order in which they were read; None if no name is known
    and there is an objection to each."""
    scope, unknown = building.scope, 0
    quick = building.find_all(names)
    if quick is not None:
        return quick
    found: set[int] = set()
    order = dict.fromkeys(names if building.errors.reads_on else sorted(names))
    for name in order:
        node = building.find(name)
        if node is not None:
            found.add(node)
            continue
        several = scope.sets.get(scope.munge + name)
        if several is not None:
            found.update(several.nodes)
            continue
        splice = scope.splices.get(scope.munge + name)
        if splice is not None:
            found.update(splice.terminal if which == "parent" else splice.initial)
            continue
        unknown += 1
        text, hint = f"Unknown {which} node {name} specified", building.near(name)
        building.errors.object(ProcessingError(text, hint=hint, at=name))
    return sorted(found) if unknown < len(order) else None


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
