"""Writes the man pages: hand-written parts, and the options from the tables of the commands.

`python -m tools.generate` writes them.

A part is a man page without its title.  Comment lines in it ask for what the tables know:

    .\\" option A B        heading of these options, and their line in -help
    .\\" heading A B       heading of these options without that line
    .\\" handed-on         the options that sub-DAGs are given too
    .\\" ignored           the options of condor_submit_dag that condor_dagman does not show
    .\\" refused           the options that are known and not obeyed; nothing if there are none
    .\\" shortest          how far the options of condor_dag_checker may be shortened
    .\\" findings          the findings of condor_dag_checker -lint
    .\\" language          the commands of the DAG language
    .\\" conditions        what follows from conditions, and what they see of parents
    .\\" synopsis          the commands of condor_pydagman
    .\\" subcommand A B    heading and description of a command of condor_pydagman; its options come
                          at the end of its section
    .\\" other-subcommands  those that the part does not name
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from condor_pydagman import __version__
from condor_pydagman.cli import checker_options
from condor_pydagman.dagman_job.options import OPTIONS, WAIT_FOR_DEBUG, Option, Reach
from condor_pydagman.language.keywords import manual
from condor_pydagman.lint.findings import ALL_CODES, meaning
from tools import command_tables as tables
from tools import decision_table

ROOT = Path(__file__).resolve().parents[1]
PARTS = ROOT / "man" / "parts"
DATE = "2026-11-21"  # of the last change to the parts that matters to readers
WIDTH = 78

Row = tuple[str, str]  # heading, sentence


class PartError(Exception):
    """A part does not fit the tables; the message says what to change."""


@cache
def pages() -> dict[str, str]:
    """File name and text of each page."""
    return {part.name: page(part.name, part.read_text("utf-8")) for part in sorted(PARTS.iterdir())}


def page(name: str, part: str) -> str:
    """A whole page.

    Raises:
        PartError: the part names what no table has, or leaves out an option.
    """
    title, section = name.rsplit(".", 1)
    head = (
        rf".\" Made by tools/man_pages.py from man/parts/{name} and the tables of options.",
        f'.TH {roff(title.upper())} {section} "{DATE}" "condor_pydagman {__version__}" "HTCondor"',
        ".nh",
        ".ad l",
    )
    return "\n".join([*head, *reflow(_Page(name, part).lines())]) + "\n"


def reflow(lines: Iterable[str]) -> Iterator[str]:
    """`lines`, with text that is too long broken, and every sentence on a line of its own."""
    literal = False
    for line in lines:
        if line.startswith((".nf", ".fi")):
            literal = line.startswith(".nf")
        if literal or line.startswith((".", "'")):
            yield line
            continue
        for sentence in re.split(r"(?<=[a-z)0-9\"][.?!]) +(?=[A-Z\\0-9])", line):
            for piece in textwrap.wrap(
                sentence, WIDTH, break_long_words=False, break_on_hyphens=False
            ):
                yield r"\&" + piece if piece.startswith((".", "'")) else piece


def roff(text: str) -> str:
    """Plain text as roff."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return r"\&" + text if text.startswith((".", "'")) else text


class _Page:
    """One part on its way to a page."""

    def __init__(self, name: str, part: str) -> None:
        self._name = name
        self._part = part
        self._rows = _ROWS.get(name, dict)()
        self._open = set(self._rows)  # options still to come
        self._parsers = tables.parsers() if name == "condor_pydagman.1" else {}
        self._unnamed = set(self._parsers) - {""}
        self._pending: list[str] = []  # options of the command whose section is open

    def lines(self) -> Iterator[str]:
        for line in self._part.splitlines():
            if self._pending and re.match(r'\.(SH|\\" (subcommand|other))', line):
                yield from self._flush()
            if line.startswith('.\\" '):
                yield from self._generated(line)
            else:
                yield line
        if self._open:
            raise self._wrong(
                'write a line .\\" option and what there is to say, for '
                + ", ".join(sorted(self._open))
            )

    def _generated(self, line: str) -> Iterator[str]:
        word, *names = line[4:].split()
        if word in ("option", "heading"):
            yield from self._option(names, with_line=word == "option")
        elif word == "subcommand":
            yield from self._subcommand(" ".join(names))
        elif word == "other-subcommands":
            for name in [name for name in self._parsers if name in self._unnamed]:
                yield from self._subcommand(name)
                yield from self._flush()
        elif word in _LISTS:
            yield from _LISTS[word]()
        else:
            raise self._wrong(f"unknown comment {line!r}")

    def _option(self, names: list[str], with_line: bool) -> Iterator[str]:
        headings = []
        for name in names:
            if name.lower() not in self._open:
                raise self._wrong(f"there is no option {name}, or it has been written down before")
            self._open.discard(name.lower())
            headings.append(self._rows[name.lower()][0] or _heading((f"-{name}",)))
        yield ".TP"
        yield ", ".join(headings)
        lines = [self._rows[name.lower()][1] for name in names if with_line]
        yield from map(roff, filter(None, lines))

    def _subcommand(self, name: str) -> Iterator[str]:
        if name not in self._unnamed:
            raise self._wrong(f"condor_pydagman has no command {name}, or it stands there twice")
        self._unnamed.discard(name)
        yield f'.SS "{roff(name)}"'
        yield roff(_sentence(self._parsers[name].description or ""))
        for heading, text in _own_options(name, self._parsers):
            self._pending += [".TP", heading, roff(text)]

    def _flush(self) -> list[str]:
        pending, self._pending = self._pending, []
        return pending

    def _wrong(self, message: str) -> PartError:
        return PartError(f"man/parts/{self._name}: {message}")


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _heading(names: Iterable[str], argument: str = "") -> str:
    """Option words, in bold, and their argument, which is put down once."""
    text = ", ".join(rf"\fB{roff(name)}\fR" for name in names)
    return text + (rf" \fI{roff(argument)}\fR" if argument else "")


