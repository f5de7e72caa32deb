"""The commands that say more about nodes: SCRIPT, RETRY, VARS and so on.

The rules, and the texts of warnings and errors, are stock DAGMan's.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from condor_pydagman.graph import model
from condor_pydagman.graph.building import (
    ALL_NODES,
    NEVER,
    STRICT_HIGH,
    STRICT_LOW,
    STRICT_MIDDLE,
    Building,
    fail,
)
from condor_pydagman.graph.model import NO_DEFER, Defer, Retry, Script, Tolerance
from condor_pydagman.graph.variable_table import MANY_VARIABLES, Variable, Variables, in_order
from condor_pydagman.language import commands
from condor_pydagman.vocabulary import NodeKind


def script(building: Building, command: commands.ScriptLine) -> None:
    """SCRIPT."""
    scripts = building.dag.scripts
    defer = NO_DEFER
    if command.defer_status is not None:
        limits: Any = command[8:]
        defer = building.share(Defer(command.defer_status, command.defer_seconds, *limits))
    new = building.share(Script(command.command, defer, *command[6:8]))
    for node in building.nodes(command.node):
        old = scripts.get(node, {})
        if command.kind in old:
            building.warn(
                f"Warning: node {building.shown(node)} already has {command.kind.value} script"
                f" <{old[command.kind].command}> assigned; changing to <{new.command}>",
                NEVER,
            )
        of_node = {**old, command.kind: new}  # shared by many nodes, so it is never changed
        scripts[node] = building.recall(tuple(of_node.items()), of_node)


def retry(building: Building, command: commands.RetryLine) -> None:
    """RETRY."""
    retries = building.dag.retries
    options = said(command)
    if command.unless_exit == (0,):
        options["unless_exit"] = ()
    for node in building.nodes(command.node):
        _refuse_special(building, node, "RETRY", "can not have a retry specification")
        old = retries.get(node)  # its options stay unless the line says otherwise
        new = Retry(**options) if old is None else old._replace(**options)
        retries[node] = building.share(new)


def said(command: Any) -> dict[str, Any]:
    """The fields of `command` that its line says, but for line and node."""
    fields = islice(command._asdict().items(), 2, None)
    return {field: value for field, value in fields if value is not None}


def abort_dag_on(building: Building, command: commands.AbortDagOn) -> None:
    """ABORT-DAG-ON."""
    abort = building.share(model.Abort(command.status, command.exit_code))
    for node in building.nodes(command.node):
        if building.dag.kinds[node] == NodeKind.FINAL:
            fail(
                f"FINAL node {building.shown(node)} cannot have an ABORT-DAG-ON specification.",
                "the DAG has ended anyway when the FINAL node runs",
            )
        building.dag.aborts[node] = abort


def set_variables(building: Building, command: commands.Vars) -> None:
    """VARS."""
    append = command.append
    if append is None:
        append = building.options.default_append_vars
    new = building.known((append, command.pairs))
    if new is None:
        new = building.recall(
            (append, command.pairs),
            tuple(
                Variable(building.text(key), value, append)
                for key, value in in_order(command.pairs)
            ),
        )
    known = building.dag.variables
    for node in building.nodes(command.node):
        old = known.unread(node)
        known[node] = _merged(building, node, old, new) if old else new


def _merged(building: Building, node: int, old: Variables, new: tuple[Variable, ...]) -> Variables:
    """`old` and `new`; a key that is named again keeps its placement and gets the new value."""
    merged = old if isinstance(old, dict) else {variable.key: variable for variable in old}
    for variable in new:
        known = merged.get(variable.key)
        if known is None:
            merged[variable.key] = variable
            continue
        building.warn(
            f'Warning: VAR "{variable.key}" is already defined in node "{building.shown(node)}"'
            f'\n        Setting VAR "{variable.key}" = "{variable.value}"',
            STRICT_HIGH,
        )
        merged[variable.key] = known._replace(value=variable.value)
    return merged if len(merged) > MANY_VARIABLES else tuple(merged.values())


def priority(building: Building, command: commands.Priority) -> None:
    """PRIORITY."""
    priorities = building.dag.priorities
    for node in building.nodes(command.node):
        _refuse_special(building, node, "PRIORITY", "can not have a priority")
        old = priorities.get(node, 0)
        if old not in (0, command.value):
            building.warn(
                f"WARNING: New priority {command.value} for node {building.shown(node)}"
                f" overrides old value {old}",
                STRICT_MIDDLE,
            )
        priorities[node] = command.value


def pre_skip(building: Building, command: commands.PreSkip) -> None:
    """PRE_SKIP."""
    value = command.exit_code
    for node in building.nodes(command.node):
        name, old = building.shown(node), building.dag.pre_skips.get(node)
        if not 0 <= value <= 255:
            fail(
                f"Failed to add pre skip to {name}: PRE_SKIP exit code must be between 0 and 255",
            )
        if value == 0:
            building.warn("Warning: exit code 0 for a PRE_SKIP value is weird.", NEVER)
        if old is not None:
            building.warn(
                f"Warning: new PRE_SKIP value  {value} for node {name} overrides old value {old}",
                STRICT_HIGH,
            )
        building.dag.pre_skips[node] = value


def tolerance(building: Building, command: commands.ToleranceLine) -> None:
    """TOLERANCE."""
    value = building.share(Tolerance(command.limit, command.percent, command.fail_fast))
    for node in building.nodes(command.node):
        building.dag.tolerances[node] = value


def category(building: Building, command: commands.Category) -> None:
    """CATEGORY: a category of a splice is its own, unless its name begins with `+`."""
    full = building.text(category_name(building, command.category))
    categories, cut = building.dag.categories, len(building.scope.prefix)
    building.scope.categories.add(full)
    for node in building.nodes(command.node):
        _refuse_special(building, node, "CATEGORY", "can not be added to a category")
        old = categories.get(node)
        if old not in (None, full):
            shown = old if old is None or old[0] == "+" else old[cut:]
            building.warn(
                f"Warning: new category {command.category} for node {building.shown(node)}"
                f" overrides old value {shown}",
                STRICT_HIGH,
            )
        categories[node] = full


def category_name(building: Building, name: str) -> str:
    """The name in the whole DAG of the category that the file being read calls `name`."""
    return name if name.startswith("+") else building.scope.prefix + name


def done(building: Building, command: commands.Done) -> None:
    """DONE, the command of rescue files."""
    node = building.needed(command.node)
    if node in building.special:
        building.warn("WARNING: DONE node(s) can not be referenced by the DONE command", STRICT_LOW)
        return
    building.dag.flags[node] |= model.DONE


def not_done(building: Building, command: commands.NotDone) -> None:
    """NOT_DONE, of rescue files."""
    node = building.needed(command.node)
    building.dag.flags[node] &= ~model.DONE


def save_point_file(building: Building, command: commands.SavePointFile) -> None:
    """SAVE_POINT_FILE."""
    if command.node.upper() == ALL_NODES and building.find(command.node) is None:
        fail("ALL_NODES cannot be used for save point file command", "name one node")
    node = building.needed(command.node)
    if node in building.special:
        fail(
            "Save file can not be applied to SAVE_POINT_FILE node(s)",  # sic
            "a save point belongs to a JOB or SUBDAG node",
        )
    default = f"{command.node}-{building.file.rpartition('/')[2]}.save"
    building.dag.save_points[node] = command.file or default


def _refuse_special(building: Building, node: int, word: str, what: str) -> None:
    if building.special and node in building.special:
        kind = NodeKind(building.dag.kinds[node]).name
        fail(f"{word} node {building.shown(node)} {what}", f"it is a {kind} node")
