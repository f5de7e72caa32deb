"""jobstate.log: a line for everything that happens to a node, for workflow systems above DAGMan.

The file is only ever appended to.  A restart replays old events, so what is there already must be
known: see `History`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from condor_pydagman.engine.actions import JobState
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

_INTERNAL = "INTERNAL"
_DEFAULT_TAG = "+pegasus_site"
_TAG_NAME = "+job_tag_name"
_NUMBER = re.compile("[0-9]{1,18}")
_MAYBE = re.compile("pegasus_site|tag_name", re.I)


class History(NamedTuple):
    """What an existing file says: enough to continue its numbers and to write no line twice."""

    sequence: int = 0  # highest sequence number, 0 if none
    newest: int = 0  # newest time stamp of a line about a node, 0 if none
    at_newest: frozenset[str] = frozenset()  # the lines with that time stamp

    def has(self, line: str) -> bool:
        """Whether a line that recovery wants to write is in the file already."""
        text = line.rstrip("\n")
        stamp = int(text.split(" ", 1)[0])
        return stamp < self.newest or (stamp == self.newest and text in self.at_newest)


def read(lines: Iterable[str]) -> History:
    """Take in an existing file.  Lines that make no sense (a torn last one) are passed over."""
    sequence, newest = 0, 0
    at_newest: set[str] = set()
    for line in lines:
        words = line.split()
        if len(words) < 6 or words[1] == _INTERNAL:
            continue
        if not (_NUMBER.fullmatch(words[0]) and _NUMBER.fullmatch(words[-1])):
            continue
        stamp = int(words[0])
        sequence = max(sequence, int(words[-1]))
        if stamp > newest:
            newest = stamp
            at_newest.clear()
        if stamp == newest:
            at_newest.add(line.rstrip("\n"))
    return History(sequence, newest, frozenset(at_newest))


def node_line(dag: Dag, state: JobState, tag: str = "") -> str:
    """`<epoch> <node> <event> <job> <tag> - <sequence>`, newline included."""
    return (
        f"{int(state.time)} {dag.names[state.node]} {state.event} {state.job or '-'}"
        f" {tag or '-'} - {state.sequence}\n"
    )


def started(now: float, cluster: int, proc: int) -> str:
    """The line for the start of DAGMan; its own job id is -1.-1 if it is no job."""
    return _internal(now, f"DAGMAN_STARTED {cluster}.{proc}")


def finished(now: float, exit_code: int) -> str:
    """The line for every orderly end of DAGMan."""
    return _internal(now, f"DAGMAN_FINISHED {exit_code}")


def recovery_started(now: float) -> str:
    """The line for the start of recovery."""
    return _internal(now, "RECOVERY_STARTED")


def recovery_finished(now: float) -> str:
    """The line for the end of recovery."""
    return _internal(now, "RECOVERY_FINISHED")


def job_tag(submit_text: str) -> str:
    """The tag of a node's lines: value of the submit command that `+job_tag_name` names.

    Without `+job_tag_name` that command is `+pegasus_site`; '' if the file does not have it, or
    with a macro in its value: as in stock, nothing is expanded.
    """
    if not _MAYBE.search(submit_text):
        return ""
    commands: dict[str, str] = {}
    for line in submit_text.replace("\\\n", "").split("\n"):
        key, mark, value = line.partition("=")
        if mark and "$(" not in value and not line.lstrip().startswith("#"):
            commands[key.strip().lower()] = value.strip().strip('"')
    name = commands.get(_TAG_NAME, _DEFAULT_TAG).lower()
    return commands.get(name, "")


class Tags:
    """The job tags of a DAG's nodes; each submit description is looked at once.

    Args:
        submit_text: gives the text of a node's submit description, '' if it can't be read.
    """

    def __init__(self, dag: Dag, submit_text: Callable[[int], str]) -> None:
        self._dag = dag
        self._submit_text = submit_text
        self._known: dict[tuple[str, str], str] = {}

    def of(self, node: int) -> str:
        """Tag for `node_line`, '' if the node has none."""
        key = (self._dag.directories.get(node, ""), self._dag.submits[node])
        tag = self._known.get(key)
        if tag is None:
            tag = self._known[key] = job_tag(self._submit_text(node))
        return tag


def _internal(now: float, text: str) -> str:
    return f"{int(now)} {_INTERNAL} *** {text} ***\n"
