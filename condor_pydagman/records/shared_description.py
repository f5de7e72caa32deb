"""One submit description for several nodes: their jobs are the procs of one cluster.

The description is that of a single node, in which the lines that differ between the nodes have a
macro as their value; the items of the queue statement set these macros for each proc.  A job must
come out as it would from a cluster of its own, so a description is shared only if nothing in it
depends on the number of its cluster or proc, or is read before the items are (`if`, `include`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.differing_values import have_same_form, may_differ
from condor_pydagman.records.job_description import Template
from condor_pydagman.vocabulary import SHARED_CLUSTER, SHARED_VARIABLE

_NOTE = f"submit_event_user_notes = {SHARED_CLUSTER}\n"
_ITEM_SEPARATOR = "\x1f"
_PLAIN_QUEUE = re.compile(r"\s*queue(?:\s+1)?\s*", re.I)
# Macros and attributes with the number of the job, and macros that a queue statement sets.
_NUMBERS = re.compile(
    r"\$\w*\(\s*(?:cluster|clusterid|process|procid|step|row|item|itemindex|node)\b"
    r"|\b(?:clusterid|procid|globaljobid|totalsubmitprocs)\b",
    re.I,
)
_JOB_ID = re.compile(r"\$\(cluster(?:id)?\)\.\$\(proc(?:ess|id)\)", re.I)
# Names of the job's files, which may be made of the numbers of both cluster and proc.
_FILE_NAME = re.compile(r"\s*(?:output|error|log)\s*=", re.I)
_CLUSTER = re.compile(r"\$\(\s*(?:cluster|clusterid)\s*\)", re.I)
_PROC = re.compile(r"\$\(\s*(?:process|procid)\s*\)", re.I)
# Statements that are obeyed while the description is read, and commands that are about a cluster.
_NOT_SHARED = re.compile(
    r"^\s*(?:(?:if|elif|else|endif)\b"
    r"|(?:include|use|error|warning)\b[^=\n]*:"
    r"|(?:my\.|\+)?\w*(?:common_?input|materialize)\w*\s*="
    r"|(?:max_idle|copy_to_spool|submit_event_user_notes|\+?JobUniverse|my\.JobUniverse)\s*="
    r"|universe\s*=(?!\s*(?:vanilla|scheduler|local|container|docker|grid|java|vm|\d+)\s*$))"
    r"|PYDAGMAN_"
    r"|@=",
    re.I | re.M,
)


class NodeLines(NamedTuple):
    """What DAGMan adds to a node's submit file: lines before the file's own, and after them."""

    before: str
    after: str


def is_shareable(template: Template) -> bool:
    """Whether nodes with this submit file may be submitted together, as far as the file says."""
    return not obstacle(template)


def obstacle(template: Template) -> str:
    """What in this submit file prevents that its nodes are submitted together; '' if nothing."""
    if len(template.parts) != 1:
        return "it has a queue statement between `if` and `endif`"
    ((body, queue),) = template.parts
    if not _PLAIN_QUEUE.fullmatch(queue):
        return f"its queue statement is neither `queue` nor `queue 1`: {queue.strip()}"
    return _obstacle(body)


def shared(template: Template, nodes: Sequence[NodeLines]) -> tuple[str, int]:
    """One description of the first of the nodes, as many as can share it; and how many that are: 1
    if the first two can't, 0 if what differs between them must be the same in a cluster.

    Args:
        template: for which `is_shareable` is true.
        nodes: at least one.
    """
    ((body, _),) = template.parts
    rows: list[list[str]] = []
    for node in nodes:
        lines = (node.before + node.after).split("\n")[:-1]
        if not _fits(lines, rows[0] if rows else None):
            break
        rows.append(lines)
    if len(rows) < 2:
        return "", 1
    differ = [place for place, values in enumerate(zip(*rows)) if len(set(values)) > 1]
    if not may_differ((_key(rows[0][place]) for place in differ), "\n".join([body, *rows[0]])):
        return "", 0
    text = _with_macros(rows[0], differ, body, nodes[0].before.count("\n"))
    names = ",".join(
        [f"{SHARED_VARIABLE}NUMBER", *(_macro(column) for column in range(len(differ)))]
    )
    items = "".join(
        _ITEM_SEPARATOR.join([str(number), *(_value(row[place]) for place in differ)]) + "\n"
        for number, row in enumerate(rows)
    )
    return f"{text}queue {names} from (\n{items})\n", len(rows)


def _obstacle(text: str) -> str:
    found = _NOT_SHARED.search(text)
    if found:
        line = text[text.rfind("\n", 0, found.end()) + 1 :].partition("\n")[0]
        return f"a line can't be in a description of several nodes: {line.strip()}"
    if _ITEM_SEPARATOR in text:
        return "it has a control character, which separates the values of nodes"
    if _NUMBERS.search(_JOB_ID.sub("", text)):
        for line in text.split("\n"):
            rest = _JOB_ID.sub("", line)
            if _NUMBERS.search(rest) and not _is_unique_name(rest):
                return f"a line depends on the number of cluster or proc: {line.strip()}"
    return ""


def _is_unique_name(line: str) -> bool:
    """Whether a line names a file by cluster and proc, and by no other number."""
    both = _CLUSTER.search(line) and _PROC.search(line)
    others = _NUMBERS.search(_PROC.sub("", _CLUSTER.sub("", line)))
    return bool(_FILE_NAME.match(line) and both and not others)


def _fits(lines: list[str], first: list[str] | None) -> bool:
    """Whether a node may have these lines in a description that it shares: they set the same
    commands as those of the `first` node (None: it is that one), in the same order."""
    if first is None:
        return not _obstacle("\n".join(lines))
    if len(lines) != len(first):
        return False
    differ = [(one, other) for one, other in zip(lines, first) if one != other]
    same_keys = all("=" in one and _key(one) == _key(other) for one, other in differ)
    if not same_keys or not all(
        have_same_form(_value(one), _value(other)) for one, other in differ
    ):
        return False
    return not _obstacle("\n".join(one for one, _ in differ))


def _with_macros(lines: list[str], differ: list[int], body: str, before: int) -> str:
    """The description of the first node, with macros in the lines in which the nodes differ."""
    columns = {place: column for column, place in enumerate(differ)}
    written = [
        f"{_key(line)}= $({_macro(columns[place])})\n" if place in columns else f"{line}\n"
        for place, line in enumerate(lines)
    ]
    return "".join([*written[:before], body, *written[before:], _NOTE])


def _key(line: str) -> str:
    return line.partition("=")[0]


def _value(line: str) -> str:
    return line.partition("=")[2].strip()


def _macro(column: int) -> str:
    """Name of the macro of a column; the language wants letters in the names of a queue
    statement."""
    letters = ""
    while True:
        column, letter = divmod(column, 26)
        letters = chr(ord("A") + letter) + letters
        if not column:
            return f"{SHARED_VARIABLE}{letters}"
        column -= 1
