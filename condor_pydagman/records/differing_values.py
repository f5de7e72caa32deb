"""Which lines of a submit description may differ between the procs of one cluster.

HTCondor makes the cluster's ad of the first proc, and the ad of each further one out of what its
description says.  That differs from the ad in a cluster of its own if a command has no value for
one of the procs: it has the first one's value then.  And HTCondor reads some commands for the first
proc only (`getenv`, `universe`, `docker_image`), or adds to what the first one has (`environment`).
So a line may differ if its command is one of those known not to be of that kind, and has a value
for each proc.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from condor_pydagman.records.job_description import statements
from condor_pydagman.records.submit_values import NOTHING

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
    assignments = list(_assignments(text))
    words = [(key, value, set(re.findall(r"[\w.]+", value.lower()))) for key, value in assignments]
    while True:
        before = len(differ)
        for key, value, used in words:
            if key not in differ and "$" in value and _depends(value, used, differ):
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


def _depends(value: str, used: set[str], differ: Mapping[str, bool]) -> bool:
    return not used.isdisjoint(differ) or "$random" in value.lower()


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


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    lines = text.split("\n")
    for start, end in statements(lines):
        statement = " ".join(line.rstrip().rstrip("\\") for line in lines[start:end])
        key, equals, value = statement.partition("=")
        if equals and not key.lstrip().startswith("#"):
            yield key.strip().lower(), value
