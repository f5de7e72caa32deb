"""The files that submit descriptions say are transferred, as far as they are there."""

from __future__ import annotations

import os
from collections.abc import Iterator

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.node_descriptions import description_of
from condor_pydagman.report.wfformat import NO_FILES, TaskFiles

MAX_NODES = 10_000  # each takes some tenths of a millisecond
_INPUT, _OUTPUT = "transfer_input_files", "transfer_output_files"


def transferred_files(found: FoundDag, dag: Dag) -> dict[str, TaskFiles]:
    """Of each node that has any, by its name; {} for a DAG of more than MAX_NODES."""
    if len(dag) > MAX_NODES:
        return {}
    told = {dag.names[node]: _files(found, dag, node) for node in range(len(dag))}
    return {name: files for name, files in told.items() if files != NO_FILES}


def _files(found: FoundDag, dag: Dag, node: int) -> TaskFiles:
    if node in dag.subdags or not dag.submits[node]:
        return NO_FILES
    directory = os.path.join(found.directory, dag.directories.get(node, ""))
    try:
        with working_directory(directory):
            text = description_of(dag, node, 0, found)
            if _INPUT not in text.lower() and _OUTPUT not in text.lower():
                return NO_FILES
            return _of_description(text, found.directory)
    except (PydagmanError, OSError, ImportError):  # without the bindings
        return NO_FILES


def _of_description(text: str, root: str) -> TaskFiles:
    from condor_pydagman.adapters.descriptions import expanded, parse

    description = parse(text)
    initial = expanded(description, "initialdir")
    inputs, outputs = (expanded(description, name).split(",") for name in (_INPUT, _OUTPUT))
    outputs = [os.path.basename(path.strip()) for path in outputs]  # where they come back to
    return TaskFiles(dict(_sizes(inputs, initial, root)), dict(_sizes(outputs, initial, root)))


def _sizes(paths: list[str], initial: str, root: str) -> Iterator[tuple[str, int]]:
    """Sizes of those that are there, by paths from the DAG's directory if they are in it."""
    for path in paths:
        whole = os.path.abspath(os.path.join(initial, path.strip()))
        if path.strip() and os.path.isfile(whole):
            inside = os.path.relpath(whole, root)
            yield (whole if inside.startswith("..") else inside), os.path.getsize(whole)
