"""The commands that say more about nodes."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.model import DONE, Abort, Retry, Script, Tolerance, Variable
from condor_pydagman.vocabulary import ScriptKind
from tests.unit.graph.texts import JOBS, build_files, build_text, error, problems, variables


def test_scripts_of_one_node_do_not_show_in_another() -> None:
    dag = build_text(
        JOBS + "SCRIPT PRE ALL_NODES p\nSCRIPT POST A q\nSCRIPT DEFER 1 2 PRE B r  s\n"
    )
    assert dag.script(0, ScriptKind.PRE) == Script("p")
    assert dag.script(0, ScriptKind.POST) == Script("q")
    assert dag.script(1, ScriptKind.PRE) == Script("r  s", 1, 2)
    assert dag.script(1, ScriptKind.POST) is None
    assert dag.script(0, ScriptKind.HOLD) is None


def test_a_hold_script() -> None:
    dag = build_text(JOBS + "SCRIPT DEBUG out.txt STDOUT HOLD A h x\n")
    script = dag.script(0, ScriptKind.HOLD)
    assert script is not None
    assert (script.command, script.debug_file) == ("h x", "out.txt")


def test_the_last_script_of_a_kind_counts() -> None:
    dag = build_text(JOBS + "SCRIPT PRE A p\nSCRIPT POST A q\nSCRIPT PRE A r\n", strict=3)
    assert dag.script(0, ScriptKind.PRE) == Script("r")
    assert dag.script(0, ScriptKind.POST) == Script("q")
    assert dag.warnings == [
        "Warning: node A already has PRE script <p> assigned; changing to <r>",
    ]


def test_a_later_retry_keeps_unless_exit() -> None:
    dag = build_text(JOBS + "RETRY A 1 UNLESS-EXIT 7\nRETRY A 2\nRETRY B 3\n")
    assert dag.retries == {0: Retry(2, (7,)), 1: Retry(3)}


def test_unless_exit_0_is_none_and_takes_earlier_ones_away() -> None:
    dag = build_text(JOBS + "RETRY A 1 UNLESS-EXIT 7,8\nRETRY A 2 UNLESS-EXIT 0\n")
    assert dag.retries == {0: Retry(2)}


def test_options_of_retry_stay_until_a_later_line_says_otherwise() -> None:
    dag = build_text(
        JOBS + "RETRY ALL_NODES 1 DELAY 1m BACKOFF 2 ONLY-IF 1,2\nRETRY A 2 MAX-DELAY 5m DELAY 30\n"
        "RETRY B 3 BACKOFF 1 DELAY 0\n"
    )
    assert dag.retries == {
        0: Retry(2, (), (1, 2), 30, 2.0, 300),
        1: Retry(3, (), (1, 2)),
        2: Retry(1, (), (1, 2), 60, 2.0),
    }


def test_equal_numbers_of_different_commands_keep_their_meaning() -> None:
    dag = build_text(JOBS + "RETRY A 1 UNLESS-EXIT 2\nABORT-DAG-ON B 1 RETURN 2\n")
    assert type(dag.retries[0]) is Retry
    assert type(dag.aborts[1]) is Abort


def test_variables() -> None:
    dag = build_text(
        JOBS + 'VARS A x="1" y=2\nVARS A APPEND z=3 x=4\nVARS ALL_NODES w=5 w=6\nVARS B x="1"\n'
    )
    assert dag.variables[0] == (
        Variable("x", "4", False),
        Variable("y", "2", False),
        Variable("z", "3", True),
        Variable("w", "6", False),
    )
    assert dag.variables[1] == (Variable("w", "6", False), Variable("x", "1", False))


def test_placement_of_variables_by_default() -> None:
    dag = build_text(JOBS + "VARS A x=1\nVARS A PREPEND y=1\n", default_append_vars=True)
    assert [variable.append for variable in dag.variables[0]] == [True, False]


def test_the_last_of_two_variables_among_very_many() -> None:
    jobs = "".join(f"JOB n{number} x\n" for number in range(40))
    lines = "".join(f'VARS n{number} x="{number}" y="y"\n' for number in range(40))
    dag = build_text(jobs + lines + 'VARS n7 x="new"\n')
    assert variables(dag, "n7") == {"x": "new", "y": "y"}
    assert variables(dag, "n8") == {"x": "8", "y": "y"}
    assert len(dag.warnings) == 1
    dag = build_text('JOB A x\nVARS A x="old"\n' + 'VARS A x="new"\n' * 40)
    assert (variables(dag, "A"), len(dag.warnings)) == ({"x": "new"}, 40)


def test_numbers_of_nodes() -> None:
    dag = build_text(JOBS + "PRIORITY A -5\nPRE_SKIP A 3\nABORT-DAG-ON A -9\nTOLERANCE B 10%\n")
    assert dag.priorities == {0: -5}
    assert dag.pre_skips == {0: 3}
    assert dag.aborts == {0: Abort(-9)}
    assert dag.tolerances == {1: Tolerance(10, True)}


def test_categories_of_splices_are_their_own_unless_they_begin_with_plus() -> None:
    splice = "JOB A x\nJOB B x\nCATEGORY A c\nCATEGORY B +g\nMAXJOBS c 3\n"
    text = "JOB A x\nCATEGORY A c\nMAXJOBS c 2\nMAXJOBS +g 1\nSPLICE S s\n"
    dag = build_text(text, {"s": splice})
    found = {dag.names[node]: name for node, name in dag.categories.items()}
    assert found == {"A": "c", "S+A": "S+c", "S+B": "+g"}
    assert dag.category_limits == {"c": 2, "S+c": 3, "+g": 1}


def test_save_points() -> None:
    dag = build_text(JOBS + "SAVE_POINT_FILE A\nSAVE_POINT_FILE B ./s\n")
    assert dag.save_points == {0: "A-x.dag.save", 1: "./s"}
    dag = build_files({"d/x.dag": "JOB A x\nSAVE_POINT_FILE A\n"})
    assert dag.save_points == {0: "A-x.dag.save"}
    assert str(error(JOBS + "SAVE_POINT_FILE all_nodes")) == (
        "ERROR: x.dag:4 Failed to parse SAVE_POINT_FILE command:"
        " ALL_NODES cannot be used for save point file command"
    )


def test_done_marks_ordinary_nodes_only() -> None:
    assert list(build_text(JOBS + "DONE B\n").flags) == [0, DONE, 0]
    dag = build_text(JOBS + "FINAL F x\nDONE F\n", strict=0)
    assert list(dag.flags) == [0, 0, 0, 0]
    assert "can not be referenced by the DONE command" in dag.warnings[0]
    assert problems(JOBS + "FINAL F x\nDONE F\n", strict=1).errors[0].line == 5


@pytest.mark.parametrize(
    "line", ["RETRY {} 1", "PRIORITY {} 1", "CATEGORY {} c", "SAVE_POINT_FILE {}"]
)
@pytest.mark.parametrize("kind", ["FINAL", "SERVICE", "PROVISIONER"])
def test_what_nodes_outside_the_order_cannot_have(line: str, kind: str) -> None:
    found = error(f"JOB A x\n{kind} F x\n{line.format('F')}\n")
    assert found.line == 3
    dag = build_text(f"JOB A x\n{kind} F x\n{line.format('A')}\nMAXJOBS c 1\nPRIORITY ALL_NODES 2")
    assert dag.priorities == {0: 2}


def test_a_final_node_does_not_abort_the_dag() -> None:
    found = error("FINAL F x\nABORT-DAG-ON F 1\n")
    assert str(found) == "ERROR: FINAL node F cannot have an ABORT-DAG-ON specification."


@pytest.mark.parametrize("value", ["-1", "256", "999"])
def test_a_pre_skip_is_an_exit_code(value: str) -> None:
    found = error(JOBS + f"PRE_SKIP B {value}\n")
    assert str(found).endswith("PRE_SKIP exit code must be between 0 and 255")


@pytest.mark.parametrize(
    "line",
    [
        *("RETRY Z 1", "SCRIPT PRE Z x", "VARS Z x=1", "PRIORITY Z 1", "PRE_SKIP Z 1", "DONE Z"),
        *(
            "ABORT-DAG-ON Z 1",
            "CATEGORY Z c",
            "TOLERANCE Z 1",
            "TIMEOUT Z TOTAL 1",
            "SAVE_POINT_FILE Z",
        ),
    ],
)
def test_an_unknown_node_is_an_error_with_its_place(line: str) -> None:
    found = error(JOBS + line)
    assert str(found) == "ERROR: Unknown node Z referenced"
    assert found.detail().split("\n")[1:3] == ["Processing error at x.dag:4", f"    {line}"]


@pytest.mark.parametrize("line", ["RETRY ALL_NODES 3", "VARS all_nodes x=1"])
def test_all_nodes_of_none(line: str) -> None:
    assert str(error(line)) == f"ERROR: Unknown node {line.split()[1]} referenced."


def test_all_nodes_are_those_of_earlier_files_too() -> None:
    dag = build_files({"a": "JOB A x\n", "b": "JOB B x\nRETRY ALL_NODES 2\n", "c": "JOB C x\n"})
    assert sorted(dag.retries) == [0, 1]


def test_all_nodes_of_a_splice_are_its_own() -> None:
    text = "JOB A x\nSPLICE S s\nJOB B x\nFINAL F x\n"
    dag = build_text(text, {"s": JOBS + "RETRY ALL_NODES 1\n"})
    assert [dag.names[node] for node in dag.retries] == ["S+A", "S+B", "S+C"]


def test_all_nodes_of_a_file_are_not_those_of_its_splices_yet() -> None:
    dag = build_text("JOB A x\nSPLICE S s\nRETRY ALL_NODES 1\n", {"s": JOBS})
    assert [dag.names[node] for node in dag.retries] == ["A"]


def test_many_lines_of_variables_of_one_node() -> None:
    """They are copied when they are read, not for each line."""
    lines = [f"VARS A k{number}={number}\n" for number in range(120)]
    dag = build_text(JOBS + "".join(lines) + "VARS A k7=x\n")
    node, wanted = dag.ids["A"], {f"k{number}": str(number) for number in range(120)}
    assert isinstance(dag.variables.unread(node), dict)
    found = [(one.key, one.value) for one in dag.variables[node]]
    assert found == list({**wanted, "k7": "x"}.items())
    assert isinstance(dag.variables.unread(node), tuple)
