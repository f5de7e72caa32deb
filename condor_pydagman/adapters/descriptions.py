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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters import bindings
from condor_pydagman.errors import PoolError
from condor_pydagman.language import submit_commands
from condor_pydagman.language.description import NOTHING, Queue, SubmitDescription, references
from condor_pydagman.language.lexer import ITEM_DOLLAR, may_begin_macro
from condor_pydagman.printable import printable
from condor_pydagman.vocabulary import MAY_BE_MACRO, UNREADABLE

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
EMPTY_ITEM = "invalid qargs"  # if an item is empty

_NUMBERS = ("Process", "ProcId", "Row", "ItemIndex", "Step")  # macros that number a job
_TEXT = "PYDAGMAN_TEXT"  # a macro, only in descriptions that are not submitted
# Submit commands of late materialization.
_LATE_MATERIALIZATION = ("max_materialize", "max_idle", "materialize_max_idle")

_GROUP = ("accounting_group", "AccountingGroup", "AcctGroup")
_GROUP_USER = ("accounting_group_user", "AcctGroupUser")
_NICE = ("nice_user", "NiceUser")
_MACRO = re.compile(r"\$\((\w+)\)")
# Functions of macros, but for those whose arguments are no names of macros.
_FUNCTION = re.compile(r"(?<!\$)\$(?!ENV\(|RANDOM_)[A-Z_]\w*\(", re.I)
# Macros that are expanded to expand a value; a function that gets a name reads its value.
_USED = re.compile(r"(?<!\$)\$(?!ENV\(|RANDOM_CHOICE\([^)]*,)\w*\(\s*([\w.]+)", re.I)
MAX_VALUE_CHARS = 1 << 20  # of a value with its macros expanded: the bindings need minutes for more


class Unreadable(PoolError):
    """A line of the description can't be read; the bindings do not say which."""

    def __init__(self, reason: str = UNREADABLE, *, transient: bool = False) -> None:
        super().__init__(reason, transient=transient)


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
        if UNREADABLE in str(error):
            raise Unreadable from None
        raise PoolError(reason_of(error), transient=False) from None


def _write_items(description: htcondor2.Submit) -> None:
    """Write values that are text (`item_text`), so that condor_submit's macros do not change it.

    Raises:
        PoolError: that can't be: functions expand what they get again, and a dollar at the end of
            the text, or before another one or a bracket, may begin a macro where it is used.
    """
    pairs = dict(description.items())
    holders = _holders_of_items(pairs)
    used = set().union(*map(references, (*pairs.values(), str(description.getQArgs()))))
    for key, value in pairs.items():
        function = _FUNCTION.search(value)
        if function is not None and not holders.isdisjoint(_names(value[function.start() :])):
            item = next(one for one in pairs.values() if ITEM_DOLLAR in one)
            raise PoolError(
                f"{key} = {value} has {function[0]}), which would expand the $ in"
                f" {_shown(item)}: use $(...) alone for text with a $",
                transient=False,
            )
        counts = key.lower() in used or key.lower() in submit_commands.ALL or "." in key
        if counts and may_begin_macro(value):
            raise PoolError(
                f"{key} {MAY_BE_MACRO}: {_shown(value)}. Such text"
                " can't have a $ at its end, or before another $, a ( or a [",
                transient=False,
            )
    for key, value in pairs.items():
        if ITEM_DOLLAR in value:
            description[key] = value.replace(ITEM_DOLLAR, "$(DOLLAR)")


def _shown(value: str) -> str:
    return printable(value.replace(ITEM_DOLLAR, "$").replace(NOTHING, ""))


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


# Commands by which DAGMan hears of a job, and what they say.
_HEARD_BY = {"dag_node_name": "the name of its node", "dagman_log": "the nodes log"}


def check_heard_of(description: htcondor2.Submit, cluster: int) -> None:
    """Refuse jobs of which DAGMan would never hear, whatever in the description hides its lines.

    Args:
        cluster: of DAGMan's own job, 0 if it has none.

    Raises:
        PoolError: a line is missing that DAGMan has added.
    """
    missing = [what for name, what in _HEARD_BY.items() if not description.get(name)]
    if cluster and description.get("My.DAGManJobId") != str(cluster):
        missing.append("DAGMan's id")
    if missing:
        raise PoolError(
            f"its jobs would not have {', '.join(missing)}, so DAGMan would not hear of them:"
            " something in the description hides the lines that DAGMan adds",
            transient=False,
        )


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


