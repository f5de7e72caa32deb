"""Simple lines: which ones are, and that short cuts read what the ordinary way reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.language import bulk
from condor_pydagman.language.commands import Job, ParentChild, RetryLine, ScriptLine, Vars
from condor_pydagman.language.lexer import Words
from condor_pydagman.language.modifier_lines import read_pairs
from condor_pydagman.language.parser import Reading, iter_commands, parse

SIMPLE = [
    "JOB A a.sub",
    "JOB\tA  dir/a.sub \r",
    'VARS A x="1"',
    'VARS A x="1" y="it\'s a=b"  z="" ',
    "PARENT A CHILD B",
    "PARENT A CHILD B C\tD",
    "RETRY A 3",
    "SCRIPT PRE A x.sh $JOB 'a b'",
    "SCRIPT POST A x.sh",
]
NOT_SIMPLE = [
    *("JOB A", "JOB A a.sub DONE", "job A a.sub", " JOB A a.sub", "JOB A a.dag.condor.sub"),
    *("JOB parent a.sub", "JOB Child a.sub", "JOB all_nodes a.sub", "JOB A {", "JOB A @=x"),
    *("JOB a+b x", 'JOB "A" a.sub', "JOB A 'x'", "JOB A a.sub\\", "JOB é x\f"),
    *('VARS A x="a\\"b"', "VARS A x=1", 'VARS A queue="1"', 'VARS A QUEUED="1"', "VARS A"),
    *('VARS A x="1', 'VARS A APPEND x="1"', 'VARS A x = "1"', 'VARS A x="1\t2"', 'VARS A x="é"'),
    *('VARS A x="1"y="2"', "VARS A x='1'"),
    *("PARENT A B CHILD C", "PARENT A CHILD", "PARENT CHILD B", "PARENT A child B", "PARENT A B"),
    *('PARENT A CHILD "B"', "PARENT A CHILD S+B", "WEAK PARENT A CHILD B", "PARENT A CHILD B \\"),
    *("RETRY A 1 DELAY 5", "RETRY A 1 UNLESS-EXIT 1,2", "TIMEOUT A TOTAL 5"),
    *("RETRY A", "SCRIPT A", "FINAL F x", "SPLICE S x", "{", "}", "\f", "FOO", "JOB A x\0"),
]


def simple_of(text: str, begin: int = 0, line: int = 1) -> bulk.SimpleLines | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "MIN_LINES", 1)
        return bulk.find_lines(text, begin, line)


@pytest.mark.parametrize("line", SIMPLE)
def test_simple_lines(line: str) -> None:
    simple = simple_of(f"{line}\n" * 3)
    assert simple is not None
    assert simple.lines == 3


@pytest.mark.parametrize("line", NOT_SIMPLE)
def test_what_is_not_simple_ends_the_simple_lines(line: str) -> None:
    assert simple_of(f"{line}\n" * 3) is None
    simple = simple_of(f"JOB A a\nJOB B b\n{line}\nJOB C c\n")
    assert simple is not None
    assert (simple.lines, [name for name, _ in simple.rows("JOB")]) == (2, ["A", "B"])


def test_the_last_line_without_a_line_feed_is_left() -> None:
    simple = simple_of("JOB A a\nJOB B b")
    assert simple is not None
    assert simple.lines == 1
    assert simple_of("JOB A a") is None


def test_simple_lines_begin_where_they_are_asked_for() -> None:
    simple = simple_of("FOO\nJOB A a\n\nJOB B b\n", 4, 2)
    assert simple is not None
    assert (simple.line, simple.lines) == (2, 3)
    assert list(simple.numbers("JOB")) == [2, 4]
    assert [number for number, _ in simple.numbered()] == [2, 3, 4]


def test_simple_lines_taken_again_are_the_same() -> None:
    text = "FOO\n" + 'JOB A a\nVARS A x="1"\n' * 20 + "BAR\n"
    simple = bulk.find_lines(text, 4, 2)
    assert simple is not None
    again = bulk.lines_found_before(text, 4, (simple.line, simple.lines, len(simple.text)))
    assert (again.line, again.lines, again.text) == (simple.line, simple.lines, simple.text)
    assert [list(again.rows(kind)) for kind in bulk.KINDS] == [
        list(simple.rows(kind)) for kind in bulk.KINDS
    ]


def test_simple_lines_of_a_kind_that_is_not_there() -> None:
    simple = simple_of("JOB A a\n")
    assert simple is not None
    assert [len(simple.rows(kind)) for kind in bulk.USES] == [0] * len(bulk.USES)


words = st.sampled_from(
    [
        *("JOB", "VARS", "PARENT", "CHILD", "RETRY", "SCRIPT", "PRE", "POST", "A", "B", "parent"),
        *("a.sub", 'x="1"', 'y="a b"', 'z=""', "3", "DONE", "DEFER", "ALL_NODES", "#", "//", "+My"),
        *(
            "{",
            "\\",
            "'",
            '"',
            "@=E",
            "UNLESS-EXIT",
            "é",
            "x.condor.sub",
            'Q="1"',
            '+m="2"',
            "child",
        ),
    ]
)
lines = st.lists(st.tuples(words, st.sampled_from([" ", "\t", "  ", " \r", ""])), max_size=6).map(
    lambda parts: "".join(word + blank for word, blank in parts)
)


@given(st.lists(lines, min_size=1, max_size=6))
def test_simple_lines_say_in_bulk_what_they_say_one_by_one(found: list[str]) -> None:
    text = "".join(line + "\n" for line in found)
    simple = simple_of(text)
    if simple is None:
        return
    taken = "".join(line + "\n" for line in found[: simple.lines])
    commands = list(iter_commands(taken, Reading("x.dag")))
    jobs = [command for command in commands if isinstance(command, Job)]
    assert list(simple.rows("JOB")) == [(job.name, job.submit) for job in jobs]
    assert list(simple.numbers("JOB")) == [job.line for job in jobs]
    assert [(node, tuple(bulk.simple_pairs(pairs))) for node, pairs in simple.rows("VARS")] == [
        (command.node, command.pairs) for command in commands if isinstance(command, Vars)
    ]
    for command, (node, limit) in zip(of_kind(commands, RetryLine), simple.rows("RETRY")):
        assert (command.node, command.limit) == (node, int(limit))
    for kind in ("PRE", "POST"):
        scripts = [one for one in of_kind(commands, ScriptLine) if one.kind.name == kind]
        assert [(one.node, one.command) for one in scripts] == list(simple.rows(f"SCRIPT {kind}"))
    # Names that are not there are looked for one by one, CHILD among them.
    edges = [row for row in simple.rows("PARENT") if "CHILD" not in row[1].upper().split()]
    plain = [one for one in of_kind(commands, ParentChild) if len(one.parents) == 1]
    assert [(one.parents[0], list(one.children)) for one in plain] == [
        (parent, children.split()) for parent, children in edges
    ] or len(edges) < len(simple.rows("PARENT"))


def of_kind(commands: Sequence[object], kind: type) -> list[Any]:
    return [command for command in commands if isinstance(command, kind)]


@given(st.lists(lines, min_size=1, max_size=6))
def test_simple_lines_have_no_errors(found: list[str]) -> None:
    text = "".join(line + "\n" for line in found)
    simple = simple_of(text)
    if simple is not None and "CHILD" not in text.upper().replace(" CHILD ", "", 1):
        taken = "".join(line + "\n" for line in found[: simple.lines])
        assert parse(taken, "x.dag").errors == []


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("JOB A a", "JOB"),
        ("SCRIPT PRE A x", "SCRIPT PRE"),
        ("SCRIPT\tPOST\tA x", "SCRIPT POST"),
        ("RETRY A 1", "RETRY"),
    ],
)
def test_kinds(line: str, kind: str) -> None:
    assert bulk.kind_of(line) == kind
    assert kind in bulk.KINDS


@pytest.mark.parametrize("line", [line.strip() for line in SIMPLE])
def test_a_simple_line_by_itself_is_read_as_word_by_word(line: str) -> None:
    word = line.split()[0]
    (command,) = parse("# \u00a0\n" + line, "x.dag").commands  # word by word: the blank is odd
    assert bulk.read_line(line, word, 2) == command


@pytest.mark.parametrize("line", [line for line in NOT_SIMPLE if line.split()[:1] == ["VARS"]])
def test_other_lines_by_themselves_are_left_to_the_ordinary_way(line: str) -> None:
    assert bulk.read_line(line, "VARS", 1) is None


@given(st.text(alphabet="ANq =\"\\'.+ue\t", max_size=30))
def test_the_pairs_of_a_simple_line_are_those_read_word_by_word(pairs: str) -> None:
    line = ("VARS N " + pairs).strip()
    found = bulk.read_line(line, "VARS", 1)
    if found is not None:
        assert found == Vars(1, "N", None, tuple(read_pairs(Words(line, 6))[1]))


def test_a_line_of_very_many_pairs_is_read_word_by_word() -> None:
    assert bulk.read_line("VARS A" + ' k="v"' * 100, "VARS", 1) is None


def test_a_second_child_is_left_to_the_ordinary_way() -> None:
    assert bulk.read_line("PARENT A CHILD B CHILD C", "PARENT", 1) is None


def test_pairs() -> None:
    assert bulk.simple_pairs('x="1"  +y="a b" x=""') == [("x", "1"), ("My.y", "a b"), ("x", "")]


def test_long_lines_take_time_linear_in_their_length() -> None:
    names = " ".join(f"n{number}" for number in range(100_000))
    pairs = " ".join(f'k{number}="v"' for number in range(100_000))
    long = f"PARENT A CHILD {names}"
    for line, is_simple in ((long, True), (f"VARS A {pairs}", False), (f"{long} +", False)):
        simple = simple_of(f"JOB A a\n{line}\n")
        assert simple is not None
        assert simple.lines == 1 + is_simple
