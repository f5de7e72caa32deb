"""-DryRun: PRE scripts run, jobs and POST scripts do not, and nothing is kept of it."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind, ScriptKind
from tests import make


def dry(dag: Dag, config: Config | None = None) -> make.Bench:
    bench = make.Bench(dag, config)
    bench.engine.dry_run = True
    return bench.begin()


def exit_code(bench: make.Bench) -> int:
    (end,) = bench.ever(do.Exit)
    return end.code


def processed(bench: make.Bench) -> list[str]:
    start = "Processing node: "
    said = (say.text for say in bench.ever(do.Say))
    return [text[len(start) :] for text in said if text.startswith(start)]


def test_all_nodes_are_done_in_one_go() -> None:
    bench = dry(make.dag("A -> B C; B C -> D", noop="C", post={"A": "post"}))
    assert processed(bench) == ["A", "B", "C", "D"]
    assert not bench.ever(do.SubmitNode) + bench.ever(do.AppendNoop) + bench.ever(do.RunScript)
    assert bench.said("Just submitted 4 jobs this cycle...")
    assert bench.said("All jobs Completed!")
    assert exit_code(bench) == 0


def test_a_long_chain_needs_no_stack() -> None:
    chain = "; ".join(f"N{n} -> N{n + 1}" for n in range(3000))
    bench = make.Bench(make.dag(chain))
    bench.engine.check = False
    bench.engine.dry_run = True
    bench.begin()
    assert len(processed(bench)) == 3001


def test_pre_scripts_run_and_decide() -> None:
    bench = dry(make.dag("A -> B", pre={"A": "pre"}, post={"A": "post"}, retries={"A": 1}))
    assert processed(bench) == []
    bench.pre_ends("A", 1)
    assert bench.said("Retrying node A")
    bench.pre_ends("A", 0)
    assert processed(bench) == ["A", "B"]
    assert [action.kind for action in bench.ever(do.RunScript)] == [ScriptKind.PRE] * 2
    assert exit_code(bench) == 0


def test_a_failure_leaves_no_rescue_file_since_no_job_has_run() -> None:
    bench = dry(make.dag("A -> B; C", pre={"A": "pre"}))
    bench.pre_ends("A", 1)
    assert exit_code(bench) == 1
    assert bench.states() == "A=FAILED B=FUTILE C=DONE"
    assert not bench.ever(do.WriteRescue)


def test_a_post_script_after_a_failed_pre_script_runs() -> None:
    made = make.dag("A -> B", pre={"A": "pre"}, post={"A": "post"})
    bench = dry(made, Config(always_run_post=True))
    bench.pre_ends("A", 1)
    bench.post_ends("A", 0)
    assert processed(bench) == ["B"]
    assert exit_code(bench) == 0


def test_no_save_files() -> None:
    bench = dry(make.dag("A -> B", saves={"B": "b.save"}))
    assert processed(bench) == ["A", "B"]
    assert not bench.ever(do.WriteSavePoint)


def test_throttles_and_categories_let_everybody_through() -> None:
    bench = dry(make.dag("A B C", categories={"A": "x", "B": "x", "C": "x"}, limits={"x": 1}))
    assert sorted(processed(bench)) == ["A", "B", "C"]
    assert exit_code(bench) == 0


@pytest.mark.parametrize("kind", [NodeKind.PROVISIONER, NodeKind.SERVICE, NodeKind.FINAL])
def test_special_nodes_are_done_like_others(kind: NodeKind) -> None:
    bench = dry(make.dag("A -> B; S", kinds={"S": kind}))
    bench.read_back()
    assert sorted(processed(bench)) == ["A", "B", "S"]
    if kind is NodeKind.PROVISIONER:
        assert processed(bench)[0] == "S"
    if kind is NodeKind.FINAL:
        assert processed(bench)[-1] == "S"
    assert exit_code(bench) == 0


def test_abort_by_a_pre_script_with_a_final_node() -> None:
    made = make.dag(
        "A -> B; F", kinds={"F": NodeKind.FINAL}, pre={"A": "pre"}, aborts={"A": (3, 7)}
    )
    bench = dry(made)
    bench.pre_ends("A", 3)
    bench.read_back()
    assert processed(bench) == ["F"]
    assert exit_code(bench) == 0
    assert not bench.ever(do.WriteRescue)
