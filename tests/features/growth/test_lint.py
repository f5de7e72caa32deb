"""What EXTEND and SCATTER would add: as far as it is known before."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Finding, Severity
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import SUBMIT, PaperWorld

ALIGN = "executable = align\narguments = $(part)\noutput = $(JOB).out\nqueue\n"
SCATTER = "JOB A a.sub\nJOB Z a.sub\nPARENT A CHILD Z\nSCATTER A l.txt x-{number} x.sub "


def told(dag: str, **files: str) -> list[Finding]:
    paper = {name.replace("_", "."): text for name, text in files.items()}
    world = PaperWorld({"t.dag": dag, "a.sub": SUBMIT, "d/": "", **paper})
    return lint(["t.dag"], world, BuildOptions(strict=0)).kept


def codes(dag: str, **files: str) -> list[tuple[str, int]]:
    return [(one.code, one.line) for one in told(dag, **files)]


def test_a_scatter_that_is_right() -> None:
    assert codes(SCATTER + "VARS part={item}\n", x_sub=ALIGN) == []
    assert codes(SCATTER + "VARS part={2}\n", x_sub=ALIGN, l_txt="a b\nc d\n") == []


def test_the_submit_file_of_a_scatter() -> None:
    (missing,) = told(SCATTER + "VARS part={item}\n")
    assert (missing.code, missing.line, missing.severity) == ("DAG301", 4, Severity.WARNING)
    assert missing.message.startswith("SCATTER of node A: submit file x.sub of node x-0")
    assert missing.text.startswith("SCATTER A l.txt")
    assert codes(SCATTER + "VARS part={item}\n", x_sub="executable = e\nnonsense\n") == [
        ("DAG307", 4)
    ]
    assert codes(SCATTER.replace("x.sub", "x.sub DIR d") + "VARS part=1\n", x_sub=ALIGN) == [
        ("DAG301", 4)
    ]


def test_macros_of_a_scatter() -> None:
    unused, unset = told(SCATTER + "VARS prat={item}\n", x_sub=ALIGN)
    assert (unused.code, unset.code) == ("DAG401", "DAG402")
    assert unset.message == (
        "SCATTER of node A: x.sub uses $(part), which nothing sets for node x-0 (and 1 more)"
    )
    (same,) = told(SCATTER + "VARS part={item}\n", x_sub=ALIGN.replace("$(JOB)", "x"))
    assert (same.code, same.line) == ("DAG305", 4)


def test_a_description_that_only_a_scatter_names() -> None:
    dag = "SUBMIT-DESCRIPTION x.sub {\n" + ALIGN + "}\n"
    assert codes(dag + SCATTER + "VARS part={item}\n") == []
    assert codes(dag + "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nEXTEND A m.dag\n") == []


def test_a_list_that_is_there_already() -> None:
    dag = SCATTER.replace("{number}", "{item}") + "VARS part={item}\n"
    blank, twice = told(dag, x_sub=ALIGN, l_txt="a\nb c\n#\n"), told(dag, x_sub=ALIGN, l_txt="a\na")
    assert [(one.code, one.severity, one.file, one.line) for one in blank + twice] == [
        ("DAG417", Severity.WARNING, "l.txt", 2),
        ("DAG417", Severity.WARNING, "l.txt", 2),
    ]
    assert blank[0].message == "SCATTER of node A: 'x-b c' can't be the name of a node"
    assert (blank[0].text, blank[0].caret) == ("b c", 1)
    assert "Node x-a already exists in DAG" in twice[0].message


def extend(inner: str, more: str = "") -> list[Finding]:
    dag = f"JOB A a.sub\nJOB Z a.sub\nPARENT A CHILD Z\nEXTEND A m.dag{more}\n"
    return told(dag, m_dag=inner, x_sub=ALIGN)


def test_a_dag_file_that_is_there_already() -> None:
    assert extend("JOB B a.sub\nJOB C a.sub\nPARENT B CHILD C\n") == []
    first, second = extend("JOB B\nJOB A a.sub\n")
    assert [(one.code, one.file, one.line) for one in (first, second)] == [
        ("DAG417", "m.dag", 1),
        ("DAG417", "m.dag", 2),
    ]
    assert first.severity is Severity.WARNING
    assert first.message == "EXTEND of node A: JOB: No submit description provided"
    assert first.hint.startswith("unless node A rewrites the file")


def test_what_is_wrong_with_its_nodes() -> None:
    missing, unset = extend("JOB B no.sub\nJOB C x.sub\n", " ANYWHERE TRUSTED")
    assert [(one.code, one.file, one.line, one.severity) for one in (missing, unset)] == [
        ("DAG301", "m.dag", 1, Severity.WARNING),
        ("DAG402", "m.dag", 2, Severity.WARNING),
    ]


def test_what_only_a_trusted_node_may_add() -> None:
    (refused,) = extend("JOB B x.sub\n")
    assert (refused.code, refused.severity) == ("DAG417", Severity.WARNING)
    assert "Node B: the DAG names no submit description x.sub" in refused.message


def test_a_cycle_through_the_dag() -> None:
    (cycle,) = extend("JOB B a.sub\nPARENT Z CHILD B\nPARENT B CHILD Z\n", " ANYWHERE")
    assert cycle.code == "DAG417"
    assert "cycle" in cycle.message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("EXTEND A no/m.dag", "m.dag is expected in no, but there is no such directory"),
        ("EXTEND A d", "d is not a regular file"),
        ("EXTEND N m.dag", "m.dag does not exist, and no node runs that could write it"),
    ],
)
def test_a_file_that_will_not_be_there(line: str, message: str) -> None:
    dag = "JOB A a.sub\nJOB N n.sub NOOP\nJOB Z a.sub\nPARENT A N CHILD Z\n"
    (finding,) = told(f"{dag}{line}\n")
    assert (finding.code, finding.line) == ("DAG417", 5)
    assert finding.message.endswith(message)


def test_a_file_that_may_still_come() -> None:
    dag = "JOB A a.sub\nJOB N n.sub NOOP\nPARENT A CHILD N\nEXTEND N m.dag\nEXTEND A d/m.dag\n"
    assert told(dag) == []
    assert told("JOB A a.sub DONE\nJOB Z a.sub\nPARENT A CHILD Z\nEXTEND A no/m.dag\n") == []
