"""Which file is read when, how deep, and what is said of errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.problems import Errors
from condor_pydagman.language import lines
from tests.unit.graph.texts import (
    JOBS,
    NO_BULK,
    Texts,
    build_text,
    children,
    error,
    outcome,
    problems,
)

DEPTH = sys.getrecursionlimit() + 200


def test_a_deep_nest_of_splices() -> None:
    texts = {f"f{n}": f"SPLICE s f{n + 1}\n" for n in range(DEPTH)}
    texts["f0"] += "JOB first x\nPARENT first CHILD s\n"
    texts[f"f{DEPTH}"] = "JOB last x\n"
    dag = build(["f0"], Texts(texts), BuildOptions())
    assert dag.names == ["first", "s+" * DEPTH + "last"]
    assert len(dag.splices) == DEPTH
    assert list(dag.children(0)) == [1]


def test_an_error_at_the_bottom_of_a_deep_nest() -> None:
    texts = {f"f{n}": f"SPLICE s f{n + 1}\n" for n in range(1000)}
    texts["f1000"] = "FOO\n"
    with pytest.raises(DagFileErrors) as caught:
        build(["f0"], Texts(texts), BuildOptions())
    (found,) = caught.value.errors
    assert (found.file, found.line) == ("f1000", 1)
    assert found.trail[-1] == "Processing error at f0:1"
    assert len(found.trail) == 2000


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ({"x.dag": "INCLUDE x.dag\n"}, "x.dag"),
        ({"x.dag": "SPLICE S x.dag\n"}, "x.dag"),
        ({"x.dag": "SPLICE S ./x.dag\n"}, "x.dag"),
        ({"x.dag": "SPLICE S y\n", "y": "INCLUDE z\n", "z": "SPLICE T y\n"}, "y"),
        ({"x.dag": "SPLICE S d/y\n", "d/y": "SPLICE S ../x.dag DIR d\n"}, "x.dag"),
        ({"x.dag": "SPLICE S y DIR d\n", "d/y": "INCLUDE ../d/y\n"}, "d/y"),
    ],
)
def test_a_file_cannot_hold_itself(texts: dict[str, str], names: str) -> None:
    with pytest.raises(DagFileErrors) as caught:
        build(["x.dag"], Texts(texts), BuildOptions(cwd="/top"))
    first = caught.value.errors[0]
    assert str(first) == f"ERROR: Recursive DAG file parsing detected with /top/{names}"
    assert "itself" in first.hint
    assert "Processing error at x.dag:1" in first.detail().split("\n")


@pytest.mark.parametrize("shortest", [1, NO_BULK])
def test_a_nul_in_the_third_block(shortest: int) -> None:
    text = "JOB A x\nJOB B x\nJOB C x\nRETRY A 1\nJOB D\0 x\nFOO\n"
    found = outcome({"x.dag": text}, ["x.dag"], frozenset({2, 4}), shortest)
    (said,) = found["errors"]
    assert said.split("\n")[:2] == [
        "ERROR: x.dag:5 The line holds a NUL character",
        "    x.dag:5:6:",
    ]
    assert r"    JOB D\x00 x" in said.split("\n")


def test_blocks_in_front_of_a_nul_are_looked_at() -> None:
    texts = {"x.dag": "FOO\nJOB A x\nRETRY\nJOB \0 x\nBAR\n"}
    found = outcome(texts, ["x.dag"], frozenset({3}))
    assert [said.split("\n")[0] for said in found["errors"]] == [
        "ERROR: x.dag:1 'FOO' is not a valid DAG command",
        "ERROR: x.dag:4 The line holds a NUL character",
        "ERROR: x.dag:3 Failed to parse RETRY command: No node name specified",
    ]


@pytest.mark.parametrize(
    "text", ["JOB A {}\n", "JOB A \\\n{}\n", "JOB A \\\n" + "x\\\n" * 60 + "x"]
)
def test_a_command_that_is_too_long(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_COMMAND_LENGTH", 50)
    found = error("FINAL F x\n" + text.format("x" * 100) + "\nFOO\n")
    assert "The command is longer than" in str(found)
    assert found.hint.startswith("is this a DAG file?")


def test_all_errors_are_reported_in_the_order_of_the_two_passes() -> None:
    caught = problems("RETRY A x\nJOB A a\nFOO\nJOB A b\nPARENT A CHILD Z\nDONE\n")
    assert [(one.line, type(one).__name__) for one in caught.errors] == [
        (3, "DagFileError"),
        (4, "ProcessingError"),
        (1, "DagFileError"),
        (6, "DagFileError"),
    ]
    assert str(caught) == "ERROR: x.dag:3 'FOO' is not a valid DAG command"
    assert "Node A already exists" in caught.detail()


def test_after_errors_of_the_first_pass_names_are_not_looked_up() -> None:
    caught = problems("JOB A\nRETRY A 1\nPARENT A CHILD A\nVARS A\n")
    assert [(one.line, one.command) for one in caught.errors] == [(1, "JOB"), (4, "VARS")]


@pytest.mark.parametrize("lines_between", [0, 40])
def test_very_many_errors_are_counted(lines_between: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Errors, "most", 10)
    good = "".join(f'VARS Z x="{n}"\n' for n in range(lines_between))
    caught = problems(JOBS + "RETRY Z 1\n" * 25 + good)
    assert len(caught.errors) == 10
    assert caught.lost == 15 + lines_between
    assert caught.detail().endswith(f"and {caught.lost} more")
    caught = problems("FOO\n" * 25)
    assert (len(caught.errors), caught.lost) == (10, 15)


def test_errors_in_many_splices_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Errors, "most", 10)
    files = {f"s{n}": "FOO\n" for n in range(25)}
    caught = problems("".join(f"SPLICE S{n} s{n}\n" for n in range(25)), files)
    assert len(caught.errors) == 10
    assert caught.lost == 15


def test_an_error_in_a_file_of_many_splices_is_told_once() -> None:
    splices = "".join(f"SPLICE S{n} s\n" for n in range(25))
    caught = problems(splices + "BAR\n", {"s": "FOO\n"})
    assert [(error.file, error.line) for error in caught.errors] == [("s", 1), ("x.dag", 26)]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (FileNotFoundError(), "Provided file path does not exist"),
        (IsADirectoryError(), "Provided file path is not a file"),
        (PermissionError(13, "denied"), "Failed to open file ([Errno 13] denied)"),
        (FileError("no"), "Failed to open file (no)"),
    ],
)
def test_a_file_that_cannot_be_read(failure: Exception, reason: str) -> None:
    def read_text(file: str) -> str:
        if file == "x.dag":
            return "INCLUDE no.dag\n"
        raise failure

    for first in ("no.dag", "x.dag"):
        with pytest.raises(DagFileErrors) as caught:
            build([first], read_text, BuildOptions())
        assert str(caught.value) == f"ERROR: Failed to open no.dag: {reason}"
    detail = caught.value.errors[0].detail()
    assert "Processing error at x.dag:1" in detail
    assert "INCLUDE no.dag" in detail


@pytest.mark.parametrize(
    ("splice", "hint"),
    [
        ("no.dag DIR d", "no.dag is looked for in d"),
        ("/no.dag DIR d", ""),
        ("no.dag", ""),
    ],
)
def test_where_the_file_of_a_splice_is_looked_for(splice: str, hint: str) -> None:
    (error,) = problems(f"SPLICE S {splice}\n", {"d": ""}).errors
    assert (error.line, error.hint) == (1, hint)


@pytest.mark.parametrize("failure", [FileError("x.dag was changed"), OSError(5, "I/O error")])
@pytest.mark.parametrize("good", [1, 2, 3])
def test_a_file_that_fails_while_it_is_read(failure: Exception, good: int) -> None:
    read = 0

    def blocks() -> Iterator[str]:
        nonlocal read
        for block in (JOBS, "RETRY A 1\n"):
            read += 1
            if read > good:
                raise failure
            yield block

    with pytest.raises(DagFileErrors) as caught:
        build(["x.dag"], lambda _: blocks(), BuildOptions())
    assert "x.dag" in str(caught.value)


@pytest.mark.parametrize(
    "later",
    ["", "\n", "JOB A x\n", JOBS, "RETRY A 1\n" * 60, "\n" * 60, "x" * 400, 'VARS A x="1"\n' * 3],
)
def test_a_file_that_is_another_the_second_time_does_not_crash(later: str) -> None:
    text = "".join(f"JOB n{n} x\n" for n in range(20)) + "".join(
        f'VARS n{n} x="1"\n' for n in range(20, 40)
    )
    texts = iter([text + "RETRY n1 1\n", later])
    try:
        build(["x.dag"], lambda _: next(texts), BuildOptions())
    except DagFileErrors as wrong:
        assert wrong.errors


def test_a_file_is_read_twice_at_most_once_if_all_of_it_is_simple() -> None:
    simple = "".join(f"JOB n{n} x\n" for n in range(40))
    for more, times in (("", 1), ("PRIORITY n1 1\n", 2)):
        texts = Texts({"x.dag": simple + more})
        build(["x.dag"], texts, BuildOptions())
        assert texts.read == ["x.dag"] * times


def test_a_name_defined_twice_begins_anew() -> None:
    jobs = "".join(f"JOB n{n} x\n" for n in range(40))
    retried = jobs + "INCLUDE y\n"
    dag = build_text(retried, {"y": "JOB A x\nVARS n1 x=1\nPARENT A CHILD n1\n"})
    assert children(dag, "A") == ["n1"]
    found = error(retried, {"y": jobs.replace("n", "m") + "JOB m39 x\n"})
    assert (str(found), found.file, found.line) == (
        "ERROR: Node m39 already exists in DAG.",
        "y",
        41,
    )


def test_a_splice_of_the_same_name_as_a_node_read_in_bulk() -> None:
    jobs = "".join(f"JOB n{n} x\n" for n in range(40))
    found = error("SPLICE n7 s\n" + jobs, {"s": "JOB A x\n"})
    assert str(found) == "ERROR: Node name n7 already associated with a splice in DAG"
    assert found.line == 9


def test_use_dag_dir() -> None:
    texts = Texts({"d/x.dag": "JOB A x\nINCLUDE e/y\nRETRY Z 1\n", "d/e/y": "JOB B x\n"})
    with pytest.raises(DagFileErrors) as caught:
        build(["d/x.dag"], texts, BuildOptions(use_dag_dir=True))
    assert "Processing error at x.dag:3" in caught.value.detail()
    texts.texts["d/x.dag"] = "JOB A x\nINCLUDE e/y\nJOB C x\n"
    dag = build(["d/x.dag"], texts, BuildOptions(use_dag_dir=True, cwd="/top"))
    found = {dag.names[node]: directory for node, directory in dag.directories.items()}
    assert found == {"A": "/top/d", "B": "/top/d/e", "C": "/top/d"}


def test_remarks_are_ours_and_warnings_are_stock_s() -> None:
    dag = build_text(JOBS + "RETRY A 3x\nPRE_SKIP A 0\n")
    assert [(one.file, one.line, one.message) for one in dag.remarks] == [
        ("x.dag", 4, "'3x' is read as 3")
    ]
    assert dag.warnings == ["Warning: exit code 0 for a PRE_SKIP value is weird."]


def test_remarks_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Errors, "most", 10)
    assert len(build_text(JOBS + "RETRY A 3x\n" * 25).remarks) == 10


def test_a_last_line_that_is_continued_is_remarked_once() -> None:
    dag = build_text(JOBS + "RETRY A 1\nJOB D \\\n")
    assert [one.line for one in dag.remarks] == [5]
    assert len(dag) == 3
