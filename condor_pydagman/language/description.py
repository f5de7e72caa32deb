"""A submit description, as its text says it: statements with the numbers of their lines, the macros
that they set and use, the queue statement.

HTCondor's bindings, which `adapters.descriptions` asks, name no line, and do not tell what nothing
uses.  Where a description does more than a text tells (include, if, use), no rule claims anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from condor_pydagman.named_tuple import NamedTuple

# The word that begins a queue statement, for patterns that ignore case (25.14): `queue`, or
# `iterate`, which may be cut down to `iter`; `iter = 3` sets a macro.
QUEUES = r"(?:queue|iter(?:a(?:te?)?)?(?!\s*[+@]?=))(?!\S)"

_QUEUE = re.compile(rf"\s*{QUEUES}\s*(.*)", re.I | re.S)
# The next line without its blanks in front; between them comments that go on as well.
_CONTINUED = re.compile(r"\\[^\S\n]*\n[^\S\n]*(?:#[^\n]*\\[^\S\n]*\n[^\S\n]*)*")
_SLICE = r"\s*(?:\[([-\d:\s]*)\])?"
_ITEMS = re.compile(
    r"(.*?)(?<!\S)(in|from|matching)\b(?:\s*(?:files|dirs|any)\b)?"
    rf"{_SLICE}(?:\s*(table)(?:\(([^()]*)\)|(?=\s+\S)))?{_SLICE}\s*(.*)",
    re.I | re.S,
)
_WITHOUT_HEADER = {"csv", "standard"}  # alone or between commas; `header csv` has one


class Items(NamedTuple):
    """What a queue statement has items of."""

    names: str  # what stands before: the count, and the names of variables
    word: str  # `in`, `from` or `matching`
    has_header: bool  # whether their first line has the names of the variables instead
    slice: str | None  # inside of its brackets; None without them
    source: str  # the name of a file, a command with a `|`, patterns, or the items in parentheses

    @property
    def is_list(self) -> bool:
        """Whether the items are lines, of a file or others."""
        return self.word == "from"

    @property
    def file(self) -> str:
        """The file that the items are in; '' if they are elsewhere."""
        elsewhere = self.source.startswith("(") or "|" in self.source
        return "" if elsewhere or not self.is_list else self.source

    @property
    def variables(self) -> list[str]:
        """The names of variables, as they are written."""
        return _NAME.findall(re.sub(r"\$\w*\([^()]*\)", " ", self.names))


def queue_arguments(statement: str) -> str | None:
    """What follows the word of a queue statement; None if it is another statement."""
    found = _QUEUE.fullmatch(_CONTINUED.sub("", statement))
    return None if found is None else found[1].rstrip()


class Queue(NamedTuple):
    """What a queue statement says; by default, what a description without one means."""

    arguments: str = ""
    below: Sequence[str] = ()  # lines of its inline items, with that of the ) which ends them

    @property
    def items(self) -> Items | None:
        """Where its items come from; None if it has none."""
        found = _ITEMS.fullmatch(self.arguments)
        if found is None:
            return None
        names, word, before, table, options, behind, source = found.groups()
        given = {option.strip().lower() for option in (options or "").split(",")}
        header = table is not None and _WITHOUT_HEADER.isdisjoint(given)
        return Items(names, word.lower(), header, before or behind, source.rstrip())

    @property
    def listed(self) -> str | None:
        """The inline items below it; None if no ) ends them."""
        if self.below and not self.below[-1].lstrip().startswith(")"):
            return None
        return "\n".join(self.below[:-1])


# Statements: lines, of which a backslash, a block `NAME @=TAG` or a list of items joins several.

NOTHING = "$(DAGMAN_NOTHING:)"  # a macro that is never set, with an empty default

_WORD = re.compile(r"@?(if|elif|else|endif|include|use|warning|error)\b(?!\s*@?=)", re.I)
# Which opens a block that ends with a line `@TAG`.
_BLOCK = re.compile(r"[^\s=#][^\s=]*\s+@=\s*(\S.*)", re.S)
_ASSIGNMENT = re.compile(r"([+A-Za-z_][\w.]*)\s*=(.*)", re.S)


class Include(NamedTuple):
    """What a statement includes: a file, or what a command prints."""

    source: str  # the name of the file, or the command, perhaps with a | behind it
    runs: bool  # whether it is a command


class Statement(NamedTuple):
    """A statement of a description."""

    line: int  # number of its first line, from 1
    text: str  # its lines as they are written, each with a line end
    # the same in one line, without blanks around; of a block its first line, '' of a comment
    whole: str
    tag: str = ""  # of a block `NAME @=TAG`
    queue: Queue | None = None  # what it says if it is a queue statement

    @property
    def word(self) -> str:
        """`if`, `include` or such a word, in lower case; '' of a statement that has none."""
        found = _WORD.match(self.whole)
        return found[1].lower() if found else ""

    @property
    def rest(self) -> str:
        """What follows that word."""
        found = _WORD.match(self.whole)
        return self.whole[found.end() :].strip() if found else ""

    @property
    def include(self) -> Include | None:
        """What it includes; None if it is no statement that does."""
        how, colon, source = self.rest.partition(":") if self.word == "include" else ("", "", "")
        if not colon:
            return None
        source = source.strip()
        return Include(source, source.endswith("|") or "command" in how.lower().split())

    @property
    def assigned(self) -> tuple[str, str] | None:
        """The name, in lower case, and the value that it sets; None if it sets none."""
        if self.tag:
            head, *lines = self.text.split("\n")
            return head.partition("@=")[0].strip().lower(), "\n".join(lines[:-2])
        found = _ASSIGNMENT.fullmatch(self.whole)
        return (found[1].lower(), found[2].strip()) if found and self.queue is None else None


def statements(text: str) -> Iterator[Statement]:
    """All statements of a description, comments and empty lines among them."""
    # Not by splitlines: a form feed ends no line here.
    lines = [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    place = 0
    while place < len(lines):
        head, end = lines[place].strip(), place + 1
        block = _BLOCK.fullmatch(head)
        tag = block[1] if block else ""
        if tag:  # if it has no end, the schedd's parser reports the error with the line
            ends = (n + 1 for n in range(end, len(lines)) if lines[n].strip() == "@" + tag)
            end = next(ends, len(lines))
        elif head[-1:] == "\\" and head[0] != "#":
            while end < len(lines) and lines[end - 1].rstrip().endswith("\\"):
                end += 1
        whole = _CONTINUED.sub("", "\n".join(lines[place:end])).strip() if "\\" in head else head
        queue = None
        found = _QUEUE.fullmatch(whole)
        if found is not None and not tag:
            queue = Queue(found[1].rstrip())
            below, end = end, _items_end(lines, end, queue.items)
            queue = queue._replace(below=lines[below:end])
        text = "\n".join(lines[place:end])
        yield Statement(place + 1, f"{text}\n", "" if head[:1] == "#" else whole, tag, queue)
        place = end


def _items_end(lines: list[str], end: int, items: Items | None) -> int:
    """Number of the line after a `queue` statement's inline items, if it has any; `end` is that
    of the line after the statement."""
    if items is None or not items.source.startswith("(") or items.source.endswith(")"):
        return end
    ends = (n + 1 for n in range(end, len(lines)) if lines[n].lstrip().startswith(")"))
    return next(ends, len(lines))


# A description, cut where DAGMan's own lines go.  Pairs of text: lines up to a queue statement, and
# that statement with its items.  There is more than one pair only if a queue statement stands in an
# `if` block: which of them counts is then known to the schedd's parser alone, and it stops at the
# first that does.
Template = tuple[tuple[str, str], ...]


def _read(text: str) -> tuple[list[Statement], Template]:
    """The statements up to the first queue statement that counts in any case, with it."""
    read: list[Statement] = []
    pairs: list[tuple[str, str]] = []
    body: list[str] = []
    depth = 0
    for one in statements(text):
        read.append(one)
        if one.queue is None:
            body.append(one.text)
            word = one.word
            depth += (word == "if") - (word == "endif")
            continue
        pairs.append(("".join(body), one.text))
        body = []
        if depth == 0:
            return read, tuple(pairs)
    if body and body[-1].rstrip().endswith("\\"):  # it belongs to the value
        body[-1] = f"{body[-1][:-1]}{NOTHING}\n"
    return read, (*pairs, ("".join(body), "queue\n"))


def template_of(text: str) -> Template:
    """A description as a template, without the rest of what it says."""
    return _read(text)[1]


class SubmitDescription:
    """What a submit description says, up to the first queue statement that counts in any case;
    whatever follows it is ignored.

    Without one it means a single job, as in stock DAGMan.
    """

    def __init__(self, text: str) -> None:
        read, _ = _read(text)
        self.queues = [one for one in read if one.queue is not None]  # statements
        before = read[: read.index(self.queues[0])] if self.queues else read
        assigned = [one.assigned for one in before if one.whole]
        # what the first queue statement says, and lower-case names that it sets for each job
        self.queue = (self.queues[0].queue if self.queues else None) or Queue()
        items = self.queue.items
        self.variables = frozenset(name.lower() for name in (items.variables if items else ()))
        # the last value of each name, in lower case, that is set before the queue statement
        self.values = dict(filter(None, assigned))
        # whether these are all that it says; else no claim can be made
        is_listed = not items or not (items.has_header or items.word == "matching")
        is_assigned = None not in assigned and not any(one.tag for one in before)
        self.is_plain = is_listed and is_assigned
        # with macros: lower-case names that stand anywhere inside `$(...)` or `$FUNCTION(...)`
        used = [self.queue.arguments, *(one.whole for one in before if "$" in one.whole)]
        self.mentioned = frozenset(name for one in used for name in mentioned(one))
        # names in `$(name)` without default, as they are written
        used = [self.queue.arguments, *(one for one in self.values.values() if "$" in one)]
        self.needed = tuple(dict.fromkeys(name for one in used for name in _REFERENCE.findall(one)))

    def getter(self, values: Mapping[str, str]) -> Callable[[str], str | None]:
        """What gives the value of a command, macros expanded, by its lower-case name: '' if it is
        not there, None if it can't be told.

        Args:
            values: those of this description with whatever else is known of a job.
        """

        def get(key: str) -> str | None:
            value = values.get(key)
            if value:
                return expand(value, values.get, (SET | self.variables).__contains__)
            return None if key in self.variables else ""

        return get


# Macros: which a value uses, and what it is with them expanded.

_NAME = re.compile(r"[A-Za-z_][\w.]*")
_ANY_REFERENCE = re.compile(r"\$\w*\(([^()]*)")
_REFERENCE = re.compile(r"(?<!\$)\$\(\s*([A-Za-z_]\w*)\s*\)")
# With any other character in it, HTCondor (25.14) takes a reference for none.
_REFERENCE_OR_DEFAULT = re.compile(r"(?<!\$)\$\(([A-Za-z_]\w*)(?::([\w ,./:\\]*))?\)", re.ASCII)

MAX_EXPANSIONS = 20
MAX_LENGTH = 10_000

# Macros that condor_submit (25.14.1) or DAGMan sets for every job, and those that they may set: the
# default of a reference to one of them never counts, unless a description makes it empty.
_ALWAYS_SET = """
cluster clusterid process procid jobid joblistid taskid step row item itemindex submit_file
submit_time year month day dollar arch opsys opsysver opsysandver opsysmajorver spool islinux
iswindows job retry dag_status failed_count dag_parent_names dagmanjobid
"""
_PERHAPS_SET = """
request_cpus request_memory vm_memory vm_vcpus accounting_group accounting_group_user batch_id
batch_name dag_node_name dagman_log hold job_ad_information_attrs job_machine_attrs keep_claim_idle
notification priority submit_event_notes
"""
SET = frozenset((_ALWAYS_SET + _PERHAPS_SET).split())
# Those that have HTCondor's value whoever sets them: `item` nothing, unless the queue statement has
# items for other variables.
HTCONDORS = frozenset(("item", "dollar"))

# Names that descriptions use as if they were set, in this or another version of HTCondor (manual:
# "condor_submit", "Macros in submit description files"; "Special macros" of VARS).
_OTHER_NAMES = """
node jobname dag_id dagnodename dagmannoderetry dagparentnodenames my_job nodename opsysname
opsysshortname opsyslongname lib home user username owner
"""
SPECIAL = frozenset((_ALWAYS_SET + _OTHER_NAMES).split())


def why_lost(name: str) -> str:
    """Why a variable of a node is lost by its name; '' if it reaches the description."""
    is_lost = name.lower() in HTCONDORS
    return f"HTCondor sets $({name}) itself: my_{name} would work" if is_lost else ""


def mentioned(text: str) -> set[str]:
    """Lower-case names inside every `$(...)` and `$FUNCTION(...)` of a text."""
    if "$" not in text:
        return set()
    return {
        name.lower() for inside in _ANY_REFERENCE.findall(text) for name in _NAME.findall(inside)
    }


def expand(
    value: str,
    look_up: Callable[[str], str | None],
    is_set: Callable[[str], bool] = SET.__contains__,
) -> str | None:
    """`value` with every macro replaced by what `look_up` gives for its lower-case name.

    None if that can't be told: `look_up` gives None for a macro without default, or there is more
    in it than plain macros.  A default counts for an empty macro as well.

    Args:
        is_set: whether a macro that `look_up` does not know has a value nevertheless.
    """
    for _ in range(MAX_EXPANSIONS):
        if "$" not in value:
            return value
        unknown, length = False, 0

        def replacement(found: re.Match[str]) -> str:
            nonlocal unknown, length
            name, default = found[1].lower(), found[2]
            new = None if unknown or name in HTCONDORS else look_up(name)
            if default is not None and not (new or (new is None and is_set(name))):
                new = default
            length += len(new or "")
            unknown = unknown or new is None or length > MAX_LENGTH
            return new or ""

        value, count = _REFERENCE_OR_DEFAULT.subn(replacement, value)
        if unknown or not count or len(value) > MAX_LENGTH:
            return None
    return None


# Which macros a value refers to (manual: "Predefined Macros", "Function Macros").  In some
# functions words stand for themselves: `$ENV(HOME)` uses no macro HOME.

_OPENING = re.compile(r"(?<!\$)\$(\w*)\(")  # `$$(x)` is an attribute of the machine
_PARENTHESIS = re.compile(r"[()]")
_LITERAL = ("env", "random_choice", "random_integer")
_WHOLE = ("eval", "substr")


def references(value: str, is_set: Callable[[str], bool] = lambda name: False) -> set[str]:
    """Lower-case names of the macros that a value refers to by itself.

    Args:
        is_set: whether a macro has a value; then its default, `$(NAME:DEFAULT)`, is not used.
    """
    found: set[str] = set()
    opening = _OPENING.search(value) if "$" in value else None
    closings = _closings(value) if opening is not None else {}
    while opening is not None:
        place = opening.end()
        function = opening[1].lower()
        inside = value[place : closings.get(place, place)]
        name, colon, _ = inside.partition(":")
        if function:
            found |= _arguments(function, inside)
        elif _NAME.fullmatch(name):
            found.add(name.lower())
            if colon and is_set(name.lower()):
                place += len(inside)
        opening = _OPENING.search(value, place)
    return found


def _arguments(function: str, inside: str) -> set[str]:
    """Names of macros among the arguments of a function, but for what is in `$(...)` there."""
    if function in _LITERAL:
        return set()
    if function in _WHOLE:
        return {name.lower() for name in _NAME.findall(inside)}
    words = [word.strip() for word in inside.split(",")]
    lists = function == "choice" and len(words) == 2  # the second one is the name of a list
    return {word.lower() for word in words[: 2 if lists else 1] if _NAME.fullmatch(word)}


def _closings(value: str) -> dict[int, int]:
    """Where what stands in parentheses ends, by where it begins; what has no end is left out."""
    found, open_now = {}, []
    for parenthesis in _PARENTHESIS.finditer(value):
        if parenthesis[0] == "(":
            open_now.append(parenthesis.end())
        elif open_now:
            found[open_now.pop()] = parenthesis.start()
    return found
