"""WEAK edges: a child that waits for the end of its parent only (manual: "WEAK")."""

from __future__ import annotations

from tests import make


def fail(bench: make.Bench, name: str, cluster: int) -> None:
    bench.run_node(name, cluster, value=1)


def test_a_weak_child_runs_after_a_failure() -> None:
    bench = make.Bench("A ~> B; A -> C; B -> D").begin()
    fail(bench, "A", 1)
    assert bench.states() == "A=FAILED B=SUBMITTING C=FUTILE D=WAITING"
    bench.run_node("B", 2)
    assert bench.state("D").name == "SUBMITTING"


def test_a_weak_child_runs_after_a_success() -> None:
    bench = make.Bench("A ~> B").begin()
    bench.run_node("A", 1)
    assert bench.state("B").name == "SUBMITTING"


def test_below_a_futile_node_weak_edges_do_not_help() -> None:
    bench = make.Bench("A -> B; B ~> C").begin()
    fail(bench, "A", 1)
    assert bench.states() == "A=FAILED B=FUTILE C=FUTILE"


def test_an_edge_that_is_strong_as_well_is_strong() -> None:
    bench = make.Bench("A ~> B; A -> B").begin()
    fail(bench, "A", 1)
    assert bench.states() == "A=FAILED B=FUTILE"


def test_a_strong_parent_must_succeed() -> None:
    bench = make.Bench("A ~> C; B -> C").begin()
    fail(bench, "A", 1)
    assert bench.state("C").name == "WAITING"
    bench.run_node("B", 2)
    assert bench.state("C").name == "SUBMITTING"


def test_a_doomed_child_stays_so_when_its_weak_parent_fails_too() -> None:
    bench = make.Bench("A ~> C; B -> C").begin()
    fail(bench, "B", 1)
    fail(bench, "A", 2)
    assert bench.states() == "A=FAILED C=FUTILE B=FAILED"


def test_many_weak_parents_of_many_children() -> None:
    bench = make.Bench("A B ~> C D").begin()
    fail(bench, "A", 1)
    assert bench.states() == "A=FAILED B=SUBMITTING C=WAITING D=WAITING"
    fail(bench, "B", 2)
    assert bench.states().startswith("A=FAILED B=FAILED C=SUBMITTING D=")


def test_unless_exit_starts_nobody() -> None:
    made = make.dag("A ~> B", retries={"A": (2, 1)})
    bench = make.Bench(made).begin()
    fail(bench, "A", 1)
    assert bench.states() == "A=FAILED B=WAITING"


def test_a_replay_comes_to_the_same() -> None:
    bench = make.Bench("A ~> B; C").begin()
    fail(bench, "A", 1)
    bench.run_node("B", 2)
    assert bench.replay().states() == bench.states().replace("SUBMITTING", "READY")
