"""The commands that let a DAG grow: EXTEND, SCATTER and FEEDER."""

from __future__ import annotations

import os.path

from condor_pydagman.dagfile import commands
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Extension, Feeder
from condor_pydagman.vocabulary import NodeKind


def extend(building: Building, command: commands.ExtendLine) -> None:
    """EXTEND."""
    _add(building, command, Extension("", between=command.between, trusted=command.trusted))


def scatter(building: Building, command: commands.ScatterLine) -> None:
    """SCATTER."""
    _add(
        building,
        command,
        Extension(
            "",
            pattern=command.pattern,
            submit=command.submit,
            pairs=command.pairs,
            retries=command.retries,
        ),
    )


def feeder(building: Building, command: commands.FeederLine) -> None:
    """FEEDER."""
    scope = building.scope
    if scope.outer is not None:
        fail(
            "FEEDER can't be used in a splice",
            "it is about a whole DAG: put it into the DAG file that is submitted",
        )
    if building.dag.feeder is not None:
        fail(
            "The DAG has a FEEDER already",
            "a DAG has one at most; a program that runs others can give what all of them do",
        )
    building.dag.feeder = Feeder(
        command.program,
        command.below,
        command.at_most,
        command.timeout_s,
        command.retries,
        scope.directory.rstrip("/"),
        scope.where,
        scope.prefix + scope.munge,
    )


def grown(building: Building, command: commands.GrownLine) -> None:
    """GROWN, which is applied before the other lines of a rescue file."""
    if all(piece.number != command.number for piece in building.dag.pieces):
        fail(
            f"Piece {command.number} of the DAG is not there",
            "a GROWN line belongs into a rescue file; the file .grown beside the DAG has the text",
        )


def let_go(building: Building, command: commands.LetGoLine) -> None:
    """LET_GO, of rescue files alone, where `progress` applies it."""
    fail("LET_GO can't be used in a DAG file", "a LET_GO line belongs into a rescue file")


def _add(
    building: Building,
    command: commands.ExtendLine | commands.ScatterLine,
    extension: Extension,
) -> None:
    """Names of files, and of nodes, mean what they would in an INCLUDE at this place."""
    scope = building.scope
    node = _node(building, command)
    if node in building.special:
        kind = NodeKind(building.dag.kinds[node]).name
        fail(
            f"Node {building.shown(node)} can't add to the DAG",
            f"it is a {kind} node",
            at=command.node,
        )
    if node in building.dag.extensions:
        fail(
            f"Node {building.shown(node)} has an EXTEND or SCATTER already",
            "a node adds to the DAG once; the file that it names can INCLUDE others",
            at=command.node,
        )
    prefix = scope.prefix + scope.munge if command.prefix is None else command.prefix
    building.dag.extensions[node] = extension._replace(
        file=building.text(os.path.join(scope.where, command.file)),
        directory=building.text(os.path.join(scope.directory, command.directory).rstrip("/")),
        prefix=building.text(prefix),
    )


def _node(building: Building, command: commands.ExtendLine | commands.ScatterLine) -> int:
    """The node that adds; somebody may have written its file before it."""
    name, file = command.node, command.file
    if building.find(name) is None and building.find(file) is not None:
        word = "EXTEND" if isinstance(command, commands.ExtendLine) else "SCATTER"
        hint = f"the node comes first: {word} {file} {name}"
        fail(f"Unknown node {building.scope.munge}{name} referenced", hint, at=name)
    return building.needed(name)
