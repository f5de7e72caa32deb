"""Why a node could not be submitted: the reason names what its author can look up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters.descriptions import Unreadable
from condor_pydagman.config import Config
from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.errors import PoolError
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


def test_a_line_that_can_not_be_read_is_named_when_procs_are_counted_too() -> None:
    """With DAGMAN_PROHIBIT_MULTI_JOBS that is what reads the description first."""

    def refuse(text: str, directory: str) -> int:
        raise Unreadable

    dag = build(["t.dag"], lambda _path: DAG, BuildOptions())
    out = SimpleNamespace(flush=lambda: None)
    config = Config(prohibit_multi_jobs=True)
    run: Any = SimpleNamespace(
        dag=dag, out=out, config=config, schedd=SimpleNamespace(procs_of=refuse)
    )
    with pytest.raises(PoolError, match="expected `NAME = VALUE`"):
        Submitter(run)._hand_over(1, "wrong\nqueue\n", "")