def accounting_group(description: htcondor2.Submit) -> str:
    """The accounting group of its jobs, '' if they have none."""
    name = _first_set(description, _GROUP)
    return expanded(description, name).strip().strip('"') if name else ""


def materializes_late(description: htcondor2.Submit) -> bool:
    """Whether the schedd makes the procs one by one (manual: "Submitting Lots of Jobs")."""
    if any(description.get(key) for key in _LATE_MATERIALIZATION):
        return True
    by_default = bindings.expanded("SUBMIT_FACTORY_JOBS_BY_DEFAULT")
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
    words = expanded_text(description, str(description.getQArgs()))
    if not words.strip():
        return [{}], 1
    listed = Queue(words).items
    if listed is None:
        return [{}], _number(words)
    _refuse_odd_file(listed.file)
    items = _items(description)
    if listed.slice is not None:
        parts = [int(part) if part.strip() else None for part in listed.slice.split(":")]
        items = items[slice(*parts) if len(parts) > 1 else slice(parts[0], None)]
    count = re.match(r"\s*\d+", words)
    return items or [{}], max(int(count[0]) if count else 1, 1)


def jobs_of(
    description: htcondor2.Submit,
    items: Sequence[Any],
    each: int,
    procs: Iterable[int],
    at: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[htcondor2.Submit]:
    """A copy for each of these jobs, always the same one, with the macros that are of the job: its
    numbers, which the description may set to something else, and those of its item of the queue
    statement.

    Args:
        items, each: see `queued`.
        at: macros of the submission, as `$(Cluster)` and `$(YEAR)`.

    Raises:
        what the bindings raise.
    """
    copy = copy_of(description, at)
    own = {name for name in _NUMBERS if description.get(name) is not None}
    for proc in procs:
        row, step = divmod(proc, each)
        numbers = zip(_NUMBERS, (proc, proc, row, row, step))
        copy.update({name: str(number) for name, number in numbers if name not in own})
        copy.update(items[row] if row < len(items) else dict.fromkeys(items[-1], ""))
        yield copy


def copy_of(
    description: htcondor2.Submit, defaults: Mapping[str, str] = MappingProxyType({})
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
    pairs = (*defaults.items(), *own)
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


def expanded_text(description: htcondor2.Submit, text: str) -> str:
    """A text with the macros of a description expanded; raises what `copy_of`, `expanded` do."""
    copy = copy_of(description)
    copy[_TEXT] = text
    return expanded(copy, _TEXT)


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


def _refuse_odd_file(path: str) -> None:
    """Refuse a queue statement with items of a FIFO or a device, which may never come or end.

    Raises:
        ValueError: it is one.
    """
    if path not in ("", os.devnull) and os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"queue ... from {path}: it is not a regular file")


def reason_of(error: Exception) -> str:
    """The text of an exception of the bindings, in one line, with what to do where we know it."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, FAULTS):
        return f"{type(error).__name__}: {text} ({bindings.in_bindings()})"
    return f"{text} ({OLDER_DAEMONS})" if refuses_older_daemons(text) else text


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
        if str(error) == EMPTY_ITEM:  # it has an empty item; usually there are others
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
    queues = (one.queue for one in SubmitDescription(text).queues)
    found = {
        "\n".join([one.arguments, *one.below])
        for one in queues
        if one is not None and one.arguments.split() == arguments.split()
    }
    return found.pop() if len(found) == 1 else _written_out(description, arguments)


def _written_out(description: htcondor2.Submit, arguments: str) -> str:
    """Inline items as the bindings read them: for an `if` block with several such statements."""
    lines = ["\x1f".join(item.values()) for item in _items(description)]
    listed = Queue(arguments).items
    assert listed is not None
    if listed.has_header:
        raise ValueError(f"queue {arguments}: two of it in `if` blocks: put the tables into files")
    part = "" if listed.slice is None else f"[{listed.slice}] "
    return f"{listed.names}from {part}(\n" + "".join(f"{line}\n" for line in lines) + ")"


def _without_items(description: htcondor2.Submit) -> str:
    """Arguments with one empty item instead of a list without items; '' if the statement has no
    such list."""
    listed = Queue(str(description.getQArgs())).items
    if listed is None or listed.slice is not None or materializes_late(description):
        return ""
    return f"{listed.names.rstrip()} from (\n\n)"


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
