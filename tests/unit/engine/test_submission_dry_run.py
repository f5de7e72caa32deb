"""-DryRun: PRE scripts run, jobs and POST scripts do not, and nothing is kept of it."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.state import Mode
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind, ScriptKind
from tests import make


def dry(dag: Dag, config: Config | None = None) -> make.EngineHarness:
    harness = make.EngineHarness(dag, config)
    harness.engine.run.mode = Mode.DRY_RUN
    return harness.begin()


def exit_code(harness: make.EngineHarness) -> int:
    (end,) = harness.ever(do.Exit)
    return end.code


def processed(harness: make.EngineHarness) -> list[str]:
    start = "Processing node: "
    said = (say.text for say in harness.ever(do.Say))
    return [text[len(start) :] for text in said if text.startswith(start)]


def test_all_nodes_are_done_in_one_go() -> None:
    harness = dry(make.dag("A -> B C; B C -> D", noop="C", post={"A": "post"}))
    assert processed(harness) == ["A", "B", "C", "D"]
    assert (
        not harness.ever(do.SubmitNode) + harness.ever(do.AppendNoop) + harness.ever(do.RunScript)
    )
    assert harness.said("Just submitted 4 jobs this cycle...")
    assert harness.said("All jobs Completed!")
    assert exit_code(harness) == 0


def test_a_long_chain_needs_no_stack() -> None:
    chain = "; ".join(f"N{n} -> N{n + 1}" for n in range(3000))
    harness = make.EngineHarness(make.dag(chain))
    harness.engine.check = False
    harness.engine.run.mode = Mode.DRY_RUN
    harness.begin()
    assert len(processed(harness)) == 3001


def test_pre_scripts_run_and_decide() -> None:
    harness = dry(make.dag("A -> B", pre={"A": "pre"}, post={"A": "post"}, retries={"A": 1}))
    assert processed(harness) == []
    harness.pre_ends("A", 1)
    assert harness.said("Retrying node A")
    harness.pre_ends("A", 0)
    assert processed(harness) == ["A", "B"]
    assert [action.kind for action in harness.ever(do.RunScript)] == [ScriptKind.PRE] * 2
    assert exit_code(harness) == 0


def test_a_failure_leaves_no_rescue_file_since_no_job_has_run() -> None:
    harness = dry(make.dag("A -> B; C", pre={"A": "pre"}))
    harness.pre_ends("A", 1)
    assert exit_code(harness) == 1
    assert harness.states() == "A=FAILED B=FUTILE C=DONE"
    assert not harness.ever(do.WriteRescue)


def test_a_post_script_after_a_failed_pre_script_runs() -> None:
    made = make.dag("A -> B", pre={"A": "pre"}, post={"A": "post"})
    harness = dry(made, Config(always_run_post=True))
    harness.pre_ends("A", 1)
    harness.post_ends("A", 0)
    assert processed(harness) == ["B"]
    assert exit_code(harness) == 0


def test_no_save_files() -> None:
    harness = dry(make.dag("A -> B", saves={"B": "b.save"}))
    assert processed(harness) == ["A", "B"]
    assert not harness.ever(do.WriteSavePoint)


def test_throttles_and_categories_let_everybody_through() -> None:
    harness = dry(make.dag("A B C", categories={"A": "x", "B": "x", "C": "x"}, limits={"x": 1}))
    assert sorted(processed(harness)) == ["A", "B", "C"]
    assert exit_code(harness) == 0


@pytest.mark.parametrize("kind", [NodeKind.PROVISIONER, NodeKind.SERVICE, NodeKind.FINAL])
def test_special_nodes_are_done_like_others(kind: NodeKind) -> None:
    harness = dry(make.dag("A -> B; S", kinds={"S": kind}))
    harness.read_back()
    assert sorted(processed(harness)) == ["A", "B", "S"]
    if kind is NodeKind.PROVISIONER:
        assert processed(harness)[0] == "S"
    if kind is NodeKind.FINAL:
        assert processed(harness)[-1] == "S"
    assert exit_code(harness) == 0


def test_abort_by_a_pre_script_with_a_final_node() -> None:
    made = make.dag(
        "A -> B; F", kinds={"F": NodeKind.FINAL}, pre={"A": "pre"}, aborts={"A": (3, 7)}
    )
    harness = dry(made)
    harness.pre_ends("A", 3)
    harness.read_back()
    assert processed(harness) == ["F"]
    assert exit_code(harness) == 0
    assert not harness.ever(do.WriteRescue)
