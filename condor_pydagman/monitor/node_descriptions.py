"""What submit descriptions of nodes say, as they are now."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters.files import read_text
from condor_pydagman.config import Config
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.records.description_commands import may_run_commands
from condor_pydagman.records.job_description import Workflow, describe, split
from condor_pydagman.submitfile import submit_file
from condor_pydagman.vocabulary import DagStatus, NodeKind

MAX_DESCRIPTION_BYTES = 1 << 20
MAX_FILES = 1000  # that are looked into for `hold`
_HOLD = re.compile(r"^[ \t]*hold[ \t]*=", re.I | re.M)
_PROC = ("process", "procid")
_TRUE = ("true", "1")


def description_of(dag: Dag, node: int, attempt: int, found: FoundDag, directory: str = "") -> str:
    """The submit description of a node; '' if reading it would run a command.

    Args:
        directory: of the node; '' if one is there.
    """
    text = _text_of(dag, node, directory)
    if may_run_commands(text):
        return ""
    workflow = Workflow(found.cluster, found.nodes_log, Config())
    return describe(
        dag, node, split(text), workflow, retry=attempt, dag_status=DagStatus.OK, failed_count=0
    )


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
        self._files: dict[tuple[str, str], bool] = {}

    def __call__(self, node: int, proc: int) -> bool:
        """Whether a proc of the node is."""
        dag = self._dag
        file = dag.directories.get(node, ""), dag.submits[node]
        has_command = self._files.get(file)
        if has_command is None and len(self._files) < MAX_FILES:
            has_command = self._files[file] = self._has_command(node)
        if not has_command:
            return False
        try:
            text = description_of(dag, node, 0, self._found, self._directory(node))
            return _is_held(text, proc)
        except (PydagmanError, OSError):
            return False

    def _directory(self, node: int) -> str:
        return os.path.join(self._found.directory, self._dag.directories.get(node, ""))

    def _has_command(self, node: int) -> bool:
        dag = self._dag
        if dag.kinds[node] == NodeKind.SUBDAG or not dag.submits[node]:
            return False
        try:
            return _HOLD.search(_text_of(dag, node, self._directory(node))) is not None
        except (PydagmanError, OSError):
            return False


def _is_held(text: str, proc: int) -> bool:
    said = submit_file.parse(text)
    own = dict.fromkeys(_PROC, str(proc))
    value = submit_file.expand(
        said.values.get("hold", ""), lambda name: said.values.get(name, own.get(name))
    )
    return said.plain and value is not None and value.strip('"').lower() in _TRUE
