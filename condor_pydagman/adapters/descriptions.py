"""Reads submit descriptions by the bindings, completes them as condor_submit does, and passes them
on so that the schedd gets what was read.

The bindings submit in two steps: `htcondor2.Submit` reads a text, and `Schedd.submit` writes `KEY =
VALUE` lines of it and reads those.  Values that such a line changes (of several lines, with a
backslash at the end, items of a queue statement) are written here in a form that it does not
change.  The bindings do not know the submitter either, whom an accounting group without a user
needs.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Mapping, Sequence
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters import macros
from condor_pydagman.errors import PoolError
from condor_pydagman.language.lexer import ITEM_DOLLAR
from condor_pydagman.printable import printable
from condor_pydagman.records.job_description import NOTHING, split

# What the bindings raise: their own class, and Python's for bad arguments.
OLDER_DAEMONS = (
    "the Python bindings are newer than HTCondor's daemons, and don't authenticate to them by FS;"
    " install bindings that are no newer: docs/administrators.md, Bindings and daemons"
)
_OTHER_DIRECTORY = "directory name doesn't match server's network address"
FAULTS = (LookupError, RecursionError)  # raised by no call that is right, only by a bug
BINDINGS = (
    *(htcondor2.HTCondorException, OSError, RuntimeError, TypeError, ValueError),
    *FAULTS,
)

NO_ITEMS = "invalid Queue statement"  # the bindings' error if there is nothing to queue
_EMPTY_ITEM = "invalid qargs"  # if an item is empty
_UNREADABLE = "parse_up_to_q_line() failed"  # if a line can't be read

_COUNT = "PYDAGMAN_QUEUE_ARGUMENTS"  # a macro, only in descriptions that are not submitted
_FOREACH = re.compile(r"(?:^|\s)(?:in|from|matching)\b", re.I)
_FILE = re.compile(r"\bfrom\s+(?:\[[^\]]*\]\s*)?([^\s(][^|]*)\Z", re.I)
_SLICE = re.compile(r"\b(?:in|from|matching)\s*(?:files|dirs|any)?\s*\[([-\d:\s]*)\]", re.I)
# Submit commands of late materialization.
_LATE_MATERIALIZATION = ("max_materialize", "max_idle", "materialize_max_idle")

_GROUP = ("accounting_group", "AccountingGroup", "AcctGroup")
_GROUP_USER = ("accounting_group_user", "AcctGroupUser")
_NICE = ("nice_user", "NiceUser")
_MACRO = re.compile(r"\$\((\w+)\)")
_ITEM_DOLLARS = re.compile(rf"(?:{re.escape(ITEM_DOLLAR)})+(?=([(\[]?))")
# Functions of macros, but for those whose arguments are no names of macros.
_FUNCTION = re.compile(r"(?<!\$)\$(?!ENV\(|RANDOM_)[A-Z_]\w*\(", re.I)
# Macros that are expanded to expand a value; a function that gets a name reads its value.
_USED = re.compile(r"(?<!\$)\$(?!ENV\(|RANDOM_CHOICE\([^)]*,)\w*\(\s*([\w.]+)", re.I)
MAX_VALUE_CHARS = 1 << 20  # of a value with its macros expanded: the bindings need minutes for more
_NOT_MATCHED = ("scheduler", "7")  # universes whose jobs get no ad of a machine


class Unreadable(PoolError):
    """A line of the description can't be read; the bindings do not say which."""

    def __init__(self) -> None:
        super().__init__(_UNREADABLE, transient=False)


class _SubmitLines(htcondor2.Submit):  # type: ignore[misc]
    """A description as `Schedd.submit` reads it: pairs, and the queue statement's arguments."""

    def __init__(self, description: htcondor2.Submit, arguments: str) -> None:
        super().__init__(None)
        self._pairs = [_pair(key, value) for key, value in description.items()]
        self._arguments = arguments
        self.setSubmitMethod(description.getSubmitMethod(), allow_reserved_values=True)

    def items(self) -> Any:
        return self._pairs

    def getQArgs(self) -> str:
        return self._arguments


