"""Lines of a fixed number of arguments."""

from __future__ import annotations

import pytest

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.language.lines import Context, Lines
from condor_pydagman.language.parser import lines_of
from condor_pydagman.language.syntax import NODE, FixedLine, file, rest, whole_number
from tests.unit.language.one_line import good

PRIORITY = FixedLine("PRIORITY", commands.Priority, (NODE, whole_number("missing", "not '{}'", 0)))


def read(line: FixedLine, rest: str) -> Command:
    return line.read(Words(rest), Context(Lines([])))


def test_a_line_is_read_and_written() -> None:
    command = commands.Priority(0, "A", 5)
    assert read(PRIORITY, "A 5") == command
    assert PRIORITY.write(command) == "PRIORITY A 5"


@pytest.mark.parametrize(
    ("text", "message"),
    [("A", "missing"), ("A x", "not 'x'"), ("A -1", "not '-1'"), ("A 5 6", "Unexpected token '6'")],
)
def test_wrong_lines(text: str, message: str) -> None:
    with pytest.raises(LineError, match=f"^{message}$"):
        read(PRIORITY, text)


def test_files_and_the_rest_of_a_line() -> None:
    include = FixedLine("INCLUDE", commands.Include, (file("no file"),))
    assert read(include, '"a b"') == commands.Include(0, "a b")
    assert include.write(commands.Include(0, "a b")) == 'INCLUDE "a b"'
    attribute = FixedLine("SET_JOB_ATTR", commands.SetJobAttr, (rest("no attribute"),))
    assert read(attribute, ' a = "b c"') == commands.SetJobAttr(0, 'a = "b c"')
    with pytest.raises(LineError, match="no attribute"):
        read(attribute, " ")


@pytest.mark.parametrize(
    "line",
    [
        *("REJECT", "INCLUDE a.dag", "CONNECT S T", "PRIORITY A -3", "PRE_SKIP A 1", "DONE A"),
        *("CATEGORY A c", "MAXJOBS c 0", "JOBSTATE_LOG j", "CONFIG c", "SET_JOB_ATTR a = b"),
    ],
)
def test_commands_of_this_form(line: str) -> None:

    assert lines_of(good(line)) == line
