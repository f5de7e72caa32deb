"""Lines of the simplest form: read faster than by `syntax`, for one line or many at a time.

Nearly every line that a program writes is `JOB name file`, `VARS name key="value" ...`,
`PARENT name CHILD name ...` or the like.  Many such lines are taken apart at once: as
plain ones, or by regular expressions in less than half a microsecond a line.  Everything else is
read word by word (`parser`), with the same result.

Programs write all JOB lines, then all VARS lines, and so on; or a JOB line, a VARS line and so on
for each node, in turn.  Then the lines of each kind are known without looking for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ScriptKind

# Lines of one kind with nothing but single blanks between their words, read without groups.
#
# Programs write all lines of a kind in one form.  To cut such lines at every blank takes a quarter
# of the time of a regular expression that takes words out of them.  Whatever is not as plain as
# that is left to the regular expressions: None does not mean that a line is wrong.
#
# A text has a line feed before each of its lines and none after the last one.

MAX_CHILDREN = 8  # of a PARENT line
MAX_PAIRS = 50  # of a VARS line, as in `bulk`

_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/,%$()- \n"
_BARE_NAME = r"[A-Za-z0-9_.:/,%$()-]+"
_VALUE = r'"[ !#-\[\]-~]*"'
_FIRST_VARS = re.compile(
    rf"\nVARS {_BARE_NAME}((?: \+?[A-PR-Za-pr-z_][A-Za-z0-9_]*={_VALUE}){{1,{MAX_PAIRS}}})(?=\n|\Z)"
)
_KEY = re.compile(rf" (\+?[A-Za-z_][A-Za-z0-9_]*=){_VALUE}")


class Edges(NamedTuple):
    """PARENT lines with as many children each."""

    parents: Sequence[str]  # the parent of each line
    # the first child of each line, the second child of each, and so on
    children: Sequence[Sequence[str]]


def jobs(text: str, lines: int) -> tuple[list[str], list[str]] | None:
    """Names and submit files of JOB lines, if they are all of the text."""
    if ".condor.sub" in text:
        return None
    words = _words("JOB", text, lines, 3)
    if words is None or not _forms_of("PARENT", "CHILD", "ALL_NODES", "ALL-NODES").isdisjoint(
        words[2::3]
    ):
        return None
    return words[2::3], words[3::3]


def edges(text: str, lines: int) -> Edges | None:
    """The PARENT lines, if they are all of the text, and have as many children each."""
    width = text[1 : text.find("\n", 1) if lines > 1 else len(text)].count(" ") + 1
    if not 4 <= width <= 3 + MAX_CHILDREN:
        return None
    words = _words("PARENT", text, lines, width)
    if words is None or words[3::width].count("CHILD") != lines:
        return None
    names = [words[2::width], *(words[place::width] for place in range(4, width + 1))]
    if text.upper().count("CHILD") != lines and not all(map(_forms_of("CHILD").isdisjoint, names)):
        return None
    return Edges(names[0], names[1:])


def variables(text: str, lines: int) -> list[tuple[str, str]] | None:
    """Node and pairs of VARS lines, if they are all of the text, and all have the same keys."""
    first = _FIRST_VARS.match(text)
    if first is None:
        return None
    rows = _same_keys(tuple(_KEY.findall(first[1]))).findall(text)
    return rows if len(rows) == lines else None


@lru_cache(maxsize=64)
def _same_keys(keys: tuple[str, ...]) -> re.Pattern[str]:
    pairs = " ".join(re.escape(key) + _VALUE for key in keys)
    return re.compile(rf"\nVARS ({_BARE_NAME}) ({pairs})(?=\n|\Z)")


def _words(word: str, text: str, lines: int, width: int) -> list[str] | None:
    """The words of lines that begin with `word` and have `width` words.

    The first is empty; `word` is replaced by a line feed, so that each stands where it should.
    """
    if not text.isascii() or text.encode("ascii").translate(None, _PLAIN):
        return None
    spaced = text.replace(f"\n{word} ", " \n ")
    if "  " in spaced or spaced[-1] == " ":  # a word would be empty
        return None
    words = spaced.split(" ")
    if len(words) != width * lines + 1 or words[1::width].count("\n") != lines:
        return None
    return words


@cache
def _forms_of(*words: str) -> frozenset[str]:
    """The words in each mixture of small and capital letters."""
    return frozenset(
        "".join(letters)
        for word in words
        for letters in product(*({letter, letter.lower()} for letter in word))
    )


MIN_LINES = 16  # fewer lines that follow each other are faster read one by one
MAX_PERIOD = 8  # lines of a node that are repeated for the next

# No quotes, backslashes, braces or '@' (inline descriptions), no '+' (splices).
_NAME = r"[\w.:/,%$()-]+"
_NEW_NAME = rf"(?!(?i:PARENT|CHILD|ALL[-_]NODES)[ \t]){_NAME}"
_FILE = r"[\w.:/,%$()=-]+(?<!\.condor\.sub)"
_NAMES = rf"{_NAME}(?:[ \t]+[\w.:/,%$()\- \t]*[\w.:/,%$()-])?(?<![ \t](?i:CHILD))"
_PAIR = r'\+?[A-PR-Za-pr-z_][A-Za-z0-9_]*="[ !#-\[\]-~]*"'  # no 'queue', no escapes
_COMMAND = r"[!-\[\]-~](?:[ -~\t]*[!-\[\]-~])?"
_LINES = {
    "JOB": f"JOB[ \t]+({_NEW_NAME})[ \t]+({_FILE})",
    "VARS": f"VARS[ \t]+({_NAME})[ \t]+({_PAIR}(?:[ \t]+{_PAIR}){{0,50}})",
    "PARENT": rf"PARENT[ \t]+((?!(?i:CHILD)[ \t]){_NAME})[ \t]+CHILD[ \t]+({_NAMES})",
    "RETRY": f"RETRY[ \t]+({_NAME})[ \t]+([0-9]{{1,9}})",
    "SCRIPT PRE": f"SCRIPT[ \t]PRE[ \t]+({_NAME})[ \t]+({_COMMAND})",
    "SCRIPT POST": f"SCRIPT[ \t]POST[ \t]+({_NAME})[ \t]+({_COMMAND})",
    "": "((?:#[^\n]*)?)()",
}
_END = r"[ \t\r]*$"
_KIND = re.compile("(JOB|VARS|PARENT|RETRY|SCRIPT PRE|SCRIPT POST) ")
_KEY_VALUE = re.compile(r'(\+?)([A-Za-z_][A-Za-z0-9_]*)="([^"]*)"')

KINDS = tuple(kind for kind in _LINES if kind)
USES = tuple(kind for kind in KINDS if kind != "JOB")

Rows = Sequence[tuple[str, str]]
Columns = tuple[Sequence[str], Sequence[str]]


class _Found:
    """What is known of lines of one kind, in whichever form it was found."""

    __slots__ = ("_columns", "_edges", "_rows", "lines", "numbers", "place")

    def __init__(
        self,
        lines: int,
        *,
        rows: Rows | None = None,
        columns: Columns | None = None,
        edges: Edges | None = None,
    ) -> None:
        self.lines = lines  # how many there are
        # number of the first one in their text, from 0, and how many lines later the next one is,
        # and so on; None if that is not known
        self.place: tuple[int, int] | None = None
        self.numbers: Sequence[int] | None = None  # of the lines, if they have been asked for
        self._rows = rows
        self._columns = columns
        self._edges = edges

    def columns(self) -> Columns:
        """The first and the second parts of all lines."""
        if self._columns is None:
            if self._edges is not None:
                self._columns = self._edges.parents, list(map(" ".join, zip(*self._edges.children)))
            elif self._rows:
                first, second = zip(*self._rows)
                self._columns = first, second
            else:
                self._columns = (), ()
        return self._columns

    def edges(self) -> Edges | None:
        """The lines as PARENT lines with as many children each, if they are that."""
        if self._edges is None and self._rows:
            self._edges = _uniform_edges(self._rows)
        return self._edges


_NOTHING = _Found(0)


def _uniform_edges(rows: Rows) -> Edges | None:
    """The rows of PARENT lines as columns, if they have as many children each."""
    lists = [children.split() for _, children in rows]
    size = len(lists[0])
    if size > MAX_CHILDREN or any(len(names) != size for names in lists):
        return None
    return Edges([parent for parent, _ in rows], list(zip(*lists)))


class SimpleLines:
    """Lines of simple forms that follow each other in a file."""

    def __init__(self, line: int, lines: int, text: str, found: dict[str, _Found]) -> None:
        """`found`: what is known of the lines of a kind; nothing of a kind that is not there."""
        self.line = line  # number of the first one
        self.lines = lines  # how many there are
        self.text = text  # the lines, each with a line feed before it, none after the last
        self._found = found

    def columns(self, kind: str) -> Columns:
        """The two parts of each line of a kind: nodes and files, pairs, children, ..., in order."""
        return self._of(kind).columns()

    def rows(self, kind: str) -> Rows:
        """As `columns`, by line."""
        return list(zip(*self.columns(kind)))

    def has(self, kind: str) -> bool:
        """Whether there are lines of a kind."""
        return self._of(kind).lines > 0

    def edges(self) -> Edges | None:
        """The PARENT lines; None if there are none, or not all have the same number of children,
        at most MAX_CHILDREN."""
        return self._of("PARENT").edges()

    def text_of(self, kind: str) -> str:
        """The lines of a kind, as in `text`."""
        if self._of(kind).lines == self.lines:
            return self.text
        each = self.text[1:].split("\n")
        first = self.line
        return "\n" + "\n".join(each[number - first] for number in self.numbers(kind))

    def _of(self, kind: str) -> _Found:
        found = self._found.get(kind)
        if found is None:
            found = self._found[kind] = _again(kind, self.text, self.lines)
        return found

    def numbers(self, kind: str) -> Sequence[int]:
        """The number of each line of a kind."""
        found = self._of(kind)
        if found.numbers is None:
            if found.lines == self.lines:
                found.place = 0, 1
            if found.place is not None:
                first, step = found.place
                found.numbers = range(self.line + first, self.line + self.lines, step)
            else:
                letter = kind[0]
                found.numbers = [number for number, line in self.numbered() if line[:1] == letter]
        return found.numbers

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Each line with its number."""
        return enumerate(self.text[1:].split("\n"), self.line)


