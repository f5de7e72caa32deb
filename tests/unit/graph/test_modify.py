"""The commands that say more about nodes."""

from __future__ import annotations

from condor_pydagman.graph.model import Abort, Defer, Retry, Script, Tolerance
from condor_pydagman.vocabulary import ScriptKind
from tests.unit.graph.texts import JOBS, build_files, build_text, error, variables


def test_scripts_of_one_node_do_not_show_in_another() -> None:
    dag = build_text(
        JOBS + "SCRIPT PRE ALL_NODES p\nSCRIPT POST A q\nSCRIPT DEFER 1 2 PRE B r  s\n"
    )
    assert dag.script(0, ScriptKind.PRE) == Script("p")
    assert dag.script(0, ScriptKind.POST) == Script("q")
    assert dag.script(1, ScriptKind.PRE) == Script("r  s", Defer(1, 2))
    assert dag.script(1, ScriptKind.POST) is None
    assert dag.script(0, ScriptKind.HOLD) is None


def test_a_hold_script() -> None:
    dag = build_text(JOBS + "SCRIPT DEBUG out.txt STDOUT HOLD A h x\n")
    script = dag.script(0, ScriptKind.HOLD)
    assert script is not None
    assert (script.command, script.debug_file) == ("h x", "out.txt")


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


def test_save_points() -> None:
    dag = build_text(JOBS + "SAVE_POINT_FILE A\nSAVE_POINT_FILE B ./s\n")
    assert dag.save_points == {0: "A-x.dag.save", 1: "./s"}
    dag = build_files({"d/x.dag": "JOB A x\nSAVE_POINT_FILE A\n"})
    assert dag.save_points == {0: "A-x.dag.save"}
    assert str(error(JOBS + "SAVE_POINT_FILE all_nodes")) == (
        "ERROR: x.dag:4 Failed to parse SAVE_POINT_FILE command:"
        " ALL_NODES cannot be used for save point file command"
    )


def test_many_lines_of_variables_of_one_node() -> None:
    """They are copied when they are read, not for each line."""
    lines = [f"VARS A k{number}={number}\n" for number in range(120)]
    dag = build_text(JOBS + "".join(lines) + "VARS A k7=x\n")
    node, wanted = dag.ids["A"], {f"k{number}": str(number) for number in range(120)}
    assert isinstance(dag.variables.unread(node), dict)
    found = [(one.key, one.value) for one in dag.variables[node]]
    assert found == list({**wanted, "k7": "x"}.items())
    assert isinstance(dag.variables.unread(node), tuple)


def test_the_only_script_of_a_node_is_as_one_of_several() -> None:
    dag = build_text(JOBS + "SCRIPT POST A x $JOB\nSCRIPT POST B y\nSCRIPT PRE B z\n")
    assert dag.scripts[0] == {ScriptKind.POST: Script("x $JOB")}
    assert dag.scripts[1] == {ScriptKind.POST: Script("y"), ScriptKind.PRE: Script("z")}
    assert (len(dag.scripts[0]), list(dag.scripts[0])) == (1, [ScriptKind.POST])
    assert dag.script(0, ScriptKind.PRE) is None