def _option_rows(options: Iterable[Option]) -> dict[str, Row]:
    rows = {}
    for option in options:
        word = tables.words_of(option)
        rows[option.name.lower()] = (_heading(word.names, word.argument), _sentence(word.text))
    return rows


_ROWS: dict[str, Callable[[], dict[str, Row]]] = {
    "condor_submit_dag.1": lambda: _option_rows(OPTIONS),
    "condor_dagman.1": lambda: _option_rows(
        [*(option for option in OPTIONS if option.daemon), WAIT_FOR_DEBUG]
    ),
    # The part says how these are spelled, and everything else.
    "condor_dag_checker.1": lambda: {row.name: ("", "") for row in checker_options._OPTIONS},
}


def _enumeration(names: Iterable[str]) -> Iterator[str]:
    """Names in bold with commas between them, a full stop behind the last."""
    names = sorted(names, key=str.lower)
    for name in names:
        yield f".BR {roff('-' + name)} " + ("." if name == names[-1] else ",")


def _findings() -> Iterator[str]:
    for name in ALL_CODES:
        code = meaning(name)
        yield ".TP"
        yield f'.BR {name} " {code.severity.name.lower()}"'
        yield roff(_sentence(code.title))
        yield from filter(None, [roff(_sentence(code.hint))])


def _conditions() -> Iterator[str]:
    for name in ("results", "seen"):
        yield from decision_table.troff(name).splitlines()


def _language() -> Iterator[str]:
    for about in manual():
        if about.called:
            continue  # in the usage line of another command
        yield ".TP"
        usage = roff(about.usage.replace(r"\n", " "))
        yield f'.B "{usage}"'
        yield roff(about.summary + " Not in the stock DAGMan." * about.extension)


def _synopsis() -> Iterator[str]:
    for name, parser in tables.parsers().items():
        if tables.children(parser):
            continue
        yield f'.B "condor_pydagman {roff(name)}"'
        for word in tables.parser_options(parser):
            text = _heading(word.names[:1], word.argument)
            yield text if tables.is_required(parser, word) else f"[{text}]"
        for word in tables.operands(parser):
            yield rf"\fI{roff(word.argument)}\fR"
        yield ".br"
    yield r".B condor_pydagman \-\-version"
    yield r"[\fB\-\-verbose\fR]"


def _own_options(name: str, parsers: dict[str, tables.Parser]) -> list[Row]:
    """The rows of a command; what all its actions share is the command's, not theirs."""
    inner = [_parser_rows(child) for child in tables.children(parsers[name]).values()]
    if inner:
        return [row for row in inner[0] if all(row in rows for rows in inner)]
    above = name.rpartition(" ")[0]
    shared = _own_options(above, parsers) if above else []
    return [row for row in _parser_rows(parsers[name]) if row not in shared]


def _parser_rows(parser: tables.Parser) -> list[Row]:
    words = tables.parser_options(parser)
    return [(_heading(word.names, word.argument), _sentence(word.text)) for word in words]


_LISTS: dict[str, Callable[[], Iterator[str]]] = {
    "handed-on": lambda: _enumeration(row.name for row in OPTIONS if row.reach is Reach.DEEP),
    "ignored": lambda: _enumeration(row.name for row in OPTIONS if not row.daemon),
    "shortest": lambda: _enumeration(
        row.name[: row.min_length] for row in checker_options._OPTIONS
    ),
    "findings": _findings,
    "language": _language,
    "conditions": _conditions,
    "synopsis": _synopsis,
}
