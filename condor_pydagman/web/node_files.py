"""The files that a node's jobs and scripts write: as its submit description names them now."""

from __future__ import annotations

import os
from collections.abc import Iterator

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.diagnosis.last_lines import output_of_worker
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.node_descriptions import description_of
from condor_pydagman.trace.run_history import Attempt
from condor_pydagman.vocabulary import ScriptKind

_COMMANDS = ("output", "error", "log")


def node_files(found: FoundDag, dag: Dag, node: int, attempt: Attempt | None) -> dict[str, str]:
    """Absolute paths by kind: `output`, `error`, `log`, and `script-pre`, `script-post`,
    `script-hold` for what SCRIPT DEBUG names.  They need not exist.

    Only for a process of one thread that depends on the working directory.

    Args:
        attempt: the files of whose first job are told; None if the node has not been started.
    """
    files = _of_job(found, dag, node, attempt)
    worker = output_of_worker(found, dag, node)
    if worker:
        files["output"] = worker
    return {**files, **dict(_of_scripts(found, dag, node))}


def _of_job(found: FoundDag, dag: Dag, node: int, attempt: Attempt | None) -> dict[str, str]:
    """None if the description can't be read, or reading it would run a command."""
    try:
        with working_directory(os.path.join(found.directory, dag.directories.get(node, ""))):
            text = description_of(dag, node, attempt.number if attempt else 0, found)
            return dict(_expanded(text, attempt)) if text else {}
    except (PydagmanError, OSError, ImportError, ValueError):  # without the bindings
        return {}


def _expanded(text: str, attempt: Attempt | None) -> Iterator[tuple[str, str]]:
    from condor_pydagman.adapters.descriptions import expanded, parse

    description = parse(text)
    cluster, proc = (attempt.cluster, attempt.proc) if attempt is not None else (0, 0)
    for names, value in ((("Cluster", "ClusterId"), cluster), (("Process", "ProcId"), proc)):
        for name in names:
            description[name] = str(value)
    directory = expanded(description, "initialdir")
    for command in _COMMANDS:
        path = expanded(description, command)
        if path and path != os.devnull:
            yield command, os.path.abspath(os.path.join(directory, path))


def _of_scripts(found: FoundDag, dag: Dag, node: int) -> Iterator[tuple[str, str]]:
    directory = os.path.join(found.directory, dag.directories.get(node, ""))
    for kind in ScriptKind:
        script = dag.script(node, kind)
        if script is not None and script.debug_file:
            yield f"script-{kind.name.lower()}", os.path.join(directory, script.debug_file)
