"""Lines of submit descriptions that nobody uses.

The same descriptions are given to the stock checker in tests/pool/test_dag_checker.py.
"""

from __future__ import annotations

import pytest

from condor_pydagman.graph.lint.submit_commands import ALWAYS, BY_UNIVERSE
from condor_pydagman.graph.lint.unused_lines import Unused, queue_variables, unused_lines


def unused(*lines: str, queue: str = "", text: str = "") -> list[str]:
    """Names of the unused lines of a description."""
    values = dict(line.split("=", 1) for line in ("executable=/bin/true", *lines))
    return [one.name for one in unused_lines(values, queue, text)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["zork=1", "Blah=", "y=$(x)", "x=1"], ["zork", "y", "x", "Blah"]),
        (["arguments=$(x)", "x=$(y:$(z))", "y=1", "z=2"], []),
        (["arguments=$Fn(f)$INT(i,%d)$CHOICE(c,l)", "f=a", "i=1", "c=0", "l=a,b"], []),
        (["MY.a=$(x)", "x=1"], []),
        (["foo.bar=$(x)", "x=1"], ["x"]),
        (["DAG_STATUS=1", "FAILED_COUNT=1", "JOB=1", "RETRY=1", "SubmitWarnEmptyMatches=1"], []),
        (["request_foo=1", "request_cpu=1"], ["request_cpu"]),
        (["arguments=a", "args=b"], ["args"]),
        (["ARGS=b", "Request_Memory=1"], []),
        (["universe=Vanilla", "machine_count=2"], ["machine_count"]),
        (["universe=parallel", "machine_count=2", "docker_image=x"], ["docker_image"]),
        (["universe=grid", "grid_resource=batch x", "batch_queue=q", "ec2_tag_Name=n"], []),
        (["batch_queue=q", "vm_memory=3"], ["vm_memory", "batch_queue"]),
        (["universe=$(u)", "u=vm", "vm_memory=3", "grid_resource=x"], []),
        (["cron_window=1"], ["cron_window"]),
        (["cron_window=1", "cron_minute=1"], []),
        (["shell=echo"], ["executable"]),
        (["cmd=a"], ["cmd"]),
    ],
)
def test_which_lines_nobody_uses(lines: list[str], expected: list[str]) -> None:
    assert unused(*lines) == expected


def test_an_executable_has_another_name() -> None:
    assert not unused_lines({"cmd": "/bin/true"})


def test_variables_of_the_queue_statement() -> None:
    assert unused("n=2", "a=$(y)", queue="$(n) x,y in (a b)") == ["y", "x", "a"]
    assert unused("arguments=$(Item)", queue="in (a b)") == []
    assert unused("x=1", "arguments=$(y)", queue="x from $(y)") == ["x"]


@pytest.mark.parametrize(
    ("queue", "names"),
    [
        ("", []),
        ("3", []),
        ("$(n)", []),
        ("in (a b)", ["Item"]),
        ("2 in (a b)", ["Item"]),
        ("x, y from z", ["x", "y"]),
        ("$(n) x matching files *.in", ["x"]),
    ],
)
def test_names_that_a_queue_statement_sets(queue: str, names: list[str]) -> None:
    assert queue_variables(queue) == names


def test_statements_use_macros() -> None:
    assert unused("x=1", "y=2", text="if $(x) == 1\n  if defined y\nendif\nendif\n") == []
    assert unused("x=1", text="include : $(x)/more\n") == []
    assert unused("if_x=$(x)", "x=1", text="if_x = $(x)\n") == ["x", "if_x"]


def test_the_words() -> None:
    line = "the line 'X = 2' was unused by DAGMAN. Is it a typo?"
    assert Unused("X", "2").message("DAGMAN") == line
    variable = "the Queue variable 'x' was unused by condor_submit. Is it a typo?"
    assert Unused("x", None).message("condor_submit") == variable


def test_the_tables_name_each_command_once() -> None:
    for groups in (ALWAYS, *BY_UNIVERSE.values()):
        names = [name for group in groups for name in group]
        assert len(names) == len(set(names))
        assert all(name == name.lower() for name in names)
