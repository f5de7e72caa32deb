"""The process that makes bundles, from a DAG's nodes to the events of what they have come to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.features.bundle.helper import BundleHelper
from condor_pydagman.features.bundle.messages import (
    Collect,
    Collected,
    Forget,
    Forgotten,
    Look,
    LookAt,
    LookedAt,
    Prepare,
    Prepared,
)
from condor_pydagman.names import DagPaths
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.vocabulary import DagStatus
from tests import make
from tests.helping import Asker

TEXT = """
    A B
    VARS A n="1"
    VARS B n="2"
    BUNDLE b ALL_NODES
"""
SUBMIT = "executable = /bin/true\narguments = $(n) $(JOB)\nqueue\n"


def asker(directory: Path, hangs: Path | None = None) -> Asker:
    dag = make.dag(TEXT)
    dag.descriptions["n.sub"] = SUBMIT
    run: Any = SimpleNamespace(
        dag=dag,
        process=SimpleNamespace(directory=str(directory)),
        paths=DagPaths("x.dag"),
        workflow=Workflow(7, str(directory / "log"), Config()),
        stamps=(False, False, False),
    )
    return Asker(BundleHelper(run), hangs)


def submit(node: int) -> SubmitNode:
    return SubmitNode(node, 0, DagStatus.OK, 0)


NODES = (submit(0), submit(1))


def test_what_others_put_in_the_way_is_left_and_told(tmp_path: Path) -> None:
    """At the end of the DAG, in DAGMan itself."""
    said: list[str] = []
    run: Any = SimpleNamespace(
        process=SimpleNamespace(directory=str(tmp_path)),
        paths=DagPaths("x.dag"),
        out=SimpleNamespace(say=said.append),
    )
    helper, directory = BundleHelper(run), tmp_path / "x.dag.bundles"
    helper.give_up()
    (directory / "1").mkdir(parents=True)
    helper.give_up()
    assert (directory.exists(), said) == (False, [])
    os.mkfifo(directory)
    helper.give_up()
    assert said == [f"Warning: {directory} is left as it is: Not a directory"]


@pytest.fixture
def it(tmp_path: Path) -> Asker:
    return asker(tmp_path)


def test_a_bundle_from_its_nodes_to_their_events(it: Asker, tmp_path: Path) -> None:
    found = it.ask(LookAt(NODES))
    assert isinstance(found, LookedAt)
    first, second = (Look(*one) for one in found.found)
    assert first.kind == second.kind != ""
    prepared = it.ask(Prepare(3, NODES, 1, (0, 0)))
    assert (prepared.number, prepared.why) == (3, "")
    assert "dag_node_name = bundle 3" in prepared.text
    home = tmp_path / "x.dag.bundles" / "3"
    tasks = [json.loads(line) for line in (home / "tasks").read_text().splitlines()][1:]
    assert [one["arguments"] for one in tasks] == [["1", "A"], ["2", "B"]]
    (home / "results").write_text('{"ended": 2, "code": 4, "time": 9.0, "begun": 7.5}\n')
    collected = it.ask(Collect(3, 5, (0, 1), (0, 0), False, "it has ended"))
    assert isinstance(collected, Collected)
    assert (collected.why, list(collected.took)) == ("", [1.5])
    assert "DAG Node: B" in collected.events
    assert "return value 4" in collected.events
    assert "DAG Node: A" not in collected.events
    assert it.ask(Forget(3)) == Forgotten(3)
    assert not home.exists()
    it.process.end()


def test_what_can_not_be_done_is_told(it: Asker, tmp_path: Path) -> None:
    (tmp_path / "x.dag.bundles").write_text("in the way")
    prepared = it.ask(Prepare(3, NODES, 1, (0, 0)))
    assert isinstance(prepared, Prepared)
    assert prepared.why
    assert not prepared.text
    collected = it.ask(Collect(3, 5, (0, 1), (0, 0), False, "it has ended"))
    assert collected.why
    it.process.end()