def parse(text: str) -> htcondor2.Submit:
    """Read a description by the bindings.

    Raises:
        Unreadable: a line of it can't be read.
        PoolError: something else is wrong with it.
    """
    try:
        found = htcondor2.Submit(text)
        if ITEM_DOLLAR in text:
            _write_items(found)
        return found
    except UnicodeEncodeError as error:
        line = text[text.rfind("\n", 0, error.start) + 1 :].partition("\n")[0]
        reason = f"HTCondor's bindings can't submit what is not UTF-8: {printable(line)}"
        raise PoolError(reason, transient=False) from None
    except BINDINGS as error:
        if _UNREADABLE in str(error):
            raise Unreadable from None
        raise PoolError(reason_of(error), transient=False) from None


def _write_items(description: htcondor2.Submit) -> None:
    """Write values that are text (`item_text`), so that neither condor_submit's macros nor those of
    a match, `$$(...)`, change it.

    Raises:
        PoolError: that can't be: functions expand what they get again.
    """
    matched = expanded(description, "universe").lower() not in _NOT_MATCHED
    pairs = dict(description.items())
    holders = _holders_of_items(pairs)
    for key, value in pairs.items():
        function = _FUNCTION.search(value)
        if function is not None and not holders.isdisjoint(_names(value[function.start() :])):
            item = next(one for one in pairs.values() if ITEM_DOLLAR in one)
            raise PoolError(
                f"{key} = {value} has {function[0]}), which would expand the $ in"
                f" {printable(item.replace(ITEM_DOLLAR, '$'))}: use $(...) alone for text with a $",
                transient=False,
            )
    for key, value in pairs.items():
        if ITEM_DOLLAR in value:
            description[key] = _ITEM_DOLLARS.sub(
                lambda run: _dollars(run[0].count("$"), bool(run[1]) and matched), value
            )


def _holders_of_items(pairs: Mapping[str, str]) -> set[str]:
    """Macros and commands whose values have such text, by themselves or by others."""
    found = {key.lower() for key, value in pairs.items() if ITEM_DOLLAR in value}
    more = found
    while more:
        more = {key.lower() for key, value in pairs.items() if more & _names(value)} - found
        found |= more
    return found


def _names(value: str) -> set[str]:
    return set(re.findall(r"\w+", value.lower()))


def _dollars(count: int, is_match_macro: bool) -> str:
    """So many dollars; an even number begins no macro, but two are one of a match."""
    if is_match_macro and count > 1:
        return _dollars(count - 2, False) + "$$(DOLLARDOLLAR)"
    return "$" * count if count % 2 == 0 else "$" * (count - 1) + "$(DOLLAR)"


def submit(schedd: Any, description: htcondor2.Submit, text: str, **how: bool) -> Any:
    """Submit the jobs of a description, which was read from `text`.

    A queue statement without items makes as many jobs as its count says, as in stock DAGMan.  `how`
    is passed on to `Schedd.submit`.

    Raises:
        what the bindings raise.
    """
    set_accounting_user(description)
    arguments = _queue_arguments(description, text)
    try:
        return schedd.submit(_SubmitLines(description, arguments), **how)
    except BINDINGS as error:
        instead = _without_items(description)
        if str(error).strip() != NO_ITEMS or not instead:
            raise
    return schedd.submit(_SubmitLines(description, instead), **how)


def set_accounting_user(description: htcondor2.Submit) -> None:
    """Set the submitter as the user of an accounting group that has none, as condor_submit does.

    The bindings would set no user, so that the jobs were charged to a user without a name.
    """
    if not _first_set(description, _GROUP) and not _is_nice_user(description):
        return
    name = _first_set(description, _GROUP_USER)
    user = str(description.get(name)) if name else ""
    if not user:
        description["accounting_group_user"] = _submitter()
    elif _MACRO.fullmatch(user) and not expanded(description, name):
        # Each item of the queue statement may have its own, or none.
        description[name] = f"{user[:-1]}:{_submitter()})"


def materializes_late(description: htcondor2.Submit) -> bool:
    """Whether the schedd makes the procs one by one (manual: "Submitting Lots of Jobs")."""
    if any(description.get(key) for key in _LATE_MATERIALIZATION):
        return True
    by_default = macros.expanded("SUBMIT_FACTORY_JOBS_BY_DEFAULT")
    return str(by_default).strip().lower() in ("true", "t", "yes", "y", "1")


def procs_of(description: htcondor2.Submit) -> int:
    """Count of the queue statement times its items (manual: "Submitting many similar jobs").

    Raises:
        what the bindings raise.
    """
    items, each = queued(description)
    return each * len(items)


