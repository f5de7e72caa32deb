"""What HTCondor's submit language warns of in a description: unused lines, and others.

The texts are HTCondor's; the bindings do not return them, nor which lines were used.  So that is
found out here: a line is used if its name is a command that counts in such a job
(`submit_commands`), or a macro that something in use refers to.  Used by condor_submit_dag,
condor_dag_checker and condor_dagman.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Optional

from condor_pydagman.language.description import (
    SET,
    SPECIAL,
    Queue,
    Statement,
    expand,
    references,
    statements,
)
from condor_pydagman.language.submit_commands import (
    ALWAYS,
    BESIDE,
    BY_UNIVERSE,
    SILENT,
    WITHOUT_SHELL,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import SHARED_VARIABLE

# Which macros the statements of a submit description use: `if`, `elif`, `include`, `warning`, ...
#
# A statement uses a macro if it is read, which one in a branch that is not taken is not, and if the
# macro is set by then, which one that VARS ... APPEND sets is not.  So the description is followed
# line by line as HTCondor does.  What can't be told here (the output of an included command, a
# comparison of versions) counts as possible: a macro is rather taken for used than the other way
# round.

MAX_INCLUDED_FILES = 50

_DEFINED = re.compile(r"defined\b\s*(.*)", re.I | re.S)
_WORD = re.compile(r"\w+")
_TRUE, _FALSE = ("true", "t", "yes", "y"), ("false", "f", "no", "n")

# The text of an included file; None if it can't be read.
ReadFile = Callable[[str], Optional[str]]
# How far a condition is true: 1 or 0, and between them what can't be told.
_PERHAPS = 0.5


class _Reader:
    def __init__(self, read_file: ReadFile) -> None:
        self.used: set[str] = set()
        self._values: dict[str, str | None] = {}  # None: set, but it can't be told to what
        self._all_told = True  # whether what is not in _values is not set
        # of each `if` that is open: whether its present branch is read, and whether one has been
        self._branches: list[tuple[float, float]] = []
        self._read_file = read_file
        self._files_left = MAX_INCLUDED_FILES

    def follow(self, text: str) -> None:
        """Read a description, with the lines that DAGMan adds, up to its queue statement."""
        for one in statements(text):
            if one.queue is not None:
                if self._live == 1:
                    return
            elif one.word:
                self._obey(one)
            else:
                self._assign(one)

    @property
    def _live(self) -> float:
        """Whether the next line is read."""
        return min((live for live, _ in self._branches), default=1)

    def _assign(self, statement: Statement) -> None:
        if statement.assigned is None or not self._live:
            return
        name, value = statement.assigned
        can_be_told = self._live == 1 and not statement.tag
        if not statement.tag and name in references(value):  # expanded at once
            self._use({name})
            can_be_told = False
        self._values[name] = value if can_be_told else None

    def _obey(self, statement: Statement) -> None:
        word, rest = statement.word, statement.rest
        if word == "if":
            self._open(rest)
        elif word in ("elif", "else", "endif"):
            self._continue(word, rest)
        elif self._live:
            self._use(self._references(rest))
            if word == "include":
                self._include(statement)
            elif word == "use":
                self._all_told = False

    def _open(self, condition: str) -> None:
        truth = self._decide(condition) if self._live else 0
        self._branches.append((truth, truth))

    def _continue(self, word: str, condition: str) -> None:
        if not self._branches:
            return
        _, taken = self._branches.pop()
        if word == "endif":
            return
        truth = 0.0
        if self._live and taken < 1:
            truth = self._decide(condition) if word == "elif" else 1
        self._branches.append((min(truth, 1 - taken), max(truth, taken)))

    def _decide(self, condition: str) -> float:
        """How far a condition is true; what it mentions is used."""
        self._use(self._references(condition))
        words = self._expanded(condition.lstrip("!").strip())
        if words is None:
            return _PERHAPS
        defined = _DEFINED.fullmatch(words)
        truth = self._is_defined(defined[1]) if defined else _truth(words.lower())
        return 1 - truth if condition.startswith("!") else truth

    def _is_defined(self, name: str) -> float:
        name = name.strip().lower()
        if not _WORD.fullmatch(name) or name in SPECIAL:
            return _PERHAPS
        self._use({name})
        return 1 if name in self._values else 0 if self._all_told else _PERHAPS

    def _expanded(self, text: str) -> str | None:
        def look_up(name: str) -> str | None:
            self._use({name})
            return self._values.get(name)

        return expand(text, look_up, lambda name: name in SET or not self._all_told)

    def _use(self, names: set[str]) -> None:
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in self.used and (name in self._values or not self._all_told):
                self.used.add(name)
                waiting += self._references(self._values.get(name) or "")

    def _references(self, text: str) -> set[str]:
        return references(text, self._values.__contains__)

    def _include(self, statement: Statement) -> None:
        include = statement.include
        path = self._expanded(include.source) if include is not None and not include.runs else None
        text = self._read_file(path) if path and self._files_left else None
        self._files_left -= 1
        if text is None:
            self._all_told = False
        else:
            self.follow(text)


def _truth(words: str) -> float:
    if words in _TRUE or words in _FALSE:
        return words in _TRUE
    try:
        return float(words) != 0
    except ValueError:
        return _PERHAPS


MISSPELLED = {"request_cpu": "request_cpus", "request_gpu": "request_gpus"}

_NAME = re.compile(r"[A-Za-z_]\w*")
# Most descriptions have no statements that use macros, nor values that refer to themselves.
_USES_MACROS = re.compile(
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
        queue: arguments of the queue statement.
        text: the whole description, for macros that only its statements (`if`, ...) use.
        read_file: gives the text of a file that it names, None if it can't be read.
    """
    telling = tuple(
        (key, value)
        for key, value in values.items()
        if "$" in value or key.lower() in _UNIVERSE_KEYS
    )
    reader = _Reader(read_file)
    if _USES_MACROS.search(text):
        reader.follow(text)
    variables = tuple(queue_variables(queue, text, read_file))
    found = _unused(tuple(values), telling, queue, variables, frozenset(reader.used))
    return [Unused(name, values[name] if is_line else None) for name, is_line in found]


