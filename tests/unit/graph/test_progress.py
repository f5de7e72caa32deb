"""Rescue files."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import DONE, Dag, Retry
from condor_pydagman.graph.progress import apply_progress


@pytest.fixture
def dag() -> Dag:
    text = "JOB A x\nJOB B x\nRETRY A 3 UNLESS-EXIT 2\n"
    return build(["a.dag", "b.dag"], lambda _: text, BuildOptions())


def test_done_and_retries(dag: Dag) -> None:
    text = "# Rescue\n\nDONE 0.B\nDONE 1.A\nDONE 0.B\nRETRY 0.A 1\nRETRY 1.B 4 UNLESS-EXIT 5\n"
    progress = apply_progress(dag, text, "a.dag.rescue001")
    assert progress.done == [1, 2]
    assert progress.retries == {0: Retry(1, 2), 3: Retry(4, 5)}
    assert dag.retries[0] == Retry(1, 2)
    assert [bool(flag & DONE) for flag in dag.flags] == [False, True, True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nDONE Z", "ERROR: Unknown node Z referenced"),
        ("DONE", "ERROR: r:1 Failed to parse DONE command: No node name specified"),
        ("JOB C x", "ERROR: A rescue file can't add nodes or dependencies"),
        ("PARENT 0.A CHILD 0.B", "ERROR: A rescue file can't add nodes or dependencies"),
        ("DUNE 0.A", "ERROR: r:1 'DUNE' is not a valid DAG command"),
    ],
)
def test_errors_have_their_place(dag: Dag, text: str, message: str) -> None:
    with pytest.raises(DagFileErrors) as caught:
        apply_progress(dag, text, "r")
    assert str(caught.value) == message
    assert caught.value.errors[0].line == text.count("\n") + 1


def test_other_commands_are_legal(dag: Dag) -> None:
    apply_progress(dag, "PRIORITY 0.A 4\nCONFIG x\n", "r")
    assert dag.priorities == {0: 4}