def find_lines(block: str, begin: int, line: int, *, odd: bool = False) -> SimpleLines | None:
    """The simple lines of `block` from `begin` on, where line number `line` begins.

    None if there are too few.  `odd`: the block is known to have others, which are looked for
    first; else the time would grow with the square of their number.
    """
    end = block.rfind("\n")
    if end < begin:
        return None
    text = "\n" + block[begin:end]
    found = None if odd else _whole(text, line)
    if found is not None:
        return found
    first_odd = _odd().search(text)
    return _whole(text[: first_odd.start()] if first_odd else text, line)


def lines_found_before(block: str, begin: int, simple: tuple[int, int, int]) -> SimpleLines:
    """The lines of an earlier `find_lines`: number of the first one, of lines, of characters."""
    line, lines, length = simple
    return SimpleLines(line, lines, "\n" + block[begin : begin + length - 1], {})


def kind_of(line: str) -> str:
    """The kind of a simple line."""
    words = line.split(None, 2)
    return f"{words[0]} {words[1]}" if words[0] == "SCRIPT" else words[0]


def simple_pairs(text: str) -> list[tuple[str, str]]:
    """Keys and values of the second part of a VARS line."""
    return [("My." + key if plus else key, value) for plus, key, value in _KEY_VALUE.findall(text)]


