"""The commands that define nodes and submit descriptions."""

from __future__ import annotations

import os.path
from typing import NoReturn

from condor_pydagman.dagfile import commands
from condor_pydagman.graph import model
from condor_pydagman.graph.building import NEVER, Building, fail
from condor_pydagman.graph.problems import ProcessingError
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
            _refuse_nested_dag()
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
            file="",
            prefix="Error: ",
            also=f"Failed to add node {building.scope.full(name)} to DAG.",
            hint=f"there can be one {kind.name} node only, over all DAG files",
        )


def _refuse_nested_dag() -> NoReturn:
    raise ProcessingError(
        "The use of the JOB keyword for nested DAGs is prohibited.",
        file="",
        prefix="Error: ",
        hint="write SUBDAG EXTERNAL and the name of the DAG file",
    )
