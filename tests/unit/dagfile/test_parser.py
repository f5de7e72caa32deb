"""From text to commands; what every kind of bad line gives is in graph/stock_reactions.json."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import Reading, iter_commands, manager_commands, parse
from condor_pydagman.errors import DagFileError
from condor_pydagman.vocabulary import ScriptKind


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("JOB A a.sub", commands.Job(1, "A", "a.sub")),
        ("job A 'a b' noop Done dir d", commands.Job(1, "A", "a b", "d", True, True)),
        ('JOB "A" x DIR a DIR "b c"', commands.Job(1, '"A"', "x", "b c")),
        (
            "JOB A {\nx=1\n\n#\n y=2\n} DIR d",
            commands.Job(1, "A", "{", "d", False, False, "x=1\ny=2"),
        ),
        ("JOB A @=E junk\nx\n@E NOOP", commands.Job(1, "A", "@=E", "", True, False, "x")),
        ("submit-description d {\nx\n} y", commands.SubmitDescription(1, "d", "x")),
        ("PARENT a CHILD b", commands.ParentChild(1, ("a",), ("b",))),
        ("parent a b child c CHILD d", commands.ParentChild(1, ("a", "b"), ("c", "d"))),
        ("PARENT a b CHILD c d", commands.ParentChild(1, ("a", "b"), ("c", "d"))),
        ('PARENT "a b" CHILD c', commands.ParentChild(1, ('"a b"',), ("c",))),
        ("SCRIPT PRE A x  'y", commands.ScriptLine(1, "A", ScriptKind.PRE, "x  'y")),
        (
            "script debug f stdout defer -1 20 hold A x",
            commands.ScriptLine(1, "A", ScriptKind.HOLD, "x", -1, 20, "f", "STDOUT"),
        ),
        ("RETRY A 3", commands.RetryLine(1, "A", 3)),
        ("RETRY A 3 unless_exit -2", commands.RetryLine(1, "A", 3, -2)),
        ("ABORT-DAG-ON A -9 RETURN 0", commands.AbortDagOn(1, "A", -9, 0)),
        ("abort_dag_on A 1", commands.AbortDagOn(1, "A", 1)),
        ('VARS A x="1"', commands.Vars(1, "A", None, (("x", "1"),))),
        ("vars A APPEND x=1", commands.Vars(1, "A", True, (("x", "1"),))),
        ("PRIORITY A -5", commands.Priority(1, "A", -5)),
        ("PRE-SKIP A 0", commands.PreSkip(1, "A", 0)),
        ("CATEGORY A c", commands.Category(1, "A", "c")),
        ("MAXJOBS c 0", commands.MaxJobs(1, "c", 0)),
        ("DONE A", commands.Done(1, "A")),
        ("NODE_STATUS_FILE 'a b' 5 always_update", commands.NodeStatusFile(1, "a b", 5, True)),
        ("JOBSTATE_LOG j", commands.JobstateLog(1, "j")),
        ("DOT d update OVERWRITE include h", commands.Dot(1, "d", True, True, "h")),
        ("DOT d UPDATE DONT-UPDATE", commands.Dot(1, "d")),
        ("REJECT", commands.Reject(1)),
        ("CONFIG 'c d'", commands.ConfigFile(1, "c d")),
        ("SET_JOB_ATTR a = 'b", commands.SetJobAttr(1, "a = 'b")),
        ("ENV get A,B C", commands.Env(1, False, "A,B C")),
        ("ENV SET A=1;B='x", commands.Env(1, True, "A=1;B='x")),
        ("PARENT a \\\n  CHILD b", commands.ParentChild(2, ("a",), ("b",))),
        ("RETRY A 3\r\n", commands.RetryLine(1, "A", 3)),
        ("JOB A\u00e9\u00a0\u2028b x\udcff", commands.Job(1, "A\u00e9\u00a0\u2028b", "x\udcff")),
    ],
)
def test_good_lines(text: str, command: Command) -> None:
    parsed = parse(text, "x.dag")
    assert parsed.errors == []
    assert parsed.commands == [command]
    assert type(parsed.commands[0]) is type(command)


def test_reading_goes_on_after_errors() -> None:
    parsed = parse("JOB\nPARNT A CHILD B\nJOB A a.sub\nRETRY A x\n", "x.dag")
    assert parsed.commands == [commands.Job(3, "A", "a.sub")]
    assert [str(error) for error in parsed.errors] == [
        "ERROR: x.dag:1 Failed to parse JOB command: Missing node name",
        "ERROR: x.dag:2 'PARNT' is not a valid DAG command",
        "ERROR: x.dag:4 Failed to parse RETRY command:"
        " Invalid max retry value 'x' (Must be positive integer)",
    ]
    assert "did you mean PARENT?" in parsed.errors[1].detail()


def test_an_error_shows_where_and_what_was_expected() -> None:
    (error,) = parse("\n  RETRY A x", "x.dag").errors
    assert (error.line, error.text, error.column) == (2, "RETRY A x", 9)
    assert error.detail().split("\n") == [
        "ERROR: x.dag:2 Failed to parse RETRY command:"
        " Invalid max retry value 'x' (Must be positive integer)",
        "       Example sytanx: RETRY <node> <max retries> [UNLESS-EXIT <code>]",
        "    RETRY A x",
        "            ^",
    ]


def test_a_long_line_is_shown_in_part() -> None:
    (error,) = parse("JOB A x " + "y" * 5000 + " z", "x.dag").errors
    assert len(error.text) <= 200
    assert error.text[error.column - 1] == "y"
    assert len(str(error)) < 1200


def test_an_error_after_an_inline_description_shows_the_closing_line() -> None:
    (error,) = parse("JOB A {\nx\n} FOO", "x.dag").errors
    assert str(error) == "ERROR: x.dag:1 Failed to parse JOB command: Unexpected token 'FOO'"
    assert (error.text, error.column) == ("} FOO", 3)


def test_errors_are_limited() -> None:
    parsed = parse("FOO\n" * 100, "x.dag", limit_errors=5)
    assert len(parsed.errors) == 5


def test_a_byte_order_mark_is_explained() -> None:
    (error,) = parse("\ufeffJOB A x", "x.dag").errors
    assert "byte order mark" in error.hint


def test_a_nul_character_is_an_error_with_its_line() -> None:
    parsed = parse("JOB A x\nJOB B \0\n", "x.dag")
    assert parsed.commands == []
    assert parsed.errors[0].line == 2


@pytest.mark.parametrize(
    "text",
    ["FINAL F x", "final F {\nfoo bar\n}", "SPLICE S s.dag", "PIN-IN A 1", "WEAK PARENT A CHILD B"],
)
def test_commands_of_a_later_version(text: str) -> None:
    (error,) = parse(text, "x.dag").errors
    assert str(error).endswith(" is not supported by this version yet")
    assert str(error).startswith("ERROR: x.dag:1 ")


def test_lines_of_other_commands_are_skipped_with_their_descriptions() -> None:
    text = "JOB A {\nRETRY x\n}\nSUBMIT-DESCRIPTION d @=X\nFOO\n@X\nJOB\nDONE A\n"
    reading = Reading("x.dag", words=("DONE",))
    assert list(iter_commands(text, reading)) == [commands.Done(8, "A")]
    assert reading.errors == []


def test_manager_commands() -> None:
    text = "CONFIG c\nJOB A {\nENV SET a=1\n}\nJOB\nSET_JOB_ATTR x = 1\nFINAL F x\nENV GET A\n"
    assert manager_commands(text, "x.dag") == [
        commands.ConfigFile(1, "c"),
        commands.SetJobAttr(6, "x = 1"),
        commands.Env(8, False, "A"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FOO", "'FOO' is not a valid DAG command"),
        ("JOB A {\nx", "Failed to parse JOB command: Missing inline description closing token: }"),
        ("FINAL A @=T", "Missing inline description closing token: @T"),
        ("CONFIG", "Failed to parse CONFIG command: No configuration file specified"),
        ("ENV FOO", "Failed to parse ENV command: Unexpected token 'FOO'"),
    ],
)
def test_what_condor_submit_dag_checks(text: str, message: str) -> None:
    with pytest.raises(DagFileError) as caught:
        manager_commands(text, "x.dag")
    assert message in str(caught.value)


_PIECES = ["JOB", "PARENT", "CHILD", "VARS", "A", "B", "x", '"', "'", "\\", "=", "+", "{", " "]


@given(st.lists(st.sampled_from([*_PIECES, " ", "\n", "@=E", "}", "\u00a0", '="1"']), max_size=30))
def test_any_text_gives_commands_or_errors(pieces: list[str]) -> None:
    parse("".join(pieces), "x.dag")


@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=12))
def test_short_cuts_agree_with_the_ordinary_way(pieces: list[str]) -> None:
    text = "".join(pieces)
    odd = "# \u00a0\n"  # text with an odd blank takes the ordinary way throughout
    quick, slow = parse("#\n" + text, "x.dag"), parse(odd + text, "x.dag")
    assert quick.commands == slow.commands
    assert [str(error) for error in quick.errors] == [str(error) for error in slow.errors]


def test_a_very_long_line() -> None:
    names = " ".join(f"n{i}" for i in range(200_000))
    (command,) = parse(f"PARENT {names} CHILD z", "x.dag").commands
    assert isinstance(command, commands.ParentChild)
    assert len(command.parents) == 200_000
    (error,) = parse('JOB A "' + "y\\" * 500_000 + "z", "x.dag").errors
    assert "Invalid quoting" in str(error)
