"""A printed command is read as the same command."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from condor_pydagman.feature_table import home
from condor_pydagman.features.common.rows import row_of
from condor_pydagman.features.growth.commands import Extend, Scatter
from condor_pydagman.features.timeout.commands import TimeoutLine
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import WORDS
from condor_pydagman.language.parser import Reading, iter_commands, lines_of, parse
from condor_pydagman.language.syntax import of_class, of_word
from condor_pydagman.vocabulary import NodeKind, ScriptKind
from tests.rows import FLAG, LINE, NAME, NUMBER, commands_of, word
from tests.unit.language.one_line import good


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (commands.Job(7, "A", "a b", "d", True, True), 'JOB A "a b" DIR d NOOP DONE'),
        (commands.Job(7, "F", "{", description="x\ny", kind=NodeKind.FINAL), "FINAL F {\nx\ny\n}"),
        (commands.Job(7, "A", "@=E", "d", description="}"), "JOB A @=E\n}\n@E DIR d"),
        (commands.SubmitDescription(7, "d", "x\n}"), "SUBMIT-DESCRIPTION d @=END0\nx\n}\n@END0"),
        (commands.ParentChild(7, ("a",), ("b", "c"), True), "WEAK PARENT a CHILD b c"),
        (commands.Vars(7, "A", True, (("k", 'a "b\\'),)), r'VARS A APPEND k="a \"b\\"'),
        (commands.Done(7, r'"a"b\c"'), r'DONE "a\"b\\c"'),
        (commands.ToleranceLine(7, "A", 5, True, True), "TOLERANCE A 5% FAIL-FAST"),
        (commands.RetryLine(7, "A", 3, (0,)), "RETRY A 3 UNLESS-EXIT 0"),
        (
            commands.RetryLine(7, "A", 3, (1, -9), (2,), 0, 2.0, 60),
            "RETRY A 3 UNLESS-EXIT 1,-9 ONLY-IF 2 DELAY 0 BACKOFF 2 MAX-DELAY 60",
        ),
        (commands.RetryLine(7, "A", 3, backoff=1.25), "RETRY A 3 BACKOFF 1.25"),
        (TimeoutLine(7, "A", total=0, queued=5), "TIMEOUT A QUEUED 5 TOTAL 0"),
        (commands.Pin(7, "A", 3, True), "PIN_OUT A 3"),
        (Extend(7, "A", "m.dag"), "EXTEND A m.dag"),
        (
            Extend(7, "A", "m n", False, "d", ""),
            'EXTEND A "m n" ANYWHERE DIR d PREFIX NONE',
        ),
        (
            Scatter(7, "A", "l", "x{item}", "x.sub", "", "S+", 2, (("k", "{1}"),)),
            "SCATTER A l x{item} x.sub PREFIX S+ RETRY 2 VARS k={1}",
        ),
    ],
)
def test_printed_lines(command: Command, line: str) -> None:
    assert lines_of(command) == line


@pytest.mark.parametrize(
    "command",
    [
        commands.Job(1, "CHILD", "x"),
        commands.Job(1, "a b", "x"),
        commands.Job(1, "A", "x\ny"),
        commands.Job(1, "A", "{"),
        commands.Job(1, "A", ""),
        commands.Job(1, "A", "{", description="x\n}"),
        commands.Job(1, "A", "{", description="#x"),
        commands.Job(1, 'a"b', "x"),
        commands.Done(1, ""),
        commands.Done(1, "A\\"),
        commands.Vars(1, "A", None, ()),
        commands.Vars(1, "A", None, (("queue", "1"),)),
        commands.ParentChild(1, ("a", "child"), ("b",)),
        commands.SetJobAttr(1, " x"),
        commands.RetryLine(1, "A", -1),
        commands.RetryLine(1, "A", 1, ()),
        commands.RetryLine(1, "A", 1, only_if=(1, 0)),
        commands.RetryLine(1, "A", 1, backoff=0.5),
        commands.RetryLine(1, "A", 1, backoff=float("inf")),
        TimeoutLine(1, "A"),
        TimeoutLine(1, "A", queued=-1),
        commands.Dot(1, "f\0"),
    ],
)
def test_what_can_not_be_written_is_refused(command: Command) -> None:
    with pytest.raises(ValueError, match=r"can't be written|not closed"):
        lines_of(command)


def test_plus_is_written_where_it_can_be_read() -> None:
    job = commands.Job(1, "S+A", "x")
    with pytest.raises(ValueError, match="can't be written"):
        lines_of(job)
    assert lines_of(job, allow_any_node_name_characters=True) == "JOB S+A x"


_FACTOR = st.sampled_from([1.0, 1.5, 2.0, 10.0, 1e9, 2147483646.75, 1.0000001, 0.5])
_CODES = st.lists(NUMBER, max_size=3).map(tuple)
_DESCRIPTION = st.lists(st.text("ax={}@E 1\\", max_size=8), max_size=4).map("\n".join)


@st.composite
def _commands(draw: Any) -> Command:
    """A command of any class with any content that its types allow, most of which can be written.

    Names are those that the lexer can give, so that quotes in them are in pairs.
    """
    kinds = sorted({row.command for row in map(of_word, WORDS) if row is not None}, key=str)
    cls = draw(st.sampled_from(kinds))
    if home(cls):
        return draw(commands_of(row_of(of_class(cls).word)))
    values = {"line": 1}
    for field, kind in cls.__annotations__.items():
        if field != "line":
            values[field] = draw(_of(field, kind))
    if cls is commands.Job and values["description"] is not None:
        values["submit"] = draw(st.sampled_from(["{", "@=E", "@=1"]))
    command: Command = cls(**values)
    return command


def _of(field: str, kind: str) -> st.SearchStrategy[Any]:
    special: dict[str, st.SearchStrategy[Any]] = {
        "kind": st.sampled_from(ScriptKind if kind == "ScriptKind" else NodeKind),
        "debug_stream": st.sampled_from(["", "STDOUT", "STDERR", "ALL"]),
        "description": st.one_of(st.none(), _DESCRIPTION) if "None" in kind else _DESCRIPTION,
        "parents": st.lists(NAME, min_size=1, max_size=3).map(tuple),
        "children": st.lists(NAME, min_size=1, max_size=3).map(tuple),
        "pairs": st.lists(st.tuples(st.text("kq_.+Q", min_size=1), LINE), max_size=3).map(tuple),
        "name": NAME,
        "node": NAME,
    }
    by_kind: dict[str, st.SearchStrategy[Any]] = {
        "str": LINE,
        "str | None": st.one_of(st.none(), LINE),
        "int": NUMBER,
        "bool": FLAG,
        "bool | None": st.one_of(st.none(), FLAG),
        "int | None": st.one_of(st.none(), NUMBER),
        "float": _FACTOR,
        "float | None": st.one_of(st.none(), _FACTOR),
        "tuple[int, ...] | None": st.one_of(st.none(), _CODES),
    }
    return special[field] if field in special else by_kind[kind]


@given(_commands())
def test_what_is_printed_is_read_as_the_same(command: Command) -> None:
    try:
        text = lines_of(command)
    except ValueError:
        assume(False)
        raise
    read = good(text)
    assert type(read) is type(command)
    assert read[1:] == command[1:]


_PIECES = (
    *sorted(WORDS),
    "A",
    "b",
    "CHILD",
    "EXTERNAL",
    "DIR",
    "NOOP",
    "PRE",
    "HOLD",
    "3",
    "5%",
    "WAIT",
)
_ODD = ('"', "'", "\\", "x=1", '="a b"', "{\nx\n}", "@=E\nx\n@E", "INCLUDE", "UPDATE", "SET", " ")


@given(st.lists(st.sampled_from(_PIECES + _ODD), max_size=12), FLAG)
def test_whatever_is_read_can_be_printed(pieces: list[str], blanks: bool) -> None:
    for command in parse((" " if blanks else "").join(pieces), "x.dag").commands:
        reading = Reading("x.dag")
        assert [one[1:] for one in iter_commands(lines_of(command), reading)] == [command[1:]]


@given(st.text(alphabet="a\"' \\", max_size=12))
def test_every_name_that_can_be_read_can_be_printed(text: str) -> None:
    name = word(text)
    assume(name)
    command = commands.Priority(1, name or "", 1)
    assert good(lines_of(command)) == command
