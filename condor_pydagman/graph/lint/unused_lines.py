"""Unused lines of a submit description; most are typing errors.

The bindings do not tell which lines were used, so it is found out here: a line is used if its name
is a command that counts in such a job (`submit_commands`), or a macro that something in use refers
to.  Used by condor_submit_dag, condor_dag_checker and condor_dagman.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from condor_pydagman.graph.lint.macro_references import references
from condor_pydagman.graph.lint.statement_names import ReadFile, used_by_statements
from condor_pydagman.graph.lint.submit_commands import (
    ALWAYS,
    BESIDE,
    BY_UNIVERSE,
    SILENT,
    WITHOUT_SHELL,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import SHARED_VARIABLE

MISSPELLED = {"request_cpu": "request_cpus", "request_gpu": "request_gpus"}

_QUEUE = re.compile(r"(.*?)\b(?:in|from|matching)\b", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
# Most descriptions have no statements that use macros, nor values that refer to themselves.
_STATEMENT = re.compile(
    r"^[^\S\n]*(?:(?:if|include|warning|error|use)\b(?!\s*=)|(\w+)[^\S\n]*=[^\n]*\$\(\1[):])",
    re.IGNORECASE | re.MULTILINE,
)
_UNIVERSE_KEYS = ("universe", "jobuniverse")
# Values of these are used up elsewhere: by credentials, or by a container's port.
_BY_FORM = re.compile(
    r"\w+_oauth_(?:permissions|resource)\w*|\w+_container_port|ec2_tag_(?!names$)\w+"
)


class Unused(NamedTuple):
    """An unused line, or (`value` is None) a variable of the queue statement."""

    name: str
    value: str | None

    def message(self, by: str) -> str:
        """The sentence of stock's tools; `by` is condor_submit or DAGMAN."""
        if self.value is None:
            return f"the Queue variable '{self.name}' was unused by {by}. Is it a typo?"
        return f"the line '{self.name} = {self.value}' was unused by {by}. Is it a typo?"


def unused_lines(
    values: Mapping[str, str],
    queue: str = "",
    text: str = "",
    read_file: ReadFile = lambda path: None,
) -> list[Unused]:
    """The unused lines of a description, in the order in which stock shows it: from Z to A.

    Args:
        values: value of each line's key, as it is written; keys in any case.
        queue: what follows the word `queue`.
        text: the whole description, for macros that only its statements (`if`, ...) use.
        read_file: gives the text of a file that it includes, None if it can't be read.
    """
    telling = tuple(
        (key, value)
        for key, value in values.items()
        if "$" in value or key.lower() in _UNIVERSE_KEYS
    )
    stated = used_by_statements(text, read_file) if _STATEMENT.search(text) else frozenset()
    found = _unused(tuple(values), telling, queue, stated)
    return [Unused(name, values[name] if is_line else None) for name, is_line in found]


@lru_cache(maxsize=64)  # nodes of a DAG mostly differ in values alone, and not in these
def _unused(
    names: tuple[str, ...],
    telling: tuple[tuple[str, str], ...],
    queue: str,
    stated: frozenset[str],
) -> list[tuple[str, bool]]:
    """Names of what is unused, and whether each is that of a line (not of a queue variable).

    Args:
        names: keys of all lines.
        telling: the lines whose values tell something: by their macros, or the universe.
        stated: macros that statements use, in lower case.
    """
    values = dict(telling)
    variables = queue_variables(queue)
    taken = {name.lower() for name in variables}
    keys = {key.lower(): key for key in names if key.lower() not in taken}
    commands = _commands(frozenset(keys), _universe(values, keys))
    roots = [values.get(keys[key], "") for key in commands if key in keys]
    roots += [value for key, value in telling if key.lower().startswith(("my.", "+"))]
    used = commands | _reached([*roots, queue], keys, values) | stated
    found = [
        (name, True)
        for key, name in keys.items()
        if key not in used and key not in SILENT and "." not in key and not key.startswith("+")
    ]
    found += [
        (name, False)
        for name in variables
        if name.lower() not in used and not name.startswith(SHARED_VARIABLE)
    ]
    return sorted(found, key=lambda one: one[0].lower(), reverse=True)


def queue_variables(queue: str) -> list[str]:
    """The variables that a queue statement sets for each job."""
    found = _QUEUE.match(queue)
    if found is None:
        return []
    head = re.sub(r"\$\w*\([^()]*\)", " ", found[1])
    return _NAME.findall(head) or ["Item"]


def _universe(values: Mapping[str, str], keys: Mapping[str, str]) -> str:
    """As `BY_UNIVERSE` names it; `*` if that can't be told."""
    universe = next((values[keys[key]] for key in _UNIVERSE_KEYS if key in keys), "")
    if "$" in universe:
        return "*"
    universe = universe.strip().lower()
    return universe if universe in BY_UNIVERSE else ""


@lru_cache(maxsize=64)  # nodes of a DAG mostly have the same lines
def _commands(keys: frozenset[str], universe: str) -> frozenset[str]:
    """Keys that are commands which count."""
    if universe == "*":
        groups = [*ALWAYS, *(group for some in BY_UNIVERSE.values() for group in some)]
    else:
        groups = [*ALWAYS, *BY_UNIVERSE[universe]]
    for others, brought in BESIDE:
        if others & keys:
            groups += brought
    used = {name for group in groups for name in [_first(group, keys)] if name}
    if "shell" in keys:
        used -= WITHOUT_SHELL
    elif "executable" not in keys:
        used.add("cmd")
    return frozenset(used | {key for key in keys if _is_open_ended(key)})


def _first(group: Iterable[str], keys: frozenset[str]) -> str:
    return next((name for name in group if name in keys), "")


def _is_open_ended(key: str) -> bool:
    """Whether a key belongs to a family without end: a pool's own resources, and the like."""
    resource = key.startswith("request_") and key not in (*MISSPELLED, "request_gpu_memory")
    return resource or _BY_FORM.fullmatch(key) is not None


def _reached(roots: Iterable[str], keys: Mapping[str, str], values: Mapping[str, str]) -> set[str]:
    """Names that these values refer to, directly or by way of other macros."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        for name in references(value, keys.__contains__) - found:
            found.add(name)
            if name in keys:
                waiting.append(values.get(keys[name], ""))
    return found
