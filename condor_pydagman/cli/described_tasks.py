"""What submit descriptions say of nodes: programs, and the files that are transferred."""

from __future__ import annotations

import os
from collections.abc import Iterator

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.node_descriptions import description_of
from condor_pydagman.records.condor_sub import parse_quoted
from condor_pydagman.report.wfformat import NOT_DESCRIBED, TaskDescription

MAX_NODES = 10_000  # each takes some tenths of a millisecond
_INPUT, _OUTPUT = "transfer_input_files", "transfer_output_files"


def described_tasks(found: FoundDag, dag: Dag) -> dict[str, TaskDescription]:
    """Of each node that has any, by its name; {} for a DAG of more than MAX_NODES."""
    if len(dag) > MAX_NODES:
        return {}
    told = {dag.names[node]: _task(found, dag, node) for node in range(len(dag))}
    return {name: task for name, task in told.items() if task != NOT_DESCRIBED}


def _task(found: FoundDag, dag: Dag, node: int) -> TaskDescription:
    if node in dag.subdags or not dag.submits[node]:
        return NOT_DESCRIBED
    directory = os.path.join(found.directory, dag.directories.get(node, ""))
    try:
        with working_directory(directory):
            text = description_of(dag, node, 0, found)
            return _of_description(text, found.directory)
    except (PydagmanError, OSError, ImportError):  # without the bindings
        return NOT_DESCRIBED


def _of_description(text: str, root: str) -> TaskDescription:
    from condor_pydagman.adapters.descriptions import expanded, parse

    description = parse(text)
    initial = expanded(description, "initialdir")
    inputs, outputs = (expanded(description, name).split(",") for name in (_INPUT, _OUTPUT))
    outputs = [os.path.basename(path.strip()) for path in outputs]  # where they come back to
    return TaskDescription(
        dict(_sizes(inputs, initial, root)),
        dict(_sizes(outputs, initial, root)),
        expanded(description, "executable"),
        _words(expanded(description, "arguments")),
    )


def _words(arguments: str) -> list[str]:
    """Arguments in either syntax; none if their quotes do not match."""
    try:
        return parse_quoted(arguments) if arguments.startswith('"') else arguments.split()
    except ValueError:
        return []


def _sizes(paths: list[str], initial: str, root: str) -> Iterator[tuple[str, int]]:
    """Sizes of those that are there, by paths from the DAG's directory if they are in it."""
    for path in paths:
        whole = os.path.abspath(os.path.join(initial, path.strip()))
        if path.strip() and os.path.isfile(whole):
            inside = os.path.relpath(whole, root)
            yield (whole if inside.startswith("..") else inside), os.path.getsize(whole)
