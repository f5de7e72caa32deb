"""Whether a node is retried in this run of the DAG."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.decisions import REMOVED, RetryVerdict
from condor_pydagman.engine.retry_verdicts import say_why_none, verdict_of
from condor_pydagman.graph.model import Retry
from tests import make
from tests.make import QUIET


def test_retries_as_the_dag_says() -> None:
    run = make.EngineHarness(make.dag("A"), QUIET).engine.run
    assert verdict_of(run, 0, Retry(1), 0, 7) is RetryVerdict.RETRY
    assert verdict_of(run, 0, Retry(1), 1, 7) is RetryVerdict.NO_RETRIES_LEFT
    assert verdict_of(run, 0, None, 0, 7) is RetryVerdict.NO_RETRIES_LEFT


def test_the_end_of_the_dag_goes_before_retries() -> None:
    run = make.EngineHarness(make.dag("A"), QUIET).engine.run
    run.end.wanted = REMOVED
    assert verdict_of(run, 0, Retry(1), 0, 7) is RetryVerdict.NO_RETRIES_LEFT


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (RetryVerdict.FINAL_RUNS, "because final node is running (last attempt returned 7)"),
        (RetryVerdict.UNLESS_EXIT, "of node A (last attempt returned 7)"),
        (RetryVerdict.NO_RETRIES_LEFT, ""),
    ],
)
def test_what_is_said(verdict: RetryVerdict, said: str) -> None:
    run = make.EngineHarness(make.dag("A"), QUIET).engine.run
    say_why_none(run, 0, verdict, 7)
    assert [said in str(action) for action in run.out] == [True] * bool(said)
