"""File names that others look for."""

from __future__ import annotations

from condor_pydagman.names import MAX_LOGGED_NAME_BYTES, DagPaths, logged_name


def test_names_stand_beside_the_dag_file() -> None:
    paths = DagPaths("d/x.dag")
    assert paths.condor_sub == "d/x.dag.condor.sub"
    assert paths.dagman_out == "d/x.dag.dagman.out"
    assert paths.lock == "d/x.dag.lock"
    assert paths.rescue(7) == "d/x.dag.rescue007"
    assert paths.rescue(1234) == "d/x.dag.rescue1234"


def test_outfile_dir_takes_the_debug_log_only() -> None:
    paths = DagPaths("d/x.dag", outfile_dir="logs")
    assert paths.dagman_out == "logs/x.dag.dagman.out"
    assert paths.dagman_log == "d/x.dag.dagman.log"


def test_several_dags_have_rescue_files_of_their_own() -> None:
    assert DagPaths("x.dag", multi=True).rescue(1) == "x.dag_multi.rescue001"


def test_the_nodes_log_is_absolute_with_stocks_dot() -> None:
    assert DagPaths("x.dag").nodes_log("/a/b") == "/a/b/./x.dag.nodes.log"
    assert DagPaths("d/x.dag").nodes_log("/a/b") == "/a/b/d/x.dag.nodes.log"
    assert DagPaths("/c/x.dag").nodes_log("/a/b") == "/c/x.dag.nodes.log"
    words = {"CLUSTER": "7", "OWNER": ""}
    assert DagPaths("x.dag").nodes_log("/a", "@(CLUSTER)@(OWNER)@(NO)", words) == "/a/7@(NO)"


def test_a_node_is_logged_by_its_name_if_a_line_can_hold_it() -> None:
    assert logged_name("Nöde 7") == "Nöde 7"
    assert logged_name("x" * MAX_LOGGED_NAME_BYTES) == "x" * MAX_LOGGED_NAME_BYTES
    long, odd = logged_name("x" * 5000), logged_name("a\x01b")
    assert len(long) == MAX_LOGGED_NAME_BYTES
    assert long != logged_name("x" * 5001)
    assert odd.startswith("a?b~")


def test_a_save_file_without_a_directory_has_one_beside_the_dag() -> None:
    assert DagPaths("t.dag").save("a.save", "/w") == "/w/save_files/a.save"
    assert DagPaths("d/t.dag").save("a.save", "/w") == "/w/d/save_files/a.save"
    assert DagPaths("d/t.dag").save("a.save", "/w", "/w/d") == "/w/d/save_files/a.save"
    assert DagPaths("/v/t.dag").save("a.save", "/w") == "/v/save_files/a.save"


def test_a_save_file_with_a_directory_goes_by_the_working_directory() -> None:
    assert DagPaths("d/t.dag").save("./a.save", "/w") == "./a.save"
    assert DagPaths("d/t.dag").save("s/a.save", "/w", "/w/e") == "/w/e/s/a.save"
    assert DagPaths("d/t.dag").save("/s/a.save", "/w", "/w/e") == "/s/a.save"
