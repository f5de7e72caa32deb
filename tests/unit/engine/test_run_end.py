"""How runs end: exit codes, and what happens in which order."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from condor_pydagman import engine
from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from tests import make


@pytest.mark.parametrize("removes", [True, False])
def test_lines_about_what_is_removed(removes: bool) -> None:
    harness = make.harness_of("A B\nSCRIPT PRE B p", Config(remove_node_jobs=removes))
    harness.take("A", 1)
    harness.tell(inputs.DagRemoved())
    harness.tell(inputs.RescueWritten())
    said = [line for line in harness.ever(do.Say) if line.text.startswith("Removing")]
    jobs = ["Removing any/all submitted HTCondor jobs..."] * removes
    assert [line.text for line in said] == [
        "Removing submitted jobs...",
        *jobs,
        "Removing running scripts...",
    ]
    assert {line.level for line in said} == {2}


# Between the wish for a rescue file and the answer.


def test_a_rescue_answer_that_was_not_asked_for_is_ignored() -> None:
    harness = make.harness_of("A")
    assert not harness.tell(inputs.RescueWritten("disk full"))


def test_inputs_between_rescue_file_and_its_answer_start_nothing() -> None:
    harness = make.harness_of("A; B; C -> D\nABORT-DAG-ON A 7")
    for cluster, name in enumerate("ABC", 1):
        harness.take(name, cluster)
    engine = harness.engine
    assert do.WriteRescue() in engine.handle(make.terminated(1, value=7), harness.now)
    for told in (make.terminated(3), inputs.Wake(), inputs.Resume(), inputs.LogCaughtUp()):
        actions = engine.handle(told, harness.now + 1000)
        assert not [a for a in actions if not isinstance(a, do.Say)], told
    last = engine.handle(inputs.RescueWritten(), harness.now)
    assert do.Exit(7) in last


def test_condor_rm_while_the_rescue_file_of_an_abort_is_being_written() -> None:
    """The answer to WriteRescue may come later than other inputs."""
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
    harness.take("A", 1)
    engine = harness.engine
    asked = engine.handle(make.terminated(1, value=3), harness.now)
    assert do.WriteRescue() in asked
    engine.handle(inputs.DagRemoved(), harness.now)
    engine.handle(inputs.DagRemoved(), harness.now)
    engine.handle(inputs.RescueWritten(), harness.now)
    assert engine.run.phase is Phase.FINISHING
    assert not engine.handle(inputs.RescueWritten(), harness.now)


# Who decides which of several endings counts.


def test_only_request_end_sets_how_the_run_is_to_end() -> None:
    """Whoever wants an end says so to `run_end.request_end`; only the end itself sets it aside."""
    writers = set()
    for path in Path(engine.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and _sets_ending(node):
                writers.add(f"{path.stem}.{node.name}")
    assert writers == {
        "run_end.request_end",
        "run_end.end",
        "run_end.on_final_started",
        "run_records.__init__",
    }


def _sets_ending(function: ast.FunctionDef) -> bool:
    names = (part for part in ast.walk(function) if isinstance(part, ast.Attribute))
    return any(name.attr == "wanted" and isinstance(name.ctx, ast.Store) for name in names)
