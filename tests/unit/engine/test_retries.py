"""RETRY: whether a node runs again, how often, and when; ours and the stock options."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine.lifecycle import say_why_none
from condor_pydagman.engine.queues import RetryQueue
from condor_pydagman.engine.rules import RetryVerdict
from condor_pydagman.vocabulary import NodeStatus
from tests import make
from tests.make import QUIET


def with_retry(
    retry: str, text: str = "A -> B", config: Config = QUIET, commands: str = ""
) -> make.EngineHarness:
    """`retry` is what a RETRY command of A says."""
    return make.harness_of(f"{text}\nRETRY A {retry}\n{commands}", config)


def failed_once(
    retry: str, text: str = "A -> B", config: Config = QUIET, commands: str = ""
) -> make.EngineHarness:
    """The same, and A's job has failed with 1."""
    harness = with_retry(retry, text, config, commands)
    harness.run_node("A", 1, value=1)
    return harness


def due(harness: make.EngineHarness, name: str = "A") -> float:
    when = harness.engine.run.retrying.queue.due(harness.dag.ids[name])
    assert when is not None
    return when


# The queue.


def test_retries_start_in_the_order_in_which_they_are_due() -> None:
    queue = RetryQueue()
    assert queue.next_time() is None
    queue.add(1, 20.0)
    queue.add(2, 10.0)
    assert queue.next_time() == 10.0
    assert queue.pop(9.9) is None
    assert queue.pop(10.0) == 2
    assert queue.pop(15.0) is None
    assert queue.pop(99.0) == 1
    assert queue.pop(99.0) is None


def test_a_discarded_retry_does_not_start() -> None:
    queue = RetryQueue()
    queue.add(1, 10.0)
    queue.add(2, 10.0)
    queue.discard(1)
    queue.discard(7)
    assert queue.due(1) is None
    assert queue.pop(10.0) == 2
    queue.add(1, 5.0)
    queue.discard(1)
    queue.add(1, 30.0)  # waits anew
    assert queue.next_time() == 30.0
    assert queue.pop(29.0) is None
    assert queue.pop(30.0) == 1


# Delay.


def test_nodes_that_failed_together_do_not_come_back_together() -> None:
    names = [f"N{number}" for number in range(50)]
    harness = make.harness_of(f"{' '.join(names)}\nRETRY ALL_NODES 1 DELAY 100", QUIET)
    for cluster, name in enumerate(names, 1):
        harness.run_node(name, cluster, value=1)
    times = {round(due(harness, name)) for name in names}
    assert len(times) > 12


@pytest.mark.parametrize("off", [-5000.0, 5000.0])
def test_the_clock_of_the_log_does_not_matter_while_we_watch_it(off: float) -> None:
    harness = with_retry("2 DELAY 100")
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=1)._replace(time=harness.now + off))
    assert 90 <= due(harness) - harness.now <= 110


def test_in_an_old_log_the_delay_counts_from_the_event_that_ended_the_run() -> None:
    harness = failed_once("2 DELAY 100")
    harness.now += 50
    assert 40 <= due(harness.replay()) - harness.now <= 60
    harness.log[-1] = harness.log[-1]._replace(time=harness.now + 5000)  # a clock that was ahead
    assert due(harness.replay()) - harness.now <= 110


def test_a_waiting_retry_is_shown_with_the_time_left() -> None:
    harness = failed_once("2 DELAY 100")
    (shown, _) = harness.engine.node_reports()
    left = due(harness) - harness.now
    assert shown.status is NodeStatus.READY
    assert shown.details == f"retry #1 starts in {left:.0f} seconds"
    assert shown.retries_done == 1
    assert harness.engine.report().ready == 1
    harness.wait(200.0)
    assert next(harness.engine.node_reports()).details == ""


# Whether a node is retried in this run of the DAG.


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (RetryVerdict.FINAL_RUNS, "because final node is running (last attempt returned 7)"),
        (RetryVerdict.UNLESS_EXIT, "of node A (last attempt returned 7)"),
        (RetryVerdict.NO_RETRIES_LEFT, ""),
    ],
)
def test_what_is_said(verdict: RetryVerdict, said: str) -> None:
    run = make.EngineHarness("A", QUIET).engine.run
    say_why_none(run, 0, verdict, 7)
    assert [said in str(action) for action in run.out] == [True] * bool(said)
