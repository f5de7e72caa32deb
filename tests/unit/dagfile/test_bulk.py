"""Simple lines: which ones are, and that a run says what its lines say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.dagfile import bulk
from condor_pydagman.dagfile.commands import Job, ParentChild, RetryLine, ScriptLine, Vars
from condor_pydagman.dagfile.parser import Reading, iter_commands, parse

SIMPLE = [
    "JOB A a.sub",
    "JOB\tA  dir/a.sub \r",
    'VARS A x="1"',
    'VARS A x="1" y="it\'s a=b"  z="" ',
    "PARENT A CHILD B",
    "PARENT A CHILD B C\tD",
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


def run_of(text: str, begin: int = 0, line: int = 1) -> bulk.Run | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "SHORTEST", 1)
        return bulk.take(text, begin, line)


@pytest.mark.parametrize("line", SIMPLE)
def test_simple_lines(line: str) -> None:
    run = run_of(f"{line}\n" * 3)
    assert run is not None
    assert run.lines == 3


@pytest.mark.parametrize("line", NOT_SIMPLE)
def test_what_is_not_simple_ends_a_run(line: str) -> None:
    assert run_of(f"{line}\n" * 3) is None
    run = run_of(f"JOB A a\nJOB B b\n{line}\nJOB C c\n")
    assert run is not None
    assert (run.lines, [name for name, _ in run.rows("JOB")]) == (2, ["A", "B"])


def test_the_last_line_without_a_line_feed_is_left() -> None:
    run = run_of("JOB A a\nJOB B b")
    assert run is not None
    assert run.lines == 1
    assert run_of("JOB A a") is None


def test_a_run_begins_where_it_is_told() -> None:
    run = run_of("FOO\nJOB A a\n\nJOB B b\n", 4, 2)
    assert run is not None
    assert (run.line, run.lines) == (2, 3)
    assert list(run.job_lines()) == [2, 4]
    assert [number for number, _ in run.numbered()] == [2, 3, 4]


def test_a_run_taken_again_is_the_same() -> None:
    text = "FOO\n" + 'JOB A a\nVARS A x="1"\n' * 20 + "BAR\n"
    run = bulk.take(text, 4, 2)
    assert run is not None
    again = bulk.again(text, 4, (run.line, run.lines, len(run.text)))
    assert (again.line, again.lines, again.text) == (run.line, run.lines, run.text)
    assert [list(again.rows(kind)) for kind in bulk.KINDS] == [
        list(run.rows(kind)) for kind in bulk.KINDS
    ]


def test_a_run_of_a_kind_that_is_not_there() -> None:
    run = run_of("JOB A a\n")
    assert run is not None
    assert [len(run.rows(kind)) for kind in bulk.USES] == [0] * len(bulk.USES)


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
def test_a_run_says_what_its_lines_say_one_by_one(found: list[str]) -> None:
    text = "".join(line + "\n" for line in found)
    run = run_of(text)
    if run is None:
        return
    taken = "".join(line + "\n" for line in found[: run.lines])
    commands = list(iter_commands(taken, Reading("x.dag")))
    jobs = [command for command in commands if isinstance(command, Job)]
    assert list(run.rows("JOB")) == [(job.name, job.submit) for job in jobs]
    assert list(run.job_lines()) == [job.line for job in jobs]
    assert [(node, tuple(bulk.simple_pairs(pairs))) for node, pairs in run.rows("VARS")] == [
        (command.node, command.pairs) for command in commands if isinstance(command, Vars)
    ]
    for command, (node, limit) in zip(of_kind(commands, RetryLine), run.rows("RETRY")):
        assert (command.node, command.limit) == (node, int(limit))
    for kind in ("PRE", "POST"):
        scripts = [one for one in of_kind(commands, ScriptLine) if one.kind.name == kind]
        assert [(one.node, one.command) for one in scripts] == list(run.rows(f"SCRIPT {kind}"))
    # Names that are not there are looked for one by one, CHILD among them.
    edges = [row for row in run.rows("PARENT") if "CHILD" not in row[1].upper().split()]
    plain = [one for one in of_kind(commands, ParentChild) if len(one.parents) == 1]
    assert [(one.parents[0], list(one.children)) for one in plain] == [
        (parent, children.split()) for parent, children in edges
    ] or len(edges) < len(run.rows("PARENT"))


def of_kind(commands: Sequence[object], kind: type) -> list[Any]:
    return [command for command in commands if isinstance(command, kind)]


@given(st.lists(lines, min_size=1, max_size=6))
def test_simple_lines_have_no_errors(found: list[str]) -> None:
    text = "".join(line + "\n" for line in found)
    run = run_of(text)
    if run is not None and "CHILD" not in text.upper().replace(" CHILD ", "", 1):
        taken = "".join(line + "\n" for line in found[: run.lines])
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


def test_pairs() -> None:
    assert bulk.simple_pairs('x="1"  +y="a b" x=""') == [("x", "1"), ("My.y", "a b"), ("x", "")]


def test_long_lines_take_time_linear_in_their_length() -> None:
    names = " ".join(f"n{number}" for number in range(100_000))
    pairs = " ".join(f'k{number}="v"' for number in range(100_000))
    long = f"PARENT A CHILD {names}"
    for line, simple in ((long, True), (f"VARS A {pairs}", False), (f"{long} +", False)):
        run = run_of(f"JOB A a\n{line}\n")
        assert run is not None
        assert run.lines == 1 + simple
