"""One submit description for several nodes: their jobs are the procs of one cluster.

The description is that of a single node, in which the lines that differ between the nodes have a
macro as their value; the items of the queue statement set these macros for each proc.  A job must
come out as it would from a cluster of its own, so a description is shared only if nothing in it
depends on the number of its cluster or proc, or is read before the items are (`if`, `include`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from condor_pydagman.language.description import NOTHING, Template, queue_arguments, statements
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import SHARED_CLUSTER, SHARED_VARIABLE

# Which lines of a submit description may differ between the procs of one cluster.
#
# HTCondor makes the cluster's ad of the first proc, and the ad of each further one out of what its
# description says.  That differs from the ad in a cluster of its own if a command has no value for
# one of the procs: it has the first one's value then.  And HTCondor reads some commands for the
# first proc only (`getenv`, `universe`, `docker_image`), or adds to what the first one has
# (`environment`). So a line may differ if its command is one of those known not to be of that kind,
# and has a value for each proc.

# Commands that HTCondor reads for each proc alone (25.14.1; tests/pool/test_together.py).
_MAY_DIFFER = {
    "arguments",
    "batch_name",
    "concurrency_limits",
    "dag_node_name",
    "description",
    "error",
    "initialdir",
    "log",
    "output",
    "priority",
    "rank",
    "request_cpus",
    "request_disk",
    "request_memory",
    "requirements",
    "submit_event_notes",
    "transfer_input_files",
    "transfer_output_files",
    "transfer_output_remaps",
}
# Macros that DAGMan sets, whether or not the file uses them.
_MACROS = {"job", "retry", "dag_status", "failed_count", "dag_parent_names"}
_COMMANDS = re.compile(
    r"acct|account|allowed_|append_|arc_|aws_|azure_|batch_|checkpoint_|concurrency|container_"
    r"|coresize|cron_|cuda_|dagman_|deferral|docker_|ec2_|email_|encrypt_|env(?:$|ironment)|erase_"
    r"|executable$|cmd$|gce_|getenv|get_env|gpus_|grid_|hold$|image_size|input$|in$|stdin|jar_|job_"
    r"|keep_|kill_|leave_|load_|log_|machine_|max_|nice|noop|notif|notify|on_exit|oauth|output_|out$"
    r"|parallel_|periodic|preserve|prefer|prio$|rank_|remote_|request_|require_|retry_until|run_as"
    r"|shell$|should_|skip_|stack_|starter_|stream_|success_|suspend|tool_|transfer_|universe|use_"
    r"|vm_|want_|when_|x509|jobprio$|args$|cwd$|iwd$",
    re.I,
)
# Attributes that HTCondor reads while it makes the ad, or also makes of such commands.
_ATTRIBUTES = re.compile(
    r"(?:my\.|\+)(?:acct|account|container|cron|deferral|docker|env|jobset|nice|should|stream"
    r"|transfer|want|when)",
    re.I,
)
_NO_VALUE = {"", "/dev/null", "undefined"}
_SCHEME = re.compile(r"[\w+-]+(?=://)")
_PART_OF_A_SCHEME = (":", ":/")
_REFERENCE = re.compile(r"\$\w*\([^()]*\)")
_PLAIN = re.compile(r"\$\((\w+)\)")


def have_same_form(one: str, other: str) -> bool:
    """Whether two nodes' values of a macro or command may be items of one queue statement.

    A value with macros may be empty or refer to itself; a quote in front selects another syntax.
    Each scheme of a URL selects a plugin, which HTCondor looks up for the first proc only.
    """
    values = [value.replace(NOTHING, "").strip() for value in (one, other)]
    if not all(_is_plain(value) for value in values):
        return False
    if set(_SCHEME.findall(one)) != set(_SCHEME.findall(other)):
        return False
    return values[0][:1] == values[1][:1] or '"' not in (values[0][:1], values[1][:1])


def may_differ(keys: Iterable[str], text: str) -> bool:
    """Whether the jobs are right if these keys have a different value for each proc.

    Args:
        keys: the left sides of lines that differ, each with a value of the same form.
        text: all lines of the description, without its queue statement.
    """
    differ = {key.strip().lower(): True for key in keys}  # and whether it surely has a value
    assigned = (one.assigned for one in statements(text))
    words = [
        (key, value, set(re.findall(r"[\w.]+", value.lower())))
        for key, value in filter(None, assigned)
    ]
    while True:
        before = len(differ)
        for key, value, used in words:
            depends = not used.isdisjoint(differ) or "$random" in value.lower()
            if key not in differ and "$" in value and depends:
                differ[key] = _has_value(value, differ)
        if len(differ) == before:
            break
    used_anywhere = set().union(
        *(used for key, value, used in words if "$" in value)  # keys do not use themselves
    )
    return all(_is_safe(key, sure, used_anywhere) for key, sure in differ.items())


def _is_plain(value: str) -> bool:
    if value.lower() in _NO_VALUE or value.endswith(_PART_OF_A_SCHEME):
        return False
    return "$" not in value.replace("$(DOLLAR)", "")


def _has_value(value: str, differ: Mapping[str, bool]) -> bool:
    """Whether a value is not empty, and no scheme of a URL depends on its macros."""
    if ")://" in value:
        return False
    rest = _REFERENCE.sub("", value).strip(" \t\"'")
    return bool(rest) or any(differ.get(name.lower()) for name in _PLAIN.findall(value))


def _is_safe(key: str, has_value: bool, used: set[str]) -> bool:
    if key in _MACROS:
        return True
    if key in _MAY_DIFFER or key.startswith(("my.", "+")):
        return has_value and not _ATTRIBUTES.match(key)
    return key in used and not _COMMANDS.match(key)


_NOTE = f"submit_event_user_notes = {SHARED_CLUSTER}\n"
_ITEM_SEPARATOR = "\x1f"
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


def obstacle(template: Template) -> str:
    """What in this submit file prevents that its nodes are submitted together; '' if nothing."""
    if len(template) != 1:
        return "it has a queue statement between `if` and `endif`"
    ((body, queue),) = template
    if queue_arguments(queue) not in ("", "1"):
        return f"its queue statement is neither `queue` nor `queue 1`: {queue.strip()}"
    return _obstacle(body)


def shared(template: Template, nodes: Sequence[NodeLines]) -> tuple[str, int]:
    """One description of the first of the nodes, as many as can share it; and how many that are: 1
    if the first two can't, 0 if what differs between them must be the same in a cluster.

    Args:
        template: in which there is no `obstacle`.
        nodes: at least one.
    """
    ((body, _),) = template
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
