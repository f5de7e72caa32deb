"""What submit descriptions of nodes say, as they are now."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters.files import read_text
from condor_pydagman.adapters.followed_files import Followed, owner_of, text_of_node
from condor_pydagman.config import Config
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.language import submit_file
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import AtSubmission, Workflow, describe, split
from condor_pydagman.vocabulary import NodeKind

MAX_DESCRIPTION_BYTES = 1 << 20
MAX_FILES = 1000  # that are looked into for `hold`
MAX_VARYING_BYTES = 16_384  # of a description whose `hold` is not the same for all jobs
_HOLD = re.compile(r"^[ \t]*hold[ \t]*=", re.I | re.M)
_PROC = ("process", "procid")
_TRUE = ("true", "1")


def description_of(dag: Dag, node: int, attempt: int, found: FoundDag) -> Followed:
    """The submit description of a node, in whose directory one is.

    Raises:
        FileError, OSError: it can't be read.
    """
    of_dag = owner_of(os.path.join(found.directory, dag.files[0]))
    text, owner = text_of_node(dag, node, of_dag)
    return Followed(_described(text, dag, node, attempt, found), owner)


def _described(text: str, dag: Dag, node: int, attempt: int, found: FoundDag) -> str:
    workflow = Workflow(found.cluster, found.nodes_log, Config())
    return describe(dag, node, split(text), workflow, AtSubmission(attempt))


def _text_of(dag: Dag, node: int, directory: str) -> str:
    name = dag.submits[node]
    text = dag.descriptions.get(name)
    if text is not None:
        return text
    path = os.path.join(directory, name)
    return read_text(path) if os.path.getsize(path) <= MAX_DESCRIPTION_BYTES else ""


class SubmittedOnHold:
    """Which jobs are on hold from their submission on (`hold = true`); the schedd writes no event
    of that."""

    def __init__(self, found: FoundDag, dag: Dag) -> None:
        self._found, self._dag = found, dag
        self._files: dict[tuple[str, str], _HoldCommand] = {}
        self._last = (-1, submit_file.parse(""))  # node, and its description

    def __call__(self, node: int, proc: int, submitted: float) -> bool:
        """Whether a proc of the node is, that was submitted at that time."""
        dag = self._dag
        file = dag.directories.get(node, ""), dag.submits[node]
        command = self._files.get(file)
        if command is None:
            if len(self._files) >= MAX_FILES:
                return False
            command = self._files[file] = self._command(node)
        if command.changed > submitted + 1:  # nobody knows what it said then
            return False
        return self._is_held(node, proc) if command.is_held is None else command.is_held

    def _directory(self, node: int) -> str:
        return os.path.join(self._found.directory, self._dag.directories.get(node, ""))

    def _command(self, node: int) -> _HoldCommand:
        dag, directory = self._dag, self._directory(node)
        if dag.kinds[node] == NodeKind.SUBDAG or not dag.submits[node]:
            return _NOT_HELD
        try:
            text = _text_of(dag, node, directory)
            if _HOLD.search(text) is None:
                return _NOT_HELD
            is_in_dag = dag.submits[node] in dag.descriptions
            path = os.path.join(directory, dag.submits[node])
            changed = 0.0 if is_in_dag else os.path.getmtime(path)
        except (PydagmanError, OSError):
            return _NOT_HELD
        said = submit_file.parse(text)
        value = said.values.get("hold", "")
        if not said.plain or ("$" in value and len(text) > MAX_VARYING_BYTES):
            return _NOT_HELD
        return _HoldCommand(None if "$" in value else _is_true(value), changed)

    def _is_held(self, node: int, proc: int) -> bool:
        if self._last[0] != node:
            try:
                text = _text_of(self._dag, node, self._directory(node))
                text = _described(text, self._dag, node, 0, self._found)
            except (PydagmanError, OSError):
                text = ""
            self._last = node, submit_file.parse(text)
        said = self._last[1]
        own = dict.fromkeys(_PROC, str(proc))
        value = submit_file.expand(
            said.values.get("hold", ""),
            lambda name: said.values.get(name, own.get(name)),
            (submit_file.SET | said.loops).__contains__,
        )
        return said.plain and value is not None and _is_true(value)


class _HoldCommand(NamedTuple):
    """The command `hold` of a description: whether its jobs are held, None if that differs; and
    when its file was changed."""

    is_held: bool | None
    changed: float = 0.0


_NOT_HELD = _HoldCommand(is_held=False)


def _is_true(value: str) -> bool:
    return value.strip().strip('"').lower() in _TRUE
