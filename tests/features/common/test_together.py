"""Nodes submitted together: what the schedd is asked, and what is made of its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters.schedd_requests import Accepted, LostReply, SubmitResult
from condor_pydagman.config import Config
from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import SubmitNode, SubmitTogether
from condor_pydagman.errors import PoolError
from condor_pydagman.features.common.together import DIFFERENT
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.vocabulary import DagStatus


class Together:
    """Nodes A, B and C, whose description is `body`, submitted together."""

    def __init__(self, body: str, variables: str = "") -> None:
        nodes = "".join(f"JOB {name} d\n" for name in "ABC")
        text = f"{nodes}SUBMIT-DESCRIPTION d {{\n{body}queue\n}}\n{variables}"
        self.asked: list[tuple[Any, Callable[[Any], None]]] = []
        self.told: list[inputs.Input] = []
        run: Any = SimpleNamespace(
            dag=build(["t.dag"], lambda _path: text, BuildOptions()),
            out=SimpleNamespace(flush=lambda: None, say=lambda text, level: None),
            config=Config(max_nodes_in_cluster=10, prohibit_multi_jobs=True),
            schedd=SimpleNamespace(ask=lambda *asked: self.asked.append(asked)),
            clock=time,
            extras=None,
            by_condor_submit=False,
            workflow=Workflow(12, "/run/./t.dag.nodes.log", Config()),
        )
        nodes_asked = tuple(SubmitNode(node, 0, DagStatus.OK, 0) for node in range(3))
        self.submitter = Submitter(run)
        self.submitter.submit(SubmitTogether(nodes_asked), self.told.extend)

    def answer(self, outcome: Any) -> list[inputs.Input]:
        (_, then) = self.asked[0]
        then(SubmitResult(outcome))
        return self.told


def test_nodes_together_have_one_description() -> None:
    made = Together("executable = x\n")
    (request, _) = made.asked[0]
    assert request.text.count("queue ") == 1
    assert not request.checks.one_proc  # each node has one
    assert "0\x1fA\x1fA\x1fDAG Node: A\n1\x1fB" in request.text
    assert made.answer(Accepted(7, 3)) == [
        inputs.Submitted(node, 7, 1, node, shareable=True) for node in range(3)
    ]


def test_a_node_whose_description_does_not_fit_is_given_back() -> None:
    made = Together("executable = x\n", 'VARS C v="1"\n')
    assert made.answer(Accepted(7, 2)) == [
        inputs.Submitted(0, 7, 1, 0, shareable=True),
        inputs.Submitted(1, 7, 1, 1, shareable=True),
        inputs.NotTogether([2], 8),
    ]


@pytest.mark.parametrize("body", ["output = $(Cluster)\n", "queue 3\n"])
def test_a_file_that_can_not_be_shared_any_more(body: str) -> None:
    made = Together(body)
    assert not made.asked
    assert made.told == [inputs.NotTogether([0, 1, 2], 0, DIFFERENT)]


def test_a_file_whose_nodes_differ_in_what_must_be_the_same() -> None:
    """They are not tried together again, each time in vain."""
    variables = "".join(f'VARS {name} g="{name}"\n' for name in "ABC")
    made = Together("executable = x\ngetenv = $(g)\n", variables)
    said = "they differ in a command that HTCondor reads once for a cluster"
    assert made.told == [inputs.NotTogether([0, 1, 2], 0, said)]
    assert not made.asked
    made.submitter.submit(SubmitNode(0, 0, DagStatus.OK, 0), made.told.extend)
    assert made.answer(Accepted(7, 1))[-1] == inputs.Submitted(0, 7, 1, shareable=False)


def test_a_lost_reply_is_lost_for_each() -> None:
    told = Together("executable = x\n").answer(LostReply("gone"))
    failed = [(one.node, one.unknown) for one in told if isinstance(one, inputs.SubmitFailed)]
    assert failed == [(node, True) for node in range(3)]


def test_a_refusal_counts_for_those_as_well_that_did_not_fit() -> None:
    """Else they would be tried with as many again, and again."""
    told = Together("executable = x\n", 'VARS C v="1"\n').answer(PoolError("no", transient=False))
    assert told == [inputs.NotTogether([0, 1, 2], 0, "no")]


@pytest.mark.parametrize("transient", [False, True])
def test_a_cluster_that_was_refused_is_tried_with_fewer(transient: bool) -> None:
    told = Together("executable = x\n").answer(PoolError("no", transient=transient))
    assert told == [inputs.NotTogether([0, 1, 2], 0, "no")]


def test_fewer_procs_than_nodes_means_that_nobody_knows() -> None:
    told = Together("executable = x\n").answer(Accepted(7, 2))
    assert told[:2] == [inputs.Submitted(node, 7, 1, node, shareable=True) for node in range(2)]
    assert isinstance(told[2], inputs.SubmitFailed)
    assert told[2].unknown


@pytest.mark.parametrize(
    ("body", "procs", "lines", "part"),
    [
        ("output = $(Cluster)\n", 1, [], "cluster or proc: output = $(Cluster)"),
        ("executable = x\n", 1, ["Submit warning: unused"], "HTCondor warns of it"),
        ("executable = x\n", 2, [], "a node has 2 jobs"),
    ],
)
def test_why_nodes_are_submitted_one_by_one_is_said_once(
    body: str, procs: int, lines: list[str], part: str
) -> None:
    made = Together("executable = x\n")
    said: list[str] = []
    run = made.submitter.run
    run.out.say = lambda text, level: said.append(text)
    run.dag.descriptions["d"] = f"{body}queue\n"
    made.asked.clear()
    for node in range(2):
        made.submitter.submit(SubmitNode(node, 0, DagStatus.OK, 0), made.told.extend)
    for _, then in made.asked:
        then(SubmitResult(Accepted(7, procs), lines))
    (line,) = [text for text in said if "one by one" in text]
    assert line.startswith("Nodes with submit description d are submitted one by one: ")
    assert part in line