def queued(description: htcondor2.Submit) -> tuple[list[Any], int]:
    """The items of the queue statement, and how many procs each makes.

    Without items, or with an empty list, there is one item that sets nothing.

    Raises:
        what the bindings raise.
    """
    macros = copy_of(description)
    macros[_COUNT] = str(description.getQArgs())
    words = expanded(macros, _COUNT)
    if not words.strip():
        return [{}], 1
    if not _FOREACH.search(words):
        return [{}], _number(words)
    _refuse_odd_file(words)
    items = _items(description)
    cut = _SLICE.search(words)
    if cut is not None:
        parts = [int(part) if part.strip() else None for part in cut[1].split(":")]
        items = items[slice(*parts) if len(parts) > 1 else slice(parts[0], None)]
    count = re.match(r"\s*(\d+)", words)
    return items or [{}], max(int(count[1]) if count else 1, 1)


def of_job(
    description: htcondor2.Submit,
    at: Mapping[str, str],
    proc: int,
    items: Sequence[Any],
    each: int,
) -> htcondor2.Submit:
    """A copy with the macros that are of one job: its numbers, which the description may set to
    something else, and those of its item of the queue statement.

    Args:
        at: macros of the submission, as `$(Cluster)` and `$(YEAR)`.
        items, each: see `queued`.
    """
    copy = copy_of(description, [*numbers_of(proc, each).items(), *at.items()])
    row = proc // each
    for name, value in items[row].items() if row < len(items) else ():
        copy[name] = str(value)
    return copy


def numbers_of(proc: int, each: int) -> dict[str, str]:
    """The macros that number a job, of which each item of the queue statement has so many."""
    row, step = divmod(proc, each)
    numbers = {"Step": step, "Row": row, "ItemIndex": row, "Process": proc, "ProcId": proc}
    return {name: str(number) for name, number in numbers.items()}


def copy_of(
    description: htcondor2.Submit, defaults: Sequence[tuple[str, str]] = ()
) -> htcondor2.Submit:
    """A description with the same commands and macros, without the queue statement.

    It is not read again from its text: commands that `include` runs would run again, and might
    print something else.

    Args:
        defaults: macros that it has beside those that it sets itself.

    Raises:
        what the bindings raise.
    """
    own = (_pair(key, value) for key, value in description.items())
    pairs = (*defaults, *own)
    return htcondor2.Submit("".join(f"{key} = {value}\n" for key, value in pairs))


def expanded(description: htcondor2.Submit, name: str) -> str:
    """The value of a command with its macros expanded; '' if that is empty.

    Raises:
        ValueError: to expand it would not come to an end, or give more than MAX_VALUE_CHARS.
    """
    if "$" in (description.get(name) or ""):  # few values have macros, and all nodes pay for it
        _expanded_length(description, name.lower(), {})
    try:
        return str(description.expand(name))
    except KeyError:  # the bindings' answer then
        return ""


def _expanded_length(description: htcondor2.Submit, name: str, known: dict[str, int]) -> int:
    """About how many characters a value has; `known`: the same of others, -1 while it is found out.

    Raises:
        ValueError: there is no end, or too many.
    """
    if name not in known:
        value = str(description.get(name) or "")
        known[name] = -1
        used = (_expanded_length(description, one.lower(), known) for one in _USED.findall(value))
        known[name] = len(value) + sum(used)
    if known[name] < 0:
        raise ValueError(f"macro {name} stands for itself, perhaps by way of others")
    if known[name] > MAX_VALUE_CHARS:
        raise ValueError(f"{name} has more than {MAX_VALUE_CHARS:,} characters with its macros")
    return known[name]


def _refuse_odd_file(words: str) -> None:
    """Refuse a queue statement with items of a FIFO or a device, which may never come or end.

    Raises:
        ValueError: it is one.
    """
    found = _FILE.search(words)
    path = found[1].strip() if found is not None else ""
    if path not in ("", os.devnull) and os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"queue ... from {path}: it is not a regular file")