def read_line(line: str, word: str, number: int) -> Command | None:
    """The command of a trimmed line, which begins with `word`; None if it is not of a simple form.

    None is no error: the line is to be read word by word.
    """
    for match, make in _readers(word):
        found = match(line)
        if found is not None:
            return make(number, *found.groups())
    return None


def _parent(number: int, parent: str, children: str) -> Command | None:
    if "CHILD" in children.upper():  # it may be that word, which then means nothing
        return None
    return commands.ParentChild(number, (parent,), tuple(children.split()))


def _whole(text: str, line: int) -> SimpleLines | None:
    """All of `text`, if it is simple throughout."""
    lines = text.count("\n")
    if lines < MIN_LINES:
        return None
    found = _all_interleaved(text, lines) or _all_by_search(text, lines)
    return None if found is None else SimpleLines(line, lines, text, found)


class _Interleaved(NamedTuple):
    """Lines that seem to be of one kind: every `step`th line of a text from number `first` on."""

    kind: str
    text: str
    first: int
    lines: int
    step: int

    def read(self) -> _Found | None:
        """What is found in them; None if one is of another kind."""
        found = _read_plain(self.kind, self.text, self.lines)
        if found is None:
            found = _found_by_search(self.kind, self.text)
        if found.lines < self.lines:
            return None
        found.place = self.first, self.step
        return found


