"""The last lines of files: what failed jobs have written to standard error, and scripts."""

from __future__ import annotations

import os

from condor_pydagman.adapters.files import open_ordinary, read_text, working_directory
from condor_pydagman.config import Config
from condor_pydagman.diagnosis.failed_nodes import Failure
from condor_pydagman.diagnosis.known_facts import Excerpt
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor import queue
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.printable import printable
from condor_pydagman.records.description_commands import may_run_commands
from condor_pydagman.records.job_description import Workflow, describe, split
from condor_pydagman.vocabulary import DagStatus, ScriptKind

MAX_LINES = 5
MAX_LINE_CHARS = 200
TAIL_BYTES = 4096
MAX_DESCRIPTION_BYTES = 1 << 20


def excerpt_of(failure: Failure, found: FoundDag, dag: Dag | None) -> Excerpt | None:
    """What the failed job or script of a node has written; None if no file of it is known."""
    node = dag.find(failure.node.name) if dag is not None else None
    if failure.cause in ("node.exit", "node.signal"):
        path = (
            _error_file(failure, found, dag, node) if dag is not None and node is not None else ""
        )
        if not path or not os.path.exists(path):
            path = _error_file_of_history(failure, found) or path
    elif failure.cause in ("node.pre", "node.post") and dag is not None and node is not None:
        path = _debug_file(failure, found, dag, node)
    else:
        return None
    return last_lines(path) if path else None


def last_lines(path: str) -> Excerpt:
    """The last lines of a file that somebody else may have made."""
    name = shown(path)
    try:
        with open_ordinary(path) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - TAIL_BYTES, 0))
            text = file.read(TAIL_BYTES).decode("utf-8", "surrogateescape")
    except PydagmanError:
        return Excerpt(name, problem="is not an ordinary file")
    except OSError as error:
        return Excerpt(name, problem=f"can't be read: {error.strerror}")
    lines = [line for line in text.split("\n") if line.strip()][-MAX_LINES:]
    return Excerpt(name, tuple(printable(line)[:MAX_LINE_CHARS] for line in lines))


def _error_file(failure: Failure, found: FoundDag, dag: Dag, node: int) -> str:
    """`error` of the node's submit description as it is now; '' if that can't be told."""
    attempt = failure.node.attempts[-1]
    try:
        with working_directory(os.path.join(found.directory, dag.directories.get(node, ""))):
            text = _description(dag, node, attempt.number, found)
            if not text:
                return ""
            path = _expanded_error(text, attempt.cluster, attempt.proc)
            return os.path.abspath(path) if path and path != os.devnull else ""
    except (PydagmanError, OSError, ImportError):  # without the bindings
        return ""


def _description(dag: Dag, node: int, attempt: int, found: FoundDag) -> str:
    """The submit description of a node; '' if reading it would run a command."""
    name = dag.submits[node]
    text = dag.descriptions.get(name)
    if text is None:
        if os.path.getsize(name) > MAX_DESCRIPTION_BYTES:
            return ""
        text = read_text(name)
    if may_run_commands(text):
        return ""
    workflow = Workflow(found.cluster, found.nodes_log, Config())
    return describe(
        dag, node, split(text), workflow, retry=attempt, dag_status=DagStatus.OK, failed_count=0
    )


def _expanded_error(text: str, cluster: int, proc: int) -> str:
    from condor_pydagman.adapters.descriptions import expanded, parse

    description = parse(text)
    for names, value in ((("Cluster", "ClusterId"), cluster), (("Process", "ProcId"), proc)):
        for name in names:
            description[name] = str(value)
    path = expanded(description, "error")
    return os.path.join(expanded(description, "initialdir"), path) if path else ""


def _error_file_of_history(failure: Failure, found: FoundDag) -> str:
    if found.schedd_problem or not failure.node.attempts[-1].cluster:
        return ""
    attempt = failure.node.attempts[-1]
    try:
        ad = queue.ended_job(attempt.cluster, attempt.proc, ("Err", "Iwd"), attempt.submitted)
    except PydagmanError:
        return ""
    path = str(ad.get("Err", ""))
    return os.path.join(str(ad.get("Iwd", "")), path) if path not in ("", os.devnull) else ""


def _debug_file(failure: Failure, found: FoundDag, dag: Dag, node: int) -> str:
    """The file that SCRIPT DEBUG names."""
    kind = ScriptKind.PRE if failure.cause == "node.pre" else ScriptKind.POST
    script = dag.script(node, kind)
    if script is None or not script.debug_file:
        return ""
    return os.path.join(found.directory, dag.directories.get(node, ""), script.debug_file)