def reason_of(error: Exception) -> str:
    """The text of an exception of the bindings, in one line, with what to do where we know it."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, FAULTS):
        return f"{type(error).__name__}: {text} ({in_bindings()})"
    return f"{text} ({OLDER_DAEMONS})" if refuses_older_daemons(text) else text


def in_bindings() -> str:
    """What to do about an exception that none of our calls should have raised."""
    version = htcondor2.version().split()[1]
    return (
        f"an error within HTCondor's Python bindings {version}, or in how we call them: try others"
        " (docs/administrators.md, Bindings and daemons), and please report it"
    )


def refuses_older_daemons(said: str) -> bool:
    """Whether the bindings do not authenticate to daemons that are older than they are.

    Those of September 2026 want the server's address in the name of the directory that it has its
    clients make (FS); older daemons do not put it there.
    """
    return _OTHER_DIRECTORY in said.lower()


def _number(words: str) -> int:
    try:
        count = classad2.ExprTree(words).eval()
    except classad2.ClassAdException:
        count = None
    number = isinstance(count, (int, float)) and not isinstance(count, classad2.Value)
    if not number or not 0 <= count < float("inf"):
        raise ValueError(f"invalid Queue statement, the count is not a number: {words.strip()}")
    return max(int(count), 1)


def _items(description: htcondor2.Submit) -> list[Any]:
    try:
        found = description.itemdata()
    except ValueError as error:
        if str(error) == _EMPTY_ITEM:  # it has an empty item; usually there are others
            return [{}, {}]
        raise
    return [] if found is None else list(found)


def _queue_arguments(description: htcondor2.Submit, text: str) -> str:
    """The queue statement's arguments; inline items as they stand in the text.

    The bindings can't write inline items with an empty list or an empty item.
    """
    arguments = str(description.getQArgs())
    if arguments.count("(") <= arguments.count(")"):
        return arguments
    found = {
        statement
        for _, statement in split(text).parts
        if _words(_logical_line(statement)) == _words(arguments)
    }
    if len(found) == 1:
        head, newline, items = found.pop().strip().partition("\n")
        return head.split(None, 1)[1] + newline + items
    return _written_out(description, arguments)


def _written_out(description: htcondor2.Submit, arguments: str) -> str:
    """Inline items as the bindings read them: for an `if` block with several such statements."""
    lines = ["\x1f".join(item.values()) for item in _items(description)]
    head = arguments.partition("(")[0]
    head = re.sub(
        r"\b(?:in|matching)\b(?:\s*(?:files|dirs|any))?", "from", head, count=1, flags=re.I
    )
    return f"{head}(\n" + "".join(f"{line}\n" for line in lines) + ")"


def _logical_line(statement: str) -> str:
    """The first line of a statement, continued lines joined, without the word `queue`."""
    joined = re.sub(r"\\[ \t]*\n", "", statement).strip().partition("\n")[0]
    return joined[len("queue") :]


def _words(text: str) -> list[str]:
    return text.split()


def _without_items(description: htcondor2.Submit) -> str:
    """Arguments with one empty item instead of a list without items; '' if the statement has no
    such list."""
    arguments = str(description.getQArgs())
    keyword = _FOREACH.search(arguments)
    if keyword is None or _SLICE.search(arguments) or materializes_late(description):
        return ""
    return f"{arguments[: keyword.start()]} from (\n\n)"


def _pair(key: str, value: str) -> tuple[str, str]:
    """Key and value, written so that the line `KEY = VALUE` gives that value."""
    if "\n" in value:
        tag = "PYDAGMAN_END"
        while f"@{tag}" in value:
            tag += "_"
        return f"{key} @={tag}\n{value}\n@{tag}\n#", ""
    return key, value + NOTHING if value.endswith("\\") else value


def _first_set(description: htcondor2.Submit, names: tuple[str, ...]) -> str:
    """The first of these commands that has a value, '' if none has."""
    return next((name for name in names if description.get(name)), "")


def _is_nice_user(description: htcondor2.Submit) -> bool:
    name = _first_set(description, _NICE)
    try:
        return bool(name) and classad2.ExprTree(expanded(description, name)).eval() is True
    except (*BINDINGS, classad2.ClassAdException):  # `Schedd.submit` reports the error
        return False


def _submitter() -> str:
    """The user that condor_submit charges: that of the process, without a domain.

    Raises:
        ValueError: the process's account has no name here, as in some containers.
    """
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        reason = f"user {os.geteuid()} has no name on this machine: set accounting_group_user"
        raise ValueError(reason) from None
