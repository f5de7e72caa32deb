"""WEAK edges: a child that waits for the end of its parent only (manual: "WEAK")."""

from __future__ import annotations

import pytest

from tests import make


def fail(harness: make.EngineHarness, name: str, cluster: int) -> None:
    harness.run_node(name, cluster, value=1)


def test_a_weak_child_runs_after_a_failure() -> None:
    harness = make.harness_of("A ~> B; A -> C; B -> D")
    fail(harness, "A", 1)
    assert harness.states() == "A=FAILED B=SUBMITTING C=FUTILE D=WAITING"
    harness.run_node("B", 2)
    assert harness.state("D").name == "SUBMITTING"


def test_a_weak_child_runs_after_a_success() -> None:
    harness = make.harness_of("A ~> B")
    harness.run_node("A", 1)
    assert harness.state("B").name == "SUBMITTING"


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("A -> B; B ~> C", "A=FAILED B=FUTILE C=FUTILE"),  # which B does not help
        ("A ~> B; A -> B", "A=FAILED B=FUTILE"),  # one that is strong as well is strong
        ("A ~> B\nRETRY A 2 UNLESS-EXIT 1", "A=FAILED B=WAITING"),
    ],
)
def test_edges_by_which_nobody_starts(text: str, states: str) -> None:
    harness = make.harness_of(text)
    fail(harness, "A", 1)
    assert harness.states() == states


def test_a_strong_parent_must_succeed() -> None:
    harness = make.harness_of("A ~> C; B -> C")
    fail(harness, "A", 1)
    assert harness.state("C").name == "WAITING"
    harness.run_node("B", 2)
    assert harness.state("C").name == "SUBMITTING"


def test_a_futile_child_stays_so_when_its_weak_parent_fails_too() -> None:
    harness = make.harness_of("A ~> C; B -> C")
    fail(harness, "B", 1)
    fail(harness, "A", 2)
    assert harness.states() == "A=FAILED C=FUTILE B=FAILED"


def test_many_weak_parents_of_many_children() -> None:
    harness = make.harness_of("A B ~> C D")
    fail(harness, "A", 1)
    assert harness.states() == "A=FAILED B=SUBMITTING C=WAITING D=WAITING"
    fail(harness, "B", 2)
    assert harness.states().startswith("A=FAILED B=FAILED C=SUBMITTING D=")


def test_a_replay_with_weak_edges_gives_the_same_state() -> None:
    harness = make.harness_of("A ~> B; C")
    fail(harness, "A", 1)
    harness.run_node("B", 2)
    assert harness.replay().states() == harness.states().replace("SUBMITTING", "READY")
