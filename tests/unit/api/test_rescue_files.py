"""read_rescue and write_rescue."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman import DagError, FileError, Rescue, parse_dag, read_dag, read_rescue
from condor_pydagman import write_rescue as write

DAG = "JOB A a\nJOB B b\nJOB C c\nFINAL F f\nRETRY B 3 DELAY 5\n"


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path) -> Path:
    Path("t.dag").write_text(DAG)
    return work_directory


def test_what_is_written_is_read_back() -> None:
    file = write(read_dag("t.dag"), ["A"], failed=["C"], retries_done={"B": 1})
    assert file == "t.dag.rescue001"
    assert read_rescue(file) == Rescue(("A",), {"B": 2})
    text = Path(file).read_text()
    assert "# Nodes that failed: 1\n#   C,<ENDLIST>\n" in text
    assert "RETRY B 2 DELAY 5\n" in text


def test_by_default_all_retries_begin_anew_and_done_nodes_are_marked() -> None:
    Path("u.dag").write_text(DAG + "DONE C\n")
    assert read_rescue(write(read_dag("u.dag"))) == Rescue(("C",))


def test_numbers_go_on_to_the_highest_that_is_allowed() -> None:
    dag = read_dag("t.dag")
    assert [write(dag, max_rescue_num=2)[-3:] for _ in range(3)] == ["001", "002", "002"]
    with pytest.raises(ValueError, match="max_rescue_num"):
        write(dag, max_rescue_num=0)


def test_several_files_have_a_rescue_file_of_their_own_name() -> None:
    Path("u.dag").write_text("JOB A a\n")
    assert write(read_dag("t.dag", "u.dag"), ["0.A"]) == "t.dag_multi.rescue001"


def test_final_nodes_are_never_marked() -> None:
    assert read_rescue(write(read_dag("t.dag"), ["A", "F"], path=Path("r"))).done == ("A",)


def test_names_of_other_dags_are_refused() -> None:
    for names in ({"done": ["X"]}, {"failed": ["X"]}, {"retries_done": {"X": 1}}):
        with pytest.raises(ValueError, match=r"'X' is no node of t\.dag"):
            write(read_dag("t.dag"), **names)  # type: ignore[arg-type]
    assert not Path("t.dag.rescue001").exists()


@pytest.mark.parametrize("argument", ["done", "failed"])
def test_a_string_is_no_list_of_names(argument: str) -> None:
    with pytest.raises(TypeError, match=f"{argument} is a list of names of nodes, not a str"):
        write(read_dag("t.dag"), **{argument: "AB"})  # type: ignore[arg-type]
    assert not Path("t.dag.rescue001").exists()


def test_a_number_of_retries_is_not_negative() -> None:
    with pytest.raises(ValueError, match="retries_done of 'B' is -1; expected 0 or more"):
        write(read_dag("t.dag"), retries_done={"B": -1})
    assert not Path("t.dag.rescue001").exists()


@pytest.mark.parametrize("name", ["A\\", "A\v", "A+B"])
def test_odd_names_survive(name: str) -> None:
    dag = parse_dag(f"JOB {name} a\n\nJOB Z z\n", name="o.dag", any_node_names=True)
    done = [name for name in dag if name != "Z"]
    assert read_rescue(write(dag, [*done, "Z"])).done == (*done, "Z")


def test_other_lines_are_refused() -> None:
    Path("r").write_text("DONE A\nJOB X x\nFOO\n")
    with pytest.raises(DagError) as caught:
        read_rescue("r")
    assert len(caught.value.errors) == 2
    assert "RETRY, VARS, PRIORITY" in str(caught.value)


def test_files_that_cannot_be_read_or_written() -> None:
    with pytest.raises(FileError, match="can't read the rescue file nosuch"):
        read_rescue("nosuch")
    with pytest.raises(FileError, match="nosuch"):
        write(read_dag("t.dag"), path="nosuch/r")
