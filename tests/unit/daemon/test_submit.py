"""Why a node could not be submitted: the reason names what its author can look up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.graph.build import BuildOptions, build

DAG = "JOB A a.sub\nJOB B {\nwrong\n}\nJOB C d\nSUBMIT-DESCRIPTION d {\nwrong\n}\n"


def test_the_reason_says_where_the_description_is() -> None:
    dag = build(["t.dag"], lambda _path: DAG, BuildOptions())
    run: Any = SimpleNamespace(dag=dag)
    submitter = Submitter(run)
    said = [submitter._failed(node, "no", permanent=True).reason for node in range(3)]
    assert said == [
        "no (submit file a.sub, named at t.dag:1)",
        "no (submit description, named at t.dag:2)",
        "no (submit description, named at t.dag:5)",
    ]
