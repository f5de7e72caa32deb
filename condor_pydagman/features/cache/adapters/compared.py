"""What the commands of a submit description come to, for CACHE to compare, however they are
written.

`values` is called in a confined process (`adapters.foreign_texts`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Set
from fnmatch import fnmatchcase

from condor_pydagman.adapters import descriptions
from condor_pydagman.adapters.described_jobs import fixed_jobs
from condor_pydagman.errors import PoolError
from condor_pydagman.features.cache.facts import digest
from condor_pydagman.language import submit_commands
from condor_pydagman.language.quoted_words import parse_arguments, parse_quoted

MAX_JOBS = 1000  # of a description; of more, the text is compared
SHAPE = ([str], dict, [str])  # of the answer of `values`
_MASK = "-"  # stands for what is ignored, wherever it is used
_END = "\0"  # of a word, which no description has
_OF_SERVICE = "_oauth_"  # within commands that begin with the name of a service
# What differs from run to run; and what chooses by it, so that only one side would be compared.
_VARIES = re.compile(
    r"\b(?:RETRY|SUBMIT_TIME|YEAR|MONTH|DAY)\b(?![ \t]*=)"
    r"|\$(?:ENV|RANDOM_CHOICE|RANDOM_INTEGER)\(",
    re.I,
)
_CHOOSES = re.compile(
    r"^[ \t]*(?:el)?if\b(?![ \t]+version\b)|\$(?:CHOICE|EVAL|SUBSTR)\(|\$\([^():\n]*\$", re.I | re.M
)
# Commands that do not count: where, when and how a job runs, who pays and who is told of it.
_DO_NOT_COUNT = """
accounting_group* allowed_* batch_id batch_name concurrency_limits* cron_* dag* deferral_*
description disk_usage email_attributes gpus_* hold hold_kill_sig image_size job_ad_* job_lease_*
job_machine_* job_max_* jobset keep_claim_idle kill_sig* leave_in_queue log log_xml match_list_*
max_* next_job_start_delay nice_user notification notify_user on_exit_hold* periodic_*
primary_unix_group priority project_name rank remove_kill_sig request_* require_gpus requirements
retry_* skip_filechecks starter_* stream_* submit_event_* ulog_* want_graceful_removal
"""
_GROUPS = (
    *submit_commands.ALWAYS,
    *(group for groups in submit_commands.BY_UNIVERSE.values() for group in groups),
    *(group for _, groups in submit_commands.BESIDE for group in groups),
)
# Commands that have the name of the attribute which they set; `log` sets UserLog, for one.
_ATTRIBUTES = ("rank", "requirements")
_OTHER_NAMES = {name: group[0] for group in _GROUPS for name in group[1:]}
DO_NOT_COUNT = {
    group[0]
    for group in _GROUPS
    if any(fnmatchcase(group[0], pattern) for pattern in _DO_NOT_COUNT.split())
}


def one_name(name: str) -> str:
    """A name of a submit description, in lower case; one for all that mean the same."""
    name = name.lower()
    attribute = name.removeprefix("my.").removeprefix("+")
    return f"+{attribute}" if attribute != name else _OTHER_NAMES.get(name, name)


def values(
    text: str, counts: Collection[str], ignores: Collection[str]
) -> tuple[list[str], dict[str, str], list[str]]:
    """The executables of the jobs; digests of what commands come to, by their names; and the words
    of the arguments of the first job.

    Args:
        counts, ignores: see `CachedNode`.

    Raises:
        PoolError: it makes too many jobs, or what they come to is not known before they run.
        what the bindings raise.
    """
    if _VARIES.search(text) and _CHOOSES.search(text):
        raise PoolError(
            "$(RETRY), $ENV, $RANDOM or the date may choose what counts", transient=False
        )
    description = descriptions.parse(text)
    ignored = set(map(one_name, ignores))
    for key in list(description.keys()):
        if one_name(key) in ignored:
            description[key] = _MASK  # also where others use it
    items, each = descriptions.queued(description)
    if len(items) * each > MAX_JOBS:
        raise PoolError(f"it makes more than {MAX_JOBS:,} jobs", transient=False)
    if len(items) > 1 and not any(items):  # the bindings read none of them then
        raise PoolError("one of its items is empty", transient=False)
    items = [{k: v for k, v in one.items() if one_name(k) not in ignored} for one in items]
    keys = [*description.keys(), *(items[0] if items else ())]
    names = _names(keys, {*map(one_name, counts)}, ignored)
    found: dict[str, list[str]] = {name: [] for name in names}
    for job in fixed_jobs(description, items, each, range(len(items) * each)):
        for name, key in names.items():
            found[name].append(_plain(name, descriptions.expanded(job, key)))
    one_for_all = {name: of if len({*of}) > 1 else of[:1] for name, of in found.items()}
    digests = {name: digest(of) for name, of in one_for_all.items() if any(of)}
    if items != [{}] or each != 1:
        digests["queue"] = digest([each, items])
    words = (found.get("arguments") or [""])[0].split(_END)[:-1]
    return [*filter(None, dict.fromkeys(found.get("executable", ())))], digests, words


def _names(keys: Iterable[str], counts: Set[str], ignored: Collection[str]) -> Mapping[str, str]:
    """The keys of commands that count, by their names; of several with one name the first one."""
    found: dict[str, str] = {}
    for key in sorted(keys, key=lambda key: key.lower() in _OTHER_NAMES):
        name = one_name(key)
        attribute = name[1:] if name[0] == "+" else ""
        command = attribute if attribute in _ATTRIBUTES else _OTHER_NAMES.get(attribute, name)
        is_known = bool(attribute) or key.lower() in submit_commands.ALL or _OF_SERVICE in name
        is_left_out = not is_known or command in DO_NOT_COUNT or name in ignored
        if not is_left_out or not counts.isdisjoint((name, command)):
            found.setdefault(name, key)
    return found


def _plain(name: str, value: str) -> str:
    """A value without what makes no difference: how words are quoted, the order of variables."""
    if name == "universe":
        return "" if value.lower() in ("vanilla", "5") else value.lower()
    if name.endswith("_files"):
        return ",".join(filter(None, map(str.strip, value.split(","))))
    if name not in ("arguments", "environment"):
        return value
    words = _words(name, value)
    if name == "environment":
        words = sorted({word.partition("=")[0]: word for word in words}.values())
    return "".join(word + _END for word in words)


def _words(name: str, value: str) -> list[str]:
    """The words of arguments, or the variables of an environment, as condor_submit splits them.

    Raises:
        ValueError: the quotes don't match.
    """
    if name == "arguments":
        return parse_arguments(value)
    if value.startswith('"'):
        return parse_quoted(value)
    return [word for part in value.split(";") if (word := part.lstrip(" \t\r\n"))]
