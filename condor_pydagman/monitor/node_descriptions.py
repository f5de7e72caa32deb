"""What submit descriptions of nodes say, as they are now."""

from __future__ import annotations

import os
import re

from condor_pydagman.adapters.files import read_text
from condor_pydagman.adapters.followed_files import Followed, owner_of, text_of_node
from condor_pydagman.config import Config
from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import SubmitDescription, template_of
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.records.job_description import AtSubmission, Workflow, describe
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
    return describe(dag, node, template_of(text), workflow, AtSubmission(attempt))


class SubmittedOnHold:
    """Which jobs are on hold from their submission on (`hold = true`); the schedd writes no event
    of that."""

    def __init__(self, found: FoundDag, dag: Dag) -> None:
        self._found, self._dag = found, dag
        # by file: the value of `hold`, '' if it says nothing for sure; when the file was changed
        self._files: dict[tuple[str, str], tuple[str, float]] = {}
        self._last = (-1, SubmitDescription(""))  # node, and its description

    def __call__(self, node: int, proc: int, submitted: float) -> bool:
        """Whether a proc of the node is, that was submitted at that time."""
        dag = self._dag
        file = dag.directories.get(node, ""), dag.submits[node]
        if file not in self._files:
            if len(self._files) >= MAX_FILES:
                return False
            self._files[file] = self._command(node)
        value, changed = self._files[file]
        if changed > submitted + 1:  # nobody knows what it said then
            return False
        return self._is_held(node, proc) if "$" in value else _is_true(value)

    def _command(self, node: int) -> tuple[str, float]:
        text, changed = self._text(node)
        if _HOLD.search(text) is None:
            return "", changed
        said = SubmitDescription(text)
        value = said.values.get("hold", "")
        is_known = said.is_plain and not ("$" in value and len(text) > MAX_VARYING_BYTES)
        return value if is_known else "", changed

    def _text(self, node: int) -> tuple[str, float]:
        """A node's description, '' if it has none to be read; and when its file was changed."""
        dag, name = self._dag, self._dag.submits[node]
        if name in dag.descriptions or not name or dag.kinds[node] == NodeKind.SUBDAG:
            return dag.descriptions.get(name, ""), 0.0
        path = os.path.join(self._found.directory, dag.directories.get(node, ""), name)
        try:
            known = os.stat(path)
            is_long = known.st_size > MAX_DESCRIPTION_BYTES
            return "" if is_long else read_text(path), known.st_mtime
        except (PydagmanError, OSError):
            return "", 0.0

    def _is_held(self, node: int, proc: int) -> bool:
        if self._last[0] != node:
            try:
                text = _described(self._text(node)[0], self._dag, node, 0, self._found)
            except PydagmanError:
                text = ""
            self._last = node, SubmitDescription(text)
        said = self._last[1]
        own = dict.fromkeys(_PROC, str(proc))
        value = said.getter({**own, **said.values})("hold")
        return said.is_plain and value is not None and _is_true(value)


def _is_true(value: str) -> bool:
    return value.strip().strip('"').lower() in _TRUE
