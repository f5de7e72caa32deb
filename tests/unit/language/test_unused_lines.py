"""Lines of submit descriptions that nobody uses; fifty other descriptions stand beside what stock
warns of in `tests/contract/test_checker_command_lines.py`."""

from __future__ import annotations

import pytest

from condor_pydagman.language.submit_commands import ALWAYS, BY_UNIVERSE
from condor_pydagman.language.submit_warnings import Unused, queue_variables, unused_lines

NONE: dict[str, str] = {}


def unused(*lines: str, queue: str = "", text: str = "", files: dict[str, str] = NONE) -> list[str]:
    """Names of the unused lines of a description; `text` is what follows them in it."""
    values = dict(line.split("=", 1) for line in ("executable=/bin/true", *lines))
    whole = "".join(f"{line}\n" for line in lines) + text
    return [one.name for one in unused_lines(values, queue, whole, files.get)]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["zork=1", "Blah=", "y=$(x)", "x=1"], ["zork", "y", "x", "Blah"]),
        (["arguments=$SUBSTR(s,n)", "s=abc", "n=1"], []),
        (["arguments=$$([1 + $(a)])", "a=1"], []),
        (["foo.bar=$(x)", "x=1"], ["x"]),
        (["DAG_STATUS=1", "FAILED_COUNT=1", "JOB=1", "RETRY=1", "SubmitWarnEmptyMatches=1"], []),
        (["ARGS=b", "Request_Memory=1"], []),
        (["universe=Vanilla", "machine_count=2"], ["machine_count"]),
        (["universe=parallel", "machine_count=2", "docker_image=x"], ["docker_image"]),
        (["universe=grid", "grid_resource=batch x", "batch_queue=q", "ec2_tag_Name=n"], []),
        (["batch_queue=q", "vm_memory=3"], ["vm_memory", "batch_queue"]),
        (["universe=$(u)", "u=vm", "vm_memory=3", "grid_resource=x"], []),
        (["shell=echo"], ["executable"]),
        (["cmd=a"], ["cmd"]),
    ],
)
def test_which_lines_nobody_uses(lines: list[str], expected: list[str]) -> None:
    assert unused(*lines) == expected


def test_an_executable_has_another_name() -> None:
    assert not unused_lines({"cmd": "/bin/true"})


def test_variables_of_the_queue_statement() -> None:
    assert unused("x=1", "arguments=$(y)", queue="x from $(y)") == ["x"]


def test_variables_of_a_table() -> None:
    lines = "queue from table (\nx, y\n1, 2\n)\n"
    assert unused("arguments=$(x)", queue="from table (", text=lines) == ["y"]
    files = {"t.csv": "x,y\n1,2\n"}.get
    of_file = unused_lines({"arguments": "$(y)"}, "2 z from table(header csv) t.csv", "", files)
    assert [one.name for one in of_file] == ["x"]
    assert unused("arguments=$(x)", queue="from table cat t.csv |") == []


@pytest.mark.parametrize(
    ("queue", "names"),
    [
        ("$(n)", []),
        ("in (a b)", ["Item"]),
        ("x, y from z", ["x", "y"]),
        ("from table(csv) z", ["Item"]),
        ("$(n) x matching files *.in", ["x"]),
    ],
)
def test_names_that_a_queue_statement_sets(queue: str, names: list[str]) -> None:
    assert queue_variables(queue) == names


def test_statements_use_macros() -> None:
    assert unused("x=1", "y=2", text="if $(x) == 1\n  if defined y\nendif\nendif\n") == []
    assert unused("x=1", text="include : $(x)/more\n") == []
    assert unused("if_x=$(x)", "x=1", text="if_x = $(x)\n") == ["x", "if_x"]


@pytest.mark.parametrize(
    ("lines", "text", "expected"),
    [
        # in a branch that is not taken
        (["v=1"], "if false\nelse\nwarning : $(v)\nendif\n", []),
        # HTCondor alone can tell which is taken
        (["v=1"], "if version > 25.0\nelse\nif defined v\nendif\nendif\n", []),
        (["v=1"], "if version > 25.0\nelif defined v\nendif\n", []),
        (["v=1"], "if defined Process\nelse\nif defined v\nendif\nendif\n", []),
        # what is no statement
        (["v=1", "MY.x=1"], "# $(v)\nMY.x = 1 + \\\nif defined v\n", ["v"]),
        (["v=1", "MY.x=1"], "MY.x @=end\nif defined v\n@end\n", ["v"]),
        (["v=1"], "if true\nqueue\nendif\nif defined v\nendif\n", ["v"]),
        (["v=1"], "endif\nif defined v\nendif\n", []),
        # included files
        (["v=1"], "include : lines\n", []),
        (["v=1", "f=lines"], "include : $(f)\n", []),
        (["v=1"], "include : gone\nif defined w\nelse\nif defined v\nendif\nendif\n", []),
        (["v=1"], "include command : lines\nif defined v\nendif\n", []),
        (["v=1"], "include : lines |\nif $(v)\nendif\n", []),
    ],
)  # fmt: skip
def test_which_macros_statements_use(lines: list[str], text: str, expected: list[str]) -> None:
    assert unused(*lines, text=text, files={"lines": "if defined v\nendif\n"}) == expected


def test_a_file_that_includes_itself_comes_to_an_end() -> None:
    assert unused("v=1", text="include : a\n", files={"a": "include : a\n"}) == ["v"]


def test_long_chains_and_long_values_of_references_come_to_an_end() -> None:
    chain = [f"m{number}=$(m{number + 1})" for number in range(3000)]
    assert unused(*chain, text="if $(m0)\nendif\n") == []
    assert unused("arguments=" + "$(" * 50_000, "x=1") == ["x"]
    assert unused("arguments=" + "$(x:" * 10_000 + ")" * 10_000, "x=1") == []


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