@lru_cache(maxsize=64)  # nodes of a DAG mostly differ in values alone, and not in these
def _unused(
    names: tuple[str, ...],
    telling: tuple[tuple[str, str], ...],
    queue: str,
    variables: tuple[str, ...],
    stated: frozenset[str],
) -> list[tuple[str, bool]]:
    """Names of what is unused, and whether each is that of a line (not of a queue variable).

    Args:
        names: keys of all lines.
        telling: the lines whose values tell something: by their macros, or the universe.
        variables: those that the queue statement sets.
        stated: macros that statements use, in lower case.
    """
    values = dict(telling)
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


def queue_variables(
    queue: str, text: str = "", read_file: ReadFile = lambda path: None
) -> list[str]:
    """The variables that a queue statement sets for each job, as far as that can be told."""
    items = Queue(queue).items
    if items is None:
        return []
    if items.has_header:
        lines = read_file(items.file) if items.file else text.partition(f"{queue}\n")[2]
        return _NAME.findall((lines or "").partition("\n")[0])
    return items.variables or ["Item"]


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
    firsts = (next((name for name in group if name in keys), "") for group in groups)
    used = set(filter(None, firsts))
    if "shell" in keys:
        used -= WITHOUT_SHELL
    elif "executable" not in keys:
        used.add("cmd")
    return frozenset(used | {key for key in keys if _is_open_ended(key)})


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


_OBSOLETE = "Requirements expression refers to TARGET.{0}. This is obsolete. Set request_{1} and"
_OBSOLETE += " condor_submit will modify the Requirements expression as needed."
_TARGETS = (("your", "Memory"), ("Your", "Disk"))
_INCREASE = "WARNING: retry_request_memory_increase will be ignored because retry_request_memory"
_INCREASE += " was used"
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MIN_LEASE_S = 20  # seconds, the shortest
_NUMBER = re.compile(r"[0-9]{1,9}")
_UNITS = {
    "request_memory": "defaults to megabytes, but should contain a units suffix (i.e K, M, G or T)",
    "request_disk": "defaults to kilobytes, should contain a units suffix (i.e K, M, or B)",
}

Expand = Callable[[str], str]


def remarks(
    values: Mapping[str, str],
    expand: Expand,
    *,
    queue: str = "",
    text: str = "",
    written: str = "",
    read_file: ReadFile = lambda path: None,
    name: str = "",
    by: str = "DAGMAN",
    missing_units: bool = False,
) -> list[str]:
    """Every warning, in the order in which stock shows them.

    Args:
        values: value of each line's key, as it is written.
        expand: replaces the macros in a text.
        queue, text, read_file: as for `unused_lines`.
        written: the part of `text` that its author wrote, '' for all of it.
        name: what `warning :` statements call the description.
        by: who reads it.
        missing_units: whether sizes without units are warned of (SUBMIT_REQUEST_MISSING_UNITS).
    """
    lower = {key.lower(): value for key, value in values.items()}
    found = [one.message(by) for one in unused_lines(values, queue, text, read_file)]
    found += _of_values(lower, expand)
    if "retry_request_memory" in lower and "retry_request_memory_increase" in lower:
        found.append(_INCREASE)
    if missing_units:
        found += _without_units(lower, expand)
    found += [
        f"{wrong} is not a valid submit keyword, did you mean {right}?"
        for wrong, right in reversed(list(MISSPELLED.items()))
        if wrong in lower
    ]
    return found + list(_warnings(written or text, name, expand))[::-1]


def _of_values(values: Mapping[str, str], expand: Expand) -> Iterator[str]:
    if "output_destination" in values and "://" not in expand(values["output_destination"]):
        yield "output_destination must be a URL, did you mean output_directory ?"
    requirements = _STRING.sub("", expand(values.get("requirements", "")))
    for word, target in _TARGETS:
        if re.search(rf"\b{target}\b", requirements, re.IGNORECASE):
            yield f"{word} {_OBSOLETE.format(target, target.lower())}"
    lease = expand(values.get("job_lease_duration", "")).strip()
    if _NUMBER.fullmatch(lease) and 0 < int(lease) < _MIN_LEASE_S:
        yield "JobLeaseDuration less than 20 seconds is not allowed, using 20 instead"
    if values.get("accounting_group") and expand(values.get("nice_user", "")).lower() == "true":
        yield "nice_user conflicts with accounting_group. nice_user will be ignored"


def _without_units(values: Mapping[str, str], expand: Expand) -> Iterator[str]:
    for key, words in _UNITS.items():
        value = expand(values.get(key, "")).strip()
        if value.isdigit():
            yield f"WARNING: {key}={value} {words}"


def _warnings(text: str, name: str, expand: Expand) -> Iterator[str]:
    """`warning :` statements; those inside of `if` are left out, since it may be false."""
    if "warning" not in text.lower():
        return
    depth = 0
    for one in statements(text):
        if not depth and one.queue is not None:
            return
        depth += {"if": 1, "endif": -1}.get(one.word, 0)
        if one.word == "warning" and one.rest.startswith(":") and not depth:
            yield f'Warning "{name}", Line {one.line}: {expand(one.rest[1:].strip())}'
