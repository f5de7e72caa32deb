"""A DAG that is wrong: everything is found in one go, and nothing that only follows from it."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Finding
from condor_pydagman.lint.lint import lint
from condor_pydagman.lint.partial import build_partial
from tests.unit.lint.paper import SUBMIT, PaperWorld


def findings(**files: str) -> list[Finding]:
    world = PaperWorld({"a.sub": SUBMIT, **{f"{name}.dag": text for name, text in files.items()}})
    return lint(["t.dag"], world, BuildOptions(strict=0)).kept


def lines(**files: str) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in findings(**files)]


def test_errors_of_all_kinds_are_reported_together() -> None:
    text = """\
JOB A a.sub
JOB B
PARENT A CHILD X
RETRY Y 3
FOO
VARS A x=
JOB C missing.sub
SCRIPT PRE A nothere.sh
PARENT C CHILD A
PARENT A CHILD C
"""
    assert lines(t=text) == [
        ("DAG101", 2),
        ("DAG104", 3),
        ("DAG104", 4),
        ("DAG102", 5),
        ("DAG101", 6),
        ("DAG301", 7),
        ("DAG302", 8),
        ("DAG201", 9),
    ]


def test_in_spliced_and_included_files() -> None:
    found = findings(
        t="JOB A a.sub\nSPLICE S s.dag\nINCLUDE i.dag\nFOO\nPARENT A S I CHILD Q\n",
        s="JOB X\nJOB Y none.sub\nRETRY Z 1\n",
        i="JOB I a.sub\nABORT-DAG-ON Z 1\n",
    )
    assert [(one.file, one.line) for one in found] == [
        ("i.dag", 2), ("s.dag", 1), ("s.dag", 2), ("s.dag", 3), ("t.dag", 4), ("t.dag", 5),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("JOB B", "DAG101"),
        ("JBO B a.sub", "DAG102"),
        ("JOB B a.sub DIR", "DAG101"),
        ("SPLICE B none.dag", "DAG103"),
        ("SPLICE B t.dag", "DAG104"),
        ("INCLUDE none.dag", "DAG103"),
        ("JOB C {", "DAG101"),
    ],
)
def test_names_that_a_wrong_line_may_define_are_not_unknown(line: str, code: str) -> None:
    uses = "PARENT A CHILD B\nPARENT B CHILD A\nRETRY B 3\nPRIORITY B+X 1\nCATEGORY B c\n"
    text = f"JOB A a.sub\n{line}\n{uses}"
    assert lines(t=text) == [(code, 2)]


def test_all_unknown_names_of_a_line_and_the_rest_is_connected() -> None:
    text = "JOB A a.sub\nJOB B a.sub\nPARENT A X Y CHILD B Z\nPARENT B CHILD A\n"
    found = findings(t=text)
    unknown = [one for one in found if one.code == "DAG104"]
    assert [one.message.split()[-2] for one in unknown] == ["X", "Y", "Z"]
    assert [one.line for one in unknown] == [3, 3, 3]
    assert [one.code for one in found if one not in unknown] == ["DAG201"]


def test_a_near_name_is_told_beside_a_wrong_line() -> None:
    found = findings(t="JOB first a.sub\nJOB second a.sub\nFOO\nPARENT first CHILD secnd\n")
    assert "second" in found[-1].hint


def test_a_dag_that_is_right_is_as_it_is() -> None:
    world = PaperWorld({"t.dag": "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n"})
    dag, errors = build_partial(["t.dag"], world.read_blocks, BuildOptions())
    assert (dag.names, errors.kept, errors.lost) == (["A", "B"], [], 0)


def test_a_cached_node_that_publishes_is_found_beside_other_errors() -> None:
    found = findings(t="JOB A a.sub\nRETRY B 1\nPUBLISH A FILE x\nCACHE A\n")
    assert [(one.line, one.message.partition(",")[0]) for one in found] == [
        (1, "CACHE can't be said of node A: it has a PUBLISH"),
        (2, "Unknown node B referenced"),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("PARNT A CHILD B", True),
        ("VARS A y=", True),
        ('VARS A x="1', False),
        ("INCLUDE gone.dag", False),
        ("JOB B {\narguments = 1", False),
        (f'VARS A {"y" * 200}="', False),
    ],
)
def test_a_macro_that_nothing_sets_beside_other_errors(line: str, told: bool) -> None:
    """What can't be read may set it."""
    files = {"t.dag": f"JOB A a.sub\n{line}\n", "a.sub": "executable = /bin/true\nerror = $(x)\n"}
    codes = [one.code for one in lint(["t.dag"], PaperWorld(files), BuildOptions()).kept]
    assert ("DAG402" in codes) is told
    assert len(codes) > told
