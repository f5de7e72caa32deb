"""Findings about the files that a DAG needs: submit files, scripts, DAG files of sub-DAGs, CONFIG.

A file that is missing now may be written by a node that runs earlier, or by the node's PRE script.
Only what is missing for a node that nothing can run before is an error.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Sequence

from condor_pydagman.config import Config
from condor_pydagman.errors import FileError
from condor_pydagman.feature_table import own
from condor_pydagman.features.common.first_nodes import FirstNodes
from condor_pydagman.graph.model import DONE, JOIN, NOOP, Dag
from condor_pydagman.language.commands import ConfigFile
from condor_pydagman.language.hints import odd_character
from condor_pydagman.language.parser import CommandReader, Reading
from condor_pydagman.lint.findings import FileKind, Findings, Severity, World, nodes_named
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths, is_in_slash_tmp
from condor_pydagman.vocabulary import NodeKind, ScriptKind

SUBMIT_FILE = "DAG301"
MAY_COME = "an earlier node or a PRE script may still create it"
NO_PATH = "DAGMan looks for it in the directory of the DAG, never in PATH"
_ONE_CONFIG = "all DAG files together can have only one configuration file"


class _Use(NamedTuple):
    """Nodes that name the same file."""

    node: int  # the first of them
    nodes: int
    first: int | None  # one that nothing runs before


class _Uses:
    """Which nodes name which files."""

    def __init__(self) -> None:
        self._uses: dict[tuple[str, ...], _Use] = {}

    def add(self, key: tuple[str, ...], node: int, first: bool) -> None:
        """`node` names the file `key`; `first` if nothing can run before it does."""
        use = self._uses.get(key, _Use(node, 0, None))
        earliest = node if first and use.first is None else use.first
        self._uses[key] = _Use(use.node, use.nodes + 1, earliest)

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], _Use]]:
        return iter(self._uses.items())


def check_files(dag: Dag, world: World, findings: Findings) -> None:
    """Look for every file that a node needs, once."""
    firsts = FirstNodes(dag)
    _submit_files(dag, world, findings, firsts)
    _scripts(dag, world, findings, firsts)
    checks = (own(name, "lint", "check_programs") for name in dag.features)
    for check in filter(None, checks):
        check(dag, world, findings)
    _subdags(dag, world, findings, firsts)
    _written_by_dagman(dag, world, findings)
    if dag.files:
        _slash_tmp(DagPaths(world.absolute(dag.files[0])), dag.files[0], world, findings)


def _slash_tmp(paths: DagPaths, file: str, world: World, findings: Findings) -> None:
    """Whether DAGMan would refuse the place of the nodes log."""
    if not is_in_slash_tmp(paths.nodes_log("")):
        return
    config = world.config() or Config()  # which takes long to read
    if config.avoid_slash_tmp and is_in_slash_tmp(paths.nodes_log("", config.default_node_log)):
        message = f"{file} is in /tmp, where DAGMan refuses to keep its log"
        findings.add("DAG306", message, place=file)


def _submit_files(dag: Dag, world: World, findings: Findings, firsts: FirstNodes) -> None:
    uses = _Uses()
    for node, submit in enumerate(dag.submits):
        if dag.flags[node] & (DONE | NOOP | JOIN) or submit in dag.descriptions:
            continue
        if node not in dag.subdags and dag.kinds[node] != NodeKind.SUBDAG:
            uses.add((dag.directories.get(node, ""), submit), node, firsts.job_is_first(node))
    for (directory, submit), use in uses:
        kind = world.kind(os.path.join(directory, submit))
        what = "request file" if dag.kinds[use.node] == NodeKind.DATA else "submit file"
        if kind is FileKind.MISSING:
            hint = _likely(dag, world, directory, use)
            _missing(dag, findings, SUBMIT_FILE, f"{what} {submit}", directory, use, hint=hint)
        elif kind is FileKind.OTHER:
            message = (
                f"{what} {submit} of {nodes_named(dag, use.node, use.nodes)} is not a regular file"
            )
            findings.of_node("DAG307", dag, use.node, message)


def _likely(dag: Dag, world: World, directory: str, use: _Use) -> str:
    """What is probably wrong with the name of a file that is not there; '' if that is not known."""
    name, submit = dag.names[use.node], dag.submits[use.node]
    if use.nodes == 1 and world.kind(os.path.join(directory, name)) is not FileKind.MISSING:
        return f"{name} is a file: the name of the node comes first, as in JOB {submit} {name}"
    return "" if submit.isascii() else odd_character(submit)


def _scripts(dag: Dag, world: World, findings: Findings, firsts: FirstNodes) -> None:
    uses = _Uses()
    for node, scripts in dag.scripts.items():
        if dag.flags[node] & DONE:
            continue
        for kind, script in scripts.items():
            words = script.command.split(None, 1)
            if words and "$" not in words[0]:
                first = kind is ScriptKind.PRE and firsts.starts_first(node)
                uses.add((dag.directories.get(node, ""), words[0], kind.value), node, first)
    for (directory, program, which), use in uses:
        found = world.kind(os.path.join(directory, program))
        what = f"{which} script {program}"
        command = ("SCRIPT", which, dag.names[use.node])
        if found is FileKind.MISSING:
            _missing(dag, findings, "DAG302", what, directory, use, command)
        elif found is not FileKind.EXECUTABLE:
            message = f"{what} of {nodes_named(dag, use.node, use.nodes)} can't be executed"
            severity = Severity.WARNING if use.first is None else None
            hint = "it is not a regular file" * (found is FileKind.OTHER)
            findings.of_node(
                "DAG303", dag, use.node, message, *command, severity=severity, hint=hint
            )


def _subdags(dag: Dag, world: World, findings: Findings, firsts: FirstNodes) -> None:
    uses = _Uses()
    for node, file in dag.subdags.items():
        if not dag.flags[node] & (DONE | NOOP):
            uses.add((dag.directories.get(node, ""), file), node, firsts.job_is_first(node))
    for (directory, file), use in uses:
        if world.kind(os.path.join(directory, file)) is FileKind.MISSING:
            late = Severity.INFO  # writing the DAG file late is what most sub-DAGs are for
            _missing(dag, findings, "DAG304", f"DAG file {file}", directory, use, late=late)


def _written_by_dagman(dag: Dag, world: World, findings: Findings) -> None:
    named = {
        "JOBSTATE_LOG": dag.jobstate_log,
        "NODE_STATUS_FILE": dag.status_file.file if dag.status_file else "",
        "DOT": dag.dot.file if dag.dot else "",
    }
    for word, file in named.items():
        directory = os.path.dirname(file)
        if directory and not world.is_directory(directory):
            message = f"{word} names {file}, and there is no directory {directory}"
            findings.add("DAG319", message, words=(word, ""))


def _missing(
    dag: Dag,
    findings: Findings,
    code: str,
    what: str,
    directory: str,
    use: _Use,
    words: tuple[str, ...] = (),
    late: Severity = Severity.WARNING,
    hint: str = "",
) -> None:
    """A finding about a file that does not exist; `late` if something may still create it."""
    node = use.node if use.first is None else use.first
    where = f" in {directory}" if directory else ""
    message = f"{what} of {nodes_named(dag, node, use.nodes)} does not exist{where}"
    if words:
        words = (*words[:-1], dag.names[node])
    severity = None
    if use.first is None:
        severity = late
        hint = hint or f"{MAY_COME}; otherwise check its name and the node's DIR"
    findings.of_node(code, dag, node, message, *words, severity=severity, hint=hint)


def check_config(
    files: Sequence[str], world: World, findings: Findings, *, use_dag_dir: bool
) -> None:
    """Look for the CONFIG file, as condor_submit_dag does: in these files, not in their splices."""
    first = where = ""
    for file in files:
        directory = os.path.dirname(file) if use_dag_dir else ""
        for command in _config_lines(file, world):
            place, name = f"{file}:{command.line}", os.path.join(directory, command.file)
            if world.is_directory(name):
                message = f"configuration file {name} is a directory"
                findings.add("DAG308", message, place=place)
            elif world.kind(name) is FileKind.MISSING:
                findings.add("DAG308", f"configuration file {name} does not exist", place=place)
            elif first and name != first:
                message = f"CONFIG names {name}, but {where} names {first}"
                findings.add("DAG308", message, place=place, hint=_ONE_CONFIG)
            if not first:
                first, where = name, place


def _config_lines(file: str, world: World) -> list[ConfigFile]:
    reading = Reading(file, words=("CONFIG",))  # its errors are found elsewhere
    try:
        blocks = world.read_blocks(file)
        found = list(CommandReader(blocks, reading, in_bulk=True).commands())
    except (OSError, FileError):
        return []
    return [command for command in found if isinstance(command, ConfigFile)]
