"""Lines that define nodes; the messages are those of the stock checker for the same lines."""

from __future__ import annotations

import pytest

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command, Job
from condor_pydagman.language.parser import Reading, iter_commands
from condor_pydagman.vocabulary import NodeKind
from tests.unit.language.one_line import good, message, warnings, wrong


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("JOB A a.sub", Job(1, "A", "a.sub")),
        ("Job A x.condor DONE", Job(1, "A", "x.condor", done=True)),
        ("FINAL F f", Job(1, "F", "f", kind=NodeKind.FINAL)),
        ("final F f dir d noop", Job(1, "F", "f", "d", True, kind=NodeKind.FINAL)),
        ("PROVISIONER P p DONE", Job(1, "P", "p", done=True, kind=NodeKind.PROVISIONER)),
        ("Service S s", Job(1, "S", "s", kind=NodeKind.SERVICE)),
        (
            "FINAL F @=E\nx\n@E NOOP",
            Job(1, "F", "@=E", "", True, False, "x", NodeKind.FINAL),
        ),
        ('JOB C "{"\nfoo\n}', Job(1, "C", "{", description="foo")),
        ("job C '@=E F'\nfoo\n@E F", Job(1, "C", "@=E F", description="foo")),
        ('JOB C x DIR "" DONE', Job(1, "C", "x", "DONE")),
        ('JOB "" x', Job(1, '""', "x")),
        ("SUBDAG EXTERNAL S x.dag", commands.Subdag(1, "S", "x.dag")),
        ("subdag External S 'x y' DONE DIR d", commands.Subdag(1, "S", "x y", "d", False, True)),
        ("SUBDAG EXTERNAL S {", commands.Subdag(1, "S", "{")),
        ("DATA D d.dap", commands.Job(1, "D", "d.dap", kind=NodeKind.DATA)),
        (
            "data D d.dap DIR d noop done",
            commands.Job(1, "D", "d.dap", "d", True, True, kind=NodeKind.DATA),
        ),
        ("SPLICE S s.dag", commands.Splice(1, "S", "s.dag")),
        ('SPLICE S "s".dag dir "a b"', commands.Splice(1, "S", "s.dag", "a b")),
        ('SPLICE S "" s.dag', commands.Splice(1, "S", "s.dag")),
        ("SPLICE PARENT s+t.dag", commands.Splice(1, "PARENT", "s+t.dag")),
        ("SUBMIT_DESCRIPTION d @=X\n\n a\n@X", commands.SubmitDescription(1, "d", "a")),
    ],
)
def test_good_lines(text: str, command: Command) -> None:
    assert good(text) == command
    assert type(good(text)) is type(command)


@pytest.mark.parametrize("word", ["JOB", "FINAL", "PROVISIONER", "SERVICE", "DATA", "SUBDAG"])
def test_all_kinds_of_nodes_are_checked_alike(word: str) -> None:
    line = "SUBDAG EXTERNAL" if word == "SUBDAG" else word
    assert message(line) == f"{word}: Missing node name"
    assert message(f"{line} N") == f"{word}: No submit description provided"
    assert message(f'{line} N ""') == f"{word}: No submit description provided"
    assert message(f"{line} all_nodes x") == f"{word}: Node name is a reserved word"
    assert message(f"{line} a+b x") == f"{word}: Node name contains illegal charater"
    assert message(f"{line} N x DIR") == f"{word}: No directory path provided for DIR subcommand"
    assert message(f"{line} N x FOO") == f"{word}: Unexpected token 'FOO'"
    assert message(f'{line} N "x') == f"{word}: Invalid quoting: no ending quote found"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SUBDAG S x.dag", "SUBDAG: Missing EXTERNAL keyword"),
        ('SUBDAG "EXTERNAL" S x', "SUBDAG: Missing EXTERNAL keyword"),
        ("SPLICE S s DIR", "SPLICE: No directory path provided for DIR subcommand"),
        ("SPLICE S s DIR . DIR .", "SPLICE: Unexpected token 'DIR'"),
        ("SPLICE S s NOOP", "SPLICE: Unexpected token 'NOOP'"),
        ("JOB C { x }", "JOB: Missing inline description closing token: }"),
        ("FINAL C @=E", "FINAL: Missing inline description closing token: @E"),
    ],
)
def test_wrong_lines(text: str, expected: str) -> None:
    assert message(text) == expected


def test_plus_is_allowed_where_the_configuration_allows_it() -> None:
    reading = Reading("x.dag", allow_any_node_name_characters=True)
    assert list(iter_commands("FINAL a+b x", reading))
    assert reading.errors == []


def test_what_follows_an_opening_brace_is_ignored_with_a_warning() -> None:
    assert warnings("JOB C {a b\nx\n}") == [
        "Warning: x.dag:1 'a b', what follows {a on its line, is ignored"
    ]
    assert warnings("JOB C {\nx\n} NOOP") == []


def test_hints() -> None:
    assert wrong("JOB A").hint == "a node needs a submit file, as in: JOB A file.sub"
    assert wrong("JOB A x DONNE").hint == "did you mean DONE?"
    assert wrong("JOB A x y").hint == "expected DIR, NOOP or DONE"
    assert wrong("SUBDAG EXTERN A x").hint == "did you mean EXTERNAL?"
    assert wrong("JOB a+b x").column == 6
