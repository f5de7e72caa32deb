"""What single commands do to the Dag."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import (
    DONE,
    JOIN,
    NOOP,
    USER_DONE,
    Abort,
    Dag,
    DotFile,
    Retry,
    Script,
    StatusFile,
    Variable,
)
from condor_pydagman.vocabulary import NodeKind, ScriptKind


def build_text(text: str, **options: object) -> Dag:
    jobs = "JOB A a.sub\nJOB B a.sub\n"
    return build(["x.dag"], lambda _: jobs + text, BuildOptions(**options))  # type: ignore[arg-type]


def test_job_options() -> None:
    dag = build_text("JOB C c.sub DIR d NOOP DONE\n")
    assert dag.names == ["A", "B", "C"]
    assert dag.submits == ["a.sub", "a.sub", "c.sub"]
    assert list(dag.flags) == [0, 0, NOOP | DONE | USER_DONE]
    assert dag.kinds[2] == NodeKind.JOB
    assert dag.directories == {2: "d"}


def test_inline_descriptions_are_numbered() -> None:
    dag = build_text("JOB C {\nx = 1\n}\nJOB D @=E\nqueue 2\n@E\nSUBMIT-DESCRIPTION s {\n}\n")
    assert dag.submits[2:] == ["C-InlineDesc0", "D-InlineDesc1"]
    assert dag.descriptions == {"C-InlineDesc0": "x = 1", "D-InlineDesc1": "queue 2", "s": ""}


def test_the_last_submit_description_of_a_name_counts() -> None:
    dag = build_text("SUBMIT-DESCRIPTION s {\nx=1\n}\nSUBMIT-DESCRIPTION s {\nx=2\n}\n")
    assert dag.descriptions == {"s": "x=2"}


def test_a_line_with_many_parents_and_children_gets_a_join_node() -> None:
    text = "JOB C x\nPARENT B A B CHILD C A\n"
    dag = build_text(text)
    join = dag.ids["_condor_join_node0"]
    assert dag.submits[join] == "DNE.sub"
    assert dag.flags[join] == NOOP | JOIN
    assert list(dag.parents(join)) == [0, 1]
    assert list(dag.children(join)) == [0, 2]


def test_join_nodes_can_be_switched_off() -> None:
    dag = build_text("JOB C x\nPARENT A B CHILD C B\n", use_join_nodes=False)
    assert len(dag) == 3
    assert sorted(dag.children(0)) == [1, 2]


def test_one_parent_needs_no_join_node() -> None:
    assert len(build_text("PARENT A A CHILD B A\n")) == 2


def test_join_nodes_are_not_numbered_by_file() -> None:
    text = "JOB A x\nJOB B x\nPARENT A B CHILD A B\n"
    dag = build(["a", "b"], lambda _: text, BuildOptions())
    assert [name for name in dag.names if "join" in name] == [
        "_condor_join_node0",
        "_condor_join_node1",
    ]


def test_scripts_of_one_node_do_not_show_in_another() -> None:
    dag = build_text("SCRIPT PRE ALL_NODES p\nSCRIPT POST A q\nSCRIPT DEFER 1 2 PRE B r  s\n")
    assert dag.script(0, ScriptKind.PRE) == Script("p")
    assert dag.script(0, ScriptKind.POST) == Script("q")
    assert dag.script(1, ScriptKind.PRE) == Script("r  s", 1, 2)
    assert dag.script(1, ScriptKind.POST) is None


def test_a_later_retry_keeps_unless_exit() -> None:
    dag = build_text("RETRY A 1 UNLESS-EXIT 7\nRETRY A 2\nRETRY B 3\n")
    assert dag.retries == {0: Retry(2, 7), 1: Retry(3, 0)}


def test_equal_numbers_of_different_commands_keep_their_meaning() -> None:
    dag = build_text("RETRY A 1 UNLESS-EXIT 2\nABORT-DAG-ON B 1 RETURN 2\n")
    assert type(dag.retries[0]) is Retry
    assert type(dag.aborts[1]) is Abort


def test_variables() -> None:
    dag = build_text(
        'VARS A x="1" y=2\nVARS A APPEND z=3 x=4\nVARS ALL_NODES w=5 w=6\nVARS B x="1"\n'
    )
    assert dag.variables[0] == (
        Variable("x", "4", False),
        Variable("y", "2", False),
        Variable("z", "3", True),
        Variable("w", "6", False),
    )
    assert dag.variables[1] == (Variable("w", "6", False), Variable("x", "1", False))


def test_placement_of_variables_by_default() -> None:
    dag = build_text("VARS A x=1\nVARS A PREPEND y=1\n", default_append_vars=True)
    assert [variable.append for variable in dag.variables[0]] == [True, False]


def test_equal_variables_share_their_memory() -> None:
    dag = build_text('VARS A x="1" y="2"\nVARS B x="1" y="2"\n')
    assert dag.variables[0] is dag.variables[1]


def test_numbers_of_nodes() -> None:
    dag = build_text("PRIORITY A -5\nPRE_SKIP A 3\nABORT-DAG-ON A -9\nCATEGORY ALL_NODES c\n")
    assert dag.priorities == {0: -5}
    assert dag.pre_skips == {0: 3}
    assert dag.aborts == {0: Abort(-9)}
    assert dag.categories == {0: "c", 1: "c"}


def test_done() -> None:
    assert list(build_text("DONE B\n").flags) == [0, DONE]


def test_files_of_the_dag() -> None:
    dag = build_text(
        "NODE_STATUS_FILE s 5 ALWAYS-UPDATE\nNODE_STATUS_FILE t\nJOBSTATE_LOG j\nJOBSTATE_LOG k\n"
        "DOT a UPDATE\nDOT b OVERWRITE INCLUDE h\nMAXJOBS c 0\n"
    )
    assert dag.status_file == StatusFile("s", 5, True)
    assert dag.jobstate_log == "j"
    assert dag.dot == DotFile("b", False, True, "h")
    assert dag.category_limits == {"c": 0}


def test_every_node_knows_its_place() -> None:
    dag = build_text("\nJOB C c.sub\n")
    assert dag.place(dag.ids["C"]).endswith(":4")


def test_a_hold_script_is_refused_and_not_forgotten() -> None:
    with pytest.raises(DagFileErrors, match="SCRIPT HOLD is not supported"):
        build_text("SCRIPT HOLD A x\n")
