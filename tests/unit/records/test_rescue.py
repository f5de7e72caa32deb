"""Rescue files: text, numbers, and which one a start uses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import NOT_NEEDED, UNWANTED
from condor_pydagman.engine.report import NodeReport
from condor_pydagman.features.choose.commands import ChoicesOfDag, Choose
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import DONE, LEFT_OUT, USER_DONE, Dag, Retry
from condor_pydagman.names import DagPaths
from condor_pydagman.records import rescue
from condor_pydagman.vocabulary import NodeKind, NodeStatus
from tests import make

CREATED = (2026, 3, 9, 7, 5, 2, 0, 68, 0)
PATHS = DagPaths("run/t.dag")


def node(dag: Dag, name: str, status: NodeStatus, retries: int = 0) -> NodeReport:
    return NodeReport(dag.ids[name], name, status, 0, retries, 0, 0, 0, False, "", "")


def small_dag() -> Dag:
    dag = Dag(files=["t.dag"])
    for name in ("A", "B", "C"):
        dag.add_node(name, "n.sub")
    dag.add_node("F", "n.sub", NodeKind.FINAL)
    dag.add_node("V", "n.sub", NodeKind.SERVICE)
    dag.retries = {0: Retry(3, (4,)), 1: Retry(1), 3: Retry(9)}
    dag.finish()
    return dag


def reports(dag: Dag) -> list[NodeReport]:
    return [
        node(dag, "A", NodeStatus.DONE),
        node(dag, "B", NodeStatus.ERROR, retries=1),
        node(dag, "C", NodeStatus.FUTILE),
        node(dag, "F", NodeStatus.DONE),
        node(dag, "V", NodeStatus.DONE),
    ]


def text(dag: Dag, nodes: list[NodeReport], reset: bool = True) -> str:
    return "".join(rescue.rescue_text(dag, nodes, created=CREATED, reset_retries=reset))


def test_text_counts_final_but_never_marks_it_and_leaves_service_out() -> None:
    dag = small_dag()
    assert text(dag, reports(dag)) == (
        "# Rescue DAG file, created after running\n"
        "#   the t.dag DAG file\n"
        "# Created 3/9/2026 07:05:02 UTC\n"
        "# Rescue DAG version: 2.1.0\n"
        "#\n"
        "# Total number of Nodes: 4\n"
        "# Nodes premarked DONE: 2\n"
        "# Nodes that failed: 1\n"
        "#   B,<ENDLIST>\n"
        "\n"
        "DONE A\n"
    )


def test_what_a_person_has_set_is_in_the_dag_language() -> None:
    dag = small_dag()
    settings = NodeSettings(7, 0, (60, None, None), "big", (("x", 'a "b"'),))
    nodes = [one._replace(settings=settings) if one.name == "A" else one for one in reports(dag)]
    lines = (
        'DONE A\nPRIORITY A 7\nTIMEOUT A QUEUED 60\nCATEGORY A big\nVARS A PREPEND x="a \\"b\\""\n'
    )
    assert text(dag, nodes).endswith(f"{lines}RETRY A 0 UNLESS-EXIT 4\n")
    kept = text(dag, nodes, reset=False)
    left = "# 0 of 0 retries already performed; 0 remaining\nRETRY A 0 UNLESS-EXIT 4\n"
    assert f"{lines}{left}# 1 of 1" in kept


def test_lines_of_the_whole_dag_come_last() -> None:
    made = rescue.rescue_text(small_dag(), [], created=CREATED, reset_retries=True, lines=["X y"])
    assert list(made)[-1] == "X y\n"


def test_nodes_that_are_not_needed() -> None:
    """One of which nothing has begun counts as done, one that failed does not."""
    dag = small_dag()
    nodes = reports(dag)
    nodes[0] = nodes[0]._replace(marks=NOT_NEEDED)
    nodes[1] = nodes[1]._replace(marks=NOT_NEEDED)
    body = text(dag, nodes)
    assert "# Nodes premarked DONE: 2\n# Nodes that failed: 0\n#   <ENDLIST>\n" in body
    assert "\nNOT_NEEDED A\nNOT_NEEDED B\n" in body
    assert "DONE A" not in body.splitlines()


def test_nodes_that_are_left_out_are_not_called_done() -> None:
    dag = small_dag()
    ChoicesOfDag.put(dag).choices.append(Choose(0, "FROM", ("B", "C")))
    dag.flags[0] |= LEFT_OUT | DONE
    assert text(dag, reports(dag)).endswith(
        "# Nodes premarked DONE: 1\n# Nodes that failed: 1\n#   B,<ENDLIST>\n\nCHOOSE FROM B C\n"
    )
    run_by_hand = [node(dag, "A", NodeStatus.DONE, retries=1), *reports(dag)[1:]]
    assert "\nDONE A\nCHOOSE FROM B C\n" in text(dag, run_by_hand)


def test_kept_retries_follow_their_node() -> None:
    dag = small_dag()
    body = text(dag, reports(dag), reset=False).split("\n\n", 1)[1]
    assert body == (
        "DONE A\n"
        "# 0 of 3 retries already performed; 3 remaining\n"
        "RETRY A 3 UNLESS-EXIT 4\n"
        "# 1 of 1 retries already performed; 0 remaining\n"
        "RETRY B 0\n"
    )


def test_kept_retries_have_all_options_and_are_read_back() -> None:
    dag = small_dag()
    dag.retries = {0: Retry(3, (4, -9), (1, 2), 600, 1.5, 3600), 1: Retry(2, delay=5)}
    body = text(dag, reports(dag), reset=False)
    assert "RETRY A 3 UNLESS-EXIT 4,-9 ONLY-IF 1,2 DELAY 600 BACKOFF 1.5 MAX-DELAY 3600\n" in body
    assert "RETRY B 1 DELAY 5\n" in body
    progress = apply_progress(small_dag(), body, "t.dag.rescue001")
    assert progress.retries == {0: dag.retries[0], 1: Retry(1, delay=5)}


def test_retries_left_are_never_negative() -> None:
    dag = small_dag()
    body = text(dag, [node(dag, "B", NodeStatus.ERROR, retries=5)], reset=False)
    assert "RETRY B 0\n" in body


@pytest.mark.parametrize(
    ("existing", "maximum", "number"),
    [([], 100, 1), ([1, 2], 100, 3), ([1, 7], 100, 8), ([100], 100, 100), ([], 0, 0), ([3], 2, 2)],
)
def test_next_number(existing: list[int], maximum: int, number: int) -> None:
    assert rescue.next_number(existing, maximum) == number


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("run/t.dag.rescue002", 2),
        ("run/t.dag.rescue1000", 1000),
        ("run/t.dag.rescue2", 0),
        ("run/t.dag.rescue00x", 0),
        ("run/t.dag.rescue002.old", 0),
        ("other.dag.rescue002", 0),
        ("run/t.dag", 0),
    ],
)
def test_number_of(file: str, number: int) -> None:
    assert rescue.number_of(file, PATHS) == number


def test_several_dag_files_have_names_of_their_own() -> None:
    paths = DagPaths("t.dag", multi=True)
    assert rescue.number_of("t.dag_multi.rescue004", paths) == 4
    assert rescue.number_of("t.dag.rescue004", paths) == 0


def test_newest_is_used_and_gaps_are_told() -> None:
    chosen = rescue.choose([4, 1, 3], PATHS)
    assert (chosen.number, chosen.file, chosen.rename) == (4, "run/t.dag.rescue004", ())
    assert rescue.preparation_lines(chosen, PATHS) == [
        "Warning: Found rescue DAG number 3, but not rescue DAG number 2"
    ]
    file = "run/t.dag.rescue004"
    assert rescue.usage_lines(chosen, 2) == [
        f"Found rescue DAG number 4; running {file} in combination with normal DAG files",
        "~" * 54,
        f"USING RESCUE DAG {file}",
    ]


def test_files_above_the_maximum_are_not_looked_at() -> None:
    assert rescue.choose([1, 12], PATHS, maximum=10).number == 1


def test_asking_for_a_number_renames_newer_files() -> None:
    chosen = rescue.choose([1, 2, 3], PATHS, rescue_from=1)
    assert chosen.found == "Rescue DAG number 1 specified"
    assert chosen.rename == (2, 3)
    assert rescue.preparation_lines(chosen, PATHS) == [
        "Renaming rescue DAGs newer than number 1",
        "Renaming run/t.dag.rescue002",
        "Renaming run/t.dag.rescue003",
    ]


def test_a_named_file_comes_first_and_a_foreign_name_renames_all() -> None:
    numbered = rescue.choose([1, 2], PATHS, rescue_file="run/t.dag.rescue001", rescue_from=2)
    assert (numbered.number, numbered.rename) == (1, (2,))
    foreign = rescue.choose([1, 2], PATHS, rescue_file="mine.dag")
    assert (foreign.number, foreign.file, foreign.rename) == (0, "mine.dag", (1, 2))
    assert rescue.usage_lines(foreign, 1)[0] == (
        "Rescue DAG file specified; running mine.dag in combination with normal DAG file"
    )


def test_a_save_file_is_a_rescue_file_with_a_first_line_of_its_own() -> None:
    dag = small_dag()
    saved = "".join(rescue.save_text(dag, reports(dag), "C", CREATED))
    whole = text(dag, reports(dag)).split("\n", 2)[2]
    assert saved == "# Save file written at Start Node C\n" + whole
    apply_progress(dag, saved, "c.save")
    assert "RETRY" not in saved


def test_a_save_file_goes_before_rescue_files() -> None:
    chosen = rescue.choose([1, 2], PATHS, load_save=("b.save", "/w/run/save_files/b.save"))
    assert (chosen.number, chosen.file, chosen.rename) == (0, "/w/run/save_files/b.save", ())
    assert rescue.usage_lines(chosen, 1) == [
        "Loading saved progress from b.save for DAG.",
        "~" * 54,
    ]
    assert rescue.preparation_lines(chosen, PATHS) == []


WORDS = st.lists(
    st.sampled_from(
        ["a", "x\\", "\\", "'", '"', '\\"', "\\'", '"b c"', '"\\""', "'\\''", "\v", "é", "#"]
    ),
    min_size=1,
    max_size=5,
).map("".join)


@given(st.lists(WORDS, min_size=1, max_size=4))
@example(['"x\\"y"', "a\\", "B"])
@example(["a\\", "a"])
def test_every_name_of_a_dag_file_comes_back(words: list[str]) -> None:
    lines = "".join(f"JOB {word} n.sub\nRETRY {word} 4\n" for word in dict.fromkeys(words))
    try:
        dag = build(["t.dag"], lambda name: lines, BuildOptions())
    except DagFileErrors:
        return
    done = [node(dag, name, NodeStatus.DONE, retries=1) for name in dag.names]
    text = "".join(rescue.rescue_text(dag, done, created=CREATED, reset_retries=False))
    progress = apply_progress(build(["t.dag"], lambda name: lines, BuildOptions()), text, "r")
    assert sorted(progress.done) == list(range(len(dag)))
    assert {number: retry.limit for number, retry in progress.retries.items()} == dict.fromkeys(
        range(len(dag)), 3
    )


def test_a_continued_line_still_is_one() -> None:
    assert apply_progress(small_dag(), "DONE \\\nA\nDONE B\n", "r").done == [0, 1]


def test_a_node_that_is_done_by_its_line_and_runs_anew_is_not_done() -> None:
    dag = small_dag()
    dag.flags[2] = DONE | USER_DONE
    written = text(dag, reports(dag))
    assert "\nNOT_DONE C\n" in written
    again = small_dag()
    again.flags[2] = DONE | USER_DONE
    apply_progress(again, written, "t.rescue001")
    assert not again.flags[2] & DONE
    assert "\nNOT_DONE C\n" in text(again, reports(again))


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({"status": NodeStatus.ERROR}, "DONE B"),  # its child waits for its end only
        ({"marks": UNWANTED}, "NOT_NEEDED B"),
        ({"status": NodeStatus.DONE, "anew": True}, "NOT_DONE B"),
    ],
)
def test_a_node_that_its_line_calls_done_has_one_mark(changes: dict[str, Any], mark: str) -> None:
    dag = make.dag("B ~> A")
    dag.flags[dag.ids["B"]] = DONE | USER_DONE
    lines = text(dag, [node(dag, "B", NodeStatus.FUTILE)._replace(**changes)]).split("\n")
    assert [line for line in lines if line.endswith(" B")] == [mark]