def _interleaved(text: str, lines: int) -> list[_Interleaved]:
    """The lines of each kind, if kinds seem to follow each other in the same order again and again;
    else nothing."""
    begin = text.split("\n", MAX_PERIOD + 2)[1 : MAX_PERIOD + 2]
    kinds = [found[1] if found else "" for found in map(_KIND.match, begin)]
    if kinds[0] not in kinds[1:]:
        return []
    step = kinds.index(kinds[0], 1)
    if "" in kinds or len(set(kinds[:step])) < step:
        return []
    if step == 1:
        return [_Interleaved(kinds[0], text, 0, lines, 1)]
    each = text[1:].split("\n")
    return [
        _Interleaved(kinds[first], "\n" + "\n".join(part), first, len(part), step)
        for first, part in ((first, each[first::step]) for first in range(step))
    ]


def _all_interleaved(text: str, lines: int) -> dict[str, _Found] | None:
    found_of = dict.fromkeys(_LINES, _NOTHING)
    turns = _interleaved(text, lines)
    for turn in turns:
        found = turn.read()
        if found is None:
            return None
        found_of[turn.kind] = found
    return found_of if turns else None


def _all_by_search(text: str, lines: int) -> dict[str, _Found] | None:
    found_of = dict.fromkeys(_LINES, _NOTHING)
    for kind in _LINES:
        found_of[kind] = _found_by_search(kind, text)
        lines -= found_of[kind].lines
        if not lines:
            return found_of
    return None


def _again(kind: str, text: str, lines: int) -> _Found:
    """The lines of a kind in a text that is known to be simple throughout."""
    for turn in _interleaved(text, lines):
        if turn.kind == kind and turn.lines == text.count("\n" + kind.partition(" ")[0]):
            return turn.read() or _found_by_search(kind, text)
    return _found_by_search(kind, text)


def _read_plain(kind: str, text: str, lines: int) -> _Found | None:
    if kind == "JOB":
        columns = jobs(text, lines)
        return None if columns is None else _Found(lines, columns=columns)
    if kind == "VARS":
        rows = variables(text, lines)
        return None if rows is None else _Found(lines, rows=rows)
    if kind == "PARENT":
        found = edges(text, lines)
        return None if found is None else _Found(lines, edges=found)
    return None


def _found_by_search(kind: str, text: str) -> _Found:
    if kind and "\n" + kind.partition(" ")[0] not in text:
        return _NOTHING
    rows = _pattern(kind, ascii=text.isascii()).findall(text)
    return _Found(len(rows), rows=rows)


_Make = Callable[[int, str, str], "Command | None"]
_COMMANDS: dict[str, _Make] = {
    "JOB": commands.Job,
    "VARS": lambda number, node, pairs: commands.Vars(
        number, node, None, tuple(simple_pairs(pairs))
    ),
    "PARENT": _parent,
    "RETRY": lambda number, node, limit: commands.RetryLine(number, node, int(limit)),
    "SCRIPT PRE": lambda number, node, command: commands.ScriptLine(
        number, node, ScriptKind.PRE, command
    ),
    "SCRIPT POST": lambda number, node, command: commands.ScriptLine(
        number, node, ScriptKind.POST, command
    ),
}
WORDS = frozenset(kind.partition(" ")[0] for kind in KINDS)


# What is for many lines is compiled for the first of them: most DAG files have few.
@cache
def _pattern(kind: str, *, ascii: bool) -> re.Pattern[str]:
    """Finds the lines of a kind, in a text of which all characters are ASCII, or any."""
    line = _LINES[kind]
    if ascii:  # sets without \w mean the same then, and are searched faster
        line = line.replace(r"\w", "A-Za-z0-9_")
    return re.compile(f"\n{line}{_END}", re.MULTILINE)


@cache
def _odd() -> re.Pattern[str]:
    """Matches before a line that is not simple."""
    return re.compile(f"\n(?!(?:{'|'.join(_LINES.values())}){_END})", re.MULTILINE)


@cache
def _readers(word: str) -> list[tuple[Callable[[str], re.Match[str] | None], _Make]]:
    """How lines that begin with a word are read."""
    return [
        (re.compile(_LINES[kind]).fullmatch, make)
        for kind, make in _COMMANDS.items()
        if kind.partition(" ")[0] == word
    ]
