"""Why a node could not be submitted: the reason names what its author can look up."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from condor_pydagman.adapters.descriptions import Unreadable
from condor_pydagman.adapters.schedd_process import obey
from condor_pydagman.adapters.schedd_requests import Accepted, SubmitResult
from condor_pydagman.config import Config
from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.vocabulary import DagStatus

DAG = "JOB A a.sub\nJOB B {\nwrong\n}\nJOB C d\nSUBMIT-DESCRIPTION d {\nwrong\n}\n"


def test_the_reason_says_where_the_description_is() -> None:
    dag = build(["t.dag"], lambda _path: DAG, BuildOptions())
    run: Any = SimpleNamespace(dag=dag, clock=time, extras=None)
    submitter = Submitter(run)
    said = [submitter.failed(node, "no", permanent=True).reason for node in range(3)]
    assert said == [
        "no (submit file a.sub, named at t.dag:1)",
        "no (submit description, named at t.dag:2)",
        "no (submit description, named at t.dag:5)",
    ]


def test_what_a_person_has_set_goes_with_the_submission() -> None:
    text = 'JOB A a.sub\nVARS A x="1" y="2"\nJOB B b.sub\nVARS B x="1"\n'
    run: Any = SimpleNamespace(dag=build(["t.dag"], lambda _path: text, BuildOptions()))
    submitter = Submitter(run)
    changed = SubmitNode(0, 0, DagStatus.OK, 0, variables=(("y", "3"), ("z", "4")))
    said = submitter.at_submission(changed).variables
    assert [(one.key, one.value) for one in said or ()] == [("x", "1"), ("y", "3"), ("z", "4")]
    assert submitter.at_submission(SubmitNode(1, 0, DagStatus.OK, 0)).variables is None


def test_a_line_that_can_not_be_read_is_named_when_procs_are_counted_too() -> None:
    """With DAGMAN_PROHIBIT_MULTI_JOBS that is what reads the description first."""

    def refuse(text: str, directory: str) -> int:
        raise Unreadable

    text = "JOB B b\nSUBMIT-DESCRIPTION b {\nwrong\nqueue\n}\n"
    dag = build(["t.dag"], lambda _path: text, BuildOptions())
    adapter: Any = SimpleNamespace(procs_of=refuse)
    answers: list[Callable[[], None]] = []

    def ask(request: Any, then: Callable[[Any], None]) -> None:
        answers.append(lambda: then(obey(adapter, request)))

    run: Any = SimpleNamespace(
        dag=dag,
        out=SimpleNamespace(flush=lambda: None),
        extras=None,
        config=Config(prohibit_multi_jobs=True),
        schedd=SimpleNamespace(ask=ask),
        clock=time,
        by_condor_submit=False,
        workflow=Workflow(12, "/run/./t.dag.nodes.log", Config()),
    )
    told: list[inputs.Input] = []
    Submitter(run).submit(SubmitNode(0, 0, DagStatus.OK, 0), told.extend)
    assert not told
    answers.pop()()
    (failed,) = told
    assert isinstance(failed, inputs.SubmitFailed)
    assert failed.permanent
    assert "expected `NAME = VALUE`" in failed.reason


def test_outcomes_are_told_in_the_order_of_the_submissions() -> None:
    """B's description can't be read, which is known before the schedd's reply for A."""
    text = "JOB A a\nJOB B none.sub\nSUBMIT-DESCRIPTION a {\nqueue\n}\n"
    dag = build(["t.dag"], lambda _path: text, BuildOptions())
    replies: list[Callable[[Any], None]] = []
    run: Any = SimpleNamespace(
        dag=dag,
        out=SimpleNamespace(flush=lambda: None),
        extras=None,
        config=Config(),
        schedd=SimpleNamespace(ask=lambda request, then: replies.append(then)),
        clock=time,
        by_condor_submit=False,
        workflow=Workflow(12, "/run/./t.dag.nodes.log", Config()),
    )
    told: list[inputs.Input] = []
    submitter = Submitter(run)
    for node in range(2):
        submitter.submit(SubmitNode(node, 0, DagStatus.OK, 0), told.extend)
    assert not told
    replies[0](SubmitResult(Accepted(7, 1)))
    assert told[0] == inputs.Submitted(0, 7, 1)
    assert isinstance(told[1], inputs.SubmitFailed)
    assert told[1].node == 1


def test_a_description_is_read_again_when_its_file_has_changed(work_directory: Path) -> None:
    file = work_directory / "a.sub"
    file.write_text("executable = /bin/true\n")
    dag = build(["t.dag"], lambda _path: "JOB A a.sub\n", BuildOptions())
    submitter = Submitter(SimpleNamespace(dag=dag, clock=time, extras=None))  # type: ignore[arg-type]
    first = submitter.template_of(0)
    assert submitter.template_of(0) is first
    file.write_text("executable = /bin/false\n")
    assert submitter.template_of(0) != first
