"""read_dag, parse_dag and check_dag: the DAG, or all that is wrong with it."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from condor_pydagman import DagError, FileError, Place, check_dag, parse_dag, read_dag

pytestmark = pytest.mark.usefixtures("work_directory")


def test_splices_and_includes_are_read_from_disk() -> None:
    Path("inner.dag").write_text("JOB X x.sub\n")
    Path("more").write_text("JOB M m.sub\n")
    dag = parse_dag("SPLICE S inner.dag\nINCLUDE more\n", name="outer.dag")
    assert set(dag) == {"S+X", "M"}
    assert dag["S+X"].place == Place("inner.dag", 1)
    assert [splice.name for splice in dag.splices] == ["S"]


def test_several_files_are_one_dag(work_directory: Path) -> None:
    Path("a.dag").write_text("JOB A a.sub\n")
    Path("b.dag").write_text("JOB A a.sub\n")
    dag = read_dag(work_directory / "a.dag", "b.dag")
    assert list(dag) == ["0.A", "1.A"]
    assert dag.files == (str(work_directory / "a.dag"), "b.dag")


def test_with_use_dag_dir_nodes_run_beside_their_file() -> None:
    Path("d").mkdir()
    Path("d/t.dag").write_text("JOB A a.sub\n")
    assert read_dag("d/t.dag")["A"].directory == ""
    assert read_dag("d/t.dag", use_dag_dir=True)["A"].directory == "d"


def test_one_exception_has_the_mistakes_of_all_steps() -> None:
    """DAGMan stops before PARENT lines if a JOB line can't be understood."""
    with pytest.raises(DagError) as caught:
        parse_dag("JOB A\nJOB B b.sub\nFOO\nPARENT B CHILD C\n", name="t.dag")
    errors = caught.value.errors
    assert [(error.place.line, error.place.column) for error in errors] == [(1, 6), (3, 1), (4, 16)]
    assert errors[0].command == "JOB"
    assert errors[0].text == "JOB A"
    assert errors[0].hint
    assert str(errors[0]) in str(caught.value)
    assert str(errors[2]) in str(caught.value)
    assert caught.value.more == 0


def test_a_file_that_is_not_there_is_a_mistake_as_well() -> None:
    with pytest.raises(DagError, match=r"Failed to open nosuch\.dag"):
        read_dag("nosuch.dag")
    (found,) = check_dag("nosuch.dag")
    assert found.place == Place("nosuch.dag")


def test_node_names_with_a_plus_are_allowed_if_asked_for() -> None:
    with pytest.raises(DagError):
        parse_dag("JOB A+B a.sub\n")
    assert list(parse_dag("JOB A+B a.sub\n", any_node_names=True)) == ["A+B"]


def test_progress_of_a_rescue_file() -> None:
    Path("t.dag").write_text("JOB A a.sub\nJOB B b.sub\nRETRY B 3\n")
    Path("r").write_text("DONE A\nRETRY B 1\n")
    dag = read_dag("t.dag", rescue=Path("r"))
    assert (dag["A"].done, dag["B"].done) == (True, False)
    assert dag["B"].retry is not None
    assert dag["B"].retry.limit == 1
    Path("r").write_text("DONE X\n")
    with pytest.raises(DagError, match="X"):
        read_dag("t.dag", rescue="r")
    with pytest.raises(FileError, match="can't read the rescue file nosuch"):
        read_dag("t.dag", rescue="nosuch")


def test_a_check_finds_nothing_wrong_with_a_good_dag() -> None:
    Path("t.dag").write_text("JOB A a.sub\n")
    assert check_dag("t.dag") == ()


def test_a_check_finds_a_cycle_and_its_line() -> None:
    Path("t.dag").write_text("JOB A a\nJOB B b\nPARENT A CHILD B\nPARENT B CHILD A\n")
    (found,) = check_dag("t.dag")
    assert found.message == "a cycle exists in the dag, please check input: A -> B -> A"
    assert (found.place.line, found.text) == (4, "PARENT B CHILD A")
    assert str(found).startswith("t.dag:4: a cycle")
    assert list(read_dag("t.dag")) == ["A", "B"]


def test_no_file_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="at least one DAG file"):
        read_dag()


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_as_before(enabled: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        parse_dag("JOB A a\n")
        with pytest.raises(DagError):
            parse_dag("FOO\n")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()
