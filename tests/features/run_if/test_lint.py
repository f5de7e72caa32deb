"""RUN_IF expressions with names that there are not."""

from __future__ import annotations

import pytest

from tests.unit.lint.paper import codes, found

DAG = "JOB A a.sub\nJOB B a.sub\nCATEGORY A sim\nPARENT A CHILD B\n"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("Parent.A.ExitCode == 0", "Parent.A.ExitCode has no meaning there, so it is undefined"),
        ("A.ExitCode == 0", "A.ExitCode has no meaning there, so it is undefined"),
        ("Failed > limit(3) + less", "less has no meaning there, so it is undefined"),
        ("Parents.A.Outcome == 'DONE'", "'DONE' has no meaning there, so it is undefined"),
        ("Parents.A.Outcome =!= Done", "an Outcome is a string, but Done is a number of parents"),
        ('Parents.A.Outcome == "SUCCESS"', 'there is no Outcome "SUCCESS"'),
        ("Parents.A.Exitcod == 0", "node A does not publish Exitcod, so it is undefined"),
        ("Category.sim.Dne > 1", "a category has no Dne, so it is undefined"),
    ],
)
def test_a_name_without_a_value(expression: str, message: str) -> None:
    (finding,) = found(DAG + f"MAXJOBS sim 1\nRUN_IF B {expression}\n")
    assert (finding.code, finding.line, finding.node) == ("DAG415", 6, "B")
    assert finding.message == f"RUN_IF of node B: {message}"


def test_what_to_write_instead() -> None:
    quoted, plain = (
        found(DAG + f"MAXJOBS sim 1\nRUN_IF B Parents.A.Outcome == {text}\n")[0].hint
        for text in ("'DONE'", "done")
    )
    assert (quoted, plain) == (
        'a text stands in double quotes: "DONE"',
        'a text stands in double quotes: "done"',
    )


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("A.ExitCode == 0", "a value of a parent is Parents.A.ExitCode"),
        ("A == 0", "a value of a parent is Parents.A.Outcome"),
        ("B.ExitCode == 0", "expected Parents.<name>.<value>"),
    ],
)
def test_a_parent_without_the_word_for_it(expression: str, hint: str) -> None:
    (finding,) = found(DAG + f"MAXJOBS sim 1\nRUN_IF B {expression}\n")
    assert finding.hint.startswith(hint)


def test_a_node_without_parents() -> None:
    (finding,) = found(DAG + "MAXJOBS sim 1\nRUN_IF A Failed == 0 && Retries > 0\n")
    assert finding.message == "RUN_IF of node A: it has no parents, so Failed is 0"


@pytest.mark.parametrize("expression", ["Failed", "( done )"])
def test_a_number_is_neither_true_nor_false(expression: str) -> None:
    (finding,) = found(DAG + f"MAXJOBS sim 1\nRUN_IF B {expression}\n")
    assert "is a number, which is neither true nor false" in finding.message
    assert finding.hint.startswith("compare it: ")


@pytest.mark.parametrize(
    "expression",
    [
        "!Failed && Done",
        "(Failed) > 1",
        '"&& Failed" == "x"',
        "total > 1 && (Retries == 0 || Category.sim.Failed < 2)",
        'isUndefined(Parents.A.Signal) && member("x", {"x"})',
        'Parents.A.outcome =?= "done" && parents.a1.ExitCode isnt undefined && 1.5e3 > 2',
        "[ a = 1 ].a == 1 && MY.Done > 0",
        "Parents.A.Size > 2 || Parents.'A'.MemoryUsage > 3",
    ],
)
def test_names_that_have_a_value(expression: str) -> None:
    dag = DAG.replace("PARENT A ", "JOB a1 a.sub\nPARENT A a1 ") + "MAXJOBS sim 1\n"
    dag += "PUBLISH A ATTRIBUTES size,MemoryUsage\n"
    assert codes(dag + f"RUN_IF B {expression}\n") == []


def test_a_file_may_have_any_name() -> None:
    dag = DAG + "MAXJOBS sim 1\nPUBLISH A FILE a.ad\n"
    assert codes(dag + "RUN_IF B Parents.A.size > 1\n") == []
