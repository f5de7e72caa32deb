"""From text to commands; what every kind of bad line gives is in graph/stock_reactions.json."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.errors import DagFileError
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import WORDS
from condor_pydagman.language.parser import Reading, iter_commands, manager_commands, parse
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
        ("RETRY A 3 unless_exit -2", commands.RetryLine(1, "A", 3, (-2,))),
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
    assert (error.line, error.place, error.column) == (2, 2, 11)
    assert error.detail().split("\n") == [
        "ERROR: x.dag:2 Failed to parse RETRY command:"
        " Invalid max retry value 'x' (Must be positive integer)",
        "       Example sytanx: RETRY <node> <max retries> [UNLESS-EXIT <code>]",
        "    x.dag:2:11:",
        "    RETRY A x",
        "            ^",
        "       expected a whole number, 0 or more",
    ]


def test_an_unknown_command_shows_stock_s_lines_first() -> None:
    (error,) = parse("FOO-bar x", "x.dag").errors
    assert error.detail().split("\n")[:2] == [
        "ERROR: x.dag:1 'FOO_bar' is not a valid DAG command",
        "       Example sytanx: Not a valid command",
    ]


def test_an_error_in_a_continued_command_shows_the_line_it_is_on() -> None:
    """Stock DAGMan's number is that of the last line."""
    text = "JOB A x\nVARS A \\\n\n  # why\n\tx=1 \\\n  y z=3 \\\nw=4\n"
    (error,) = parse(text, "x.dag").errors
    assert error.line == 7
    assert (error.place, error.column, error.text) == (6, 5, "y z=3 \\")
    assert error.text[error.caret - 1] == "z"
    (error,) = parse("RETRY \\\nA \\\n\\\n", "x.dag").errors or [None]
    assert error is None


def test_a_long_line_is_shown_in_part() -> None:
    (error,) = parse("JOB A x " + "y" * 5000 + " z", "x.dag").errors
    assert len(error.text) <= 200
    assert error.text[error.caret - 1] == "y"
    assert error.column == 9
    assert len(str(error)) < 1200


def test_what_can_not_be_printed_is_shown_by_name() -> None:
    (error,) = parse("\t JOB\tA\tx \x1b[2J\udcff", "x.dag").errors
    assert error.text == "JOB A x \\x1b[2J\\xff"
    assert (error.column, error.caret) == (11, 9)
    assert str(error).endswith("Unexpected token '\\x1b[2J\\xff'")


def test_an_error_after_an_inline_description_shows_the_closing_line() -> None:
    (error,) = parse("JOB A {\nx\n } FOO", "x.dag").errors
    assert str(error) == "ERROR: x.dag:1 Failed to parse JOB command: Unexpected token 'FOO'"
    assert (error.place, error.column, error.text, error.caret) == (3, 4, "} FOO", 3)


def test_errors_are_limited_and_counted() -> None:
    parsed = parse("FOO\nJOB\n" * 50 + "JOB A x", "x.dag", max_errors=5)
    assert (len(parsed.errors), parsed.lost) == (5, 95)
    assert parsed.commands == [commands.Job(101, "A", "x")]


def test_a_nul_character_is_an_error_with_its_line() -> None:
    parsed = parse("JOB A x\nJOB B \0\n", "x.dag")
    assert parsed.commands == []
    (error,) = parsed.errors
    assert (error.line, error.column, error.text) == (2, 7, "JOB B \\x00")
    (error,) = parse("\ufffdJ\0O\0B\0", "x.dag").errors
    assert error.hint == "the file seems to be UTF-16: save it as UTF-8"


def test_a_command_that_the_end_cuts_off_is_dropped_with_a_warning() -> None:
    parsed = parse("JOB A x\nJOB B \\\n# more\n x \\\n", "x.dag")
    assert parsed.commands == [commands.Job(1, "A", "x")]
    assert [str(warning) for warning in parsed.warnings] == [
        "Warning: x.dag:2 The command is ignored: its last line ends in \\, and the file ends there"
    ]
    second = Reading("x.dag", is_second_reading=True)
    assert list(iter_commands("JOB A \\", second)) == second.warnings == []


def test_warnings_are_limited() -> None:
    assert len(parse("RETRY A 1x\n" * 100, "x.dag", max_errors=5).warnings) == 5


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


_ANY = (
    *sorted(WORDS),
    *_PIECES,
    " ",
    "\n",
    "\\\n",
    "@=E",
    "@E",
    "}",
    "%",
    "\u00a0",
    "\x1b",
    "\udc80",
    '="1"',
)
_TEXTS = st.one_of(
    st.text(st.characters()),
    st.lists(st.sampled_from(_ANY), max_size=40).map("".join),
    st.lists(st.sampled_from(_ANY), max_size=40).map(" ".join),
)


@given(_TEXTS)
def test_any_text_gives_commands_and_errors_with_a_place_in_it(text: str) -> None:
    parsed = parse(text, "x.dag")
    count = text.count("\n") + 1
    for error in parsed.errors:
        assert type(error) is DagFileError
        assert 1 <= error.place <= error.line <= count or 1 <= error.line <= error.place <= count
        assert 1 <= error.column <= len(text.split("\n")[error.place - 1]) + 1
        assert 1 <= error.caret <= len(error.text) + 1
        assert error.detail().isascii() or error.detail().replace("\n", "").isprintable()
    for warning in parsed.warnings:
        assert 1 <= warning.line <= count


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


def test_very_many_short_lines_of_one_command() -> None:
    (command,) = parse("PARENT a CHILD \\\n" + "b \\\n" * 100_000 + "c", "x.dag").commands
    assert isinstance(command, commands.ParentChild)
    assert len(command.children) == 100_001
    (job,) = parse("JOB A {\n" + "xy\n" * 100_000 + "}", "x.dag").commands
    assert isinstance(job, commands.Job)
    assert job.description == "\n".join(["xy"] * 100_000)
    (error,) = parse("RETRY A \\\n" + "b \\\n" * 100_000 + "c", "x.dag").errors
    assert (error.line, error.place) == (100_002, 2)


def test_very_many_wrong_lines() -> None:
    parsed = parse("RETRY A x\nFOO\n" * 50_000, "x.dag")
    assert (len(parsed.errors), parsed.lost) == (20, 99_980)
