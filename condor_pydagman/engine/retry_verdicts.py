"""Whether a node of which a run has failed is retried, and what is said if it is not.

The rules without the state of the run are in `decisions`.
"""

from __future__ import annotations

from condor_pydagman.engine import decisions
from condor_pydagman.engine.state import RunState
from condor_pydagman.graph.model import Retry
from condor_pydagman.vocabulary import ScriptKind


def verdict_of(
    run: RunState, node: int, retry: Retry | None, taken: int, value: int
) -> decisions.RetryVerdict:
    """Whether a node is retried of which a run has returned `value`, after `taken` retries."""
    if run.end.wanted is not None:
        return decisions.RetryVerdict.NO_RETRIES_LEFT  # ABORT-DAG-ON beats retries
    verdict = decisions.retry_verdict(retry, taken, value, run.retrying.extra_retries.get(node, 0))
    closed = run.is_closed_to(node)
    if verdict is decisions.RetryVerdict.RETRY and closed:
        return decisions.RetryVerdict.FINAL_RUNS
    if (
        verdict is decisions.RetryVerdict.NO_RETRIES_LEFT
        and not closed
        and _goes_on_hold(run, node)
    ):
        return decisions.RetryVerdict.ON_HOLD
    return verdict


def _goes_on_hold(run: RunState, node: int) -> bool:
    """DAGMAN_PUT_FAILED_JOBS_ON_HOLD: a person looks at it, instead of a POST script."""
    jobs = run.job_table.by_node.get(node)
    if not run.config.put_failed_jobs_on_hold or jobs is None or jobs.cluster <= 0:
        return False
    return run.dag.script(node, ScriptKind.POST) is None


def say_why_none(run: RunState, node: int, verdict: decisions.RetryVerdict, value: int) -> None:
    """Say why a node is not retried, where stock does."""
    name = run.dag.names[node]
    if verdict is decisions.RetryVerdict.FINAL_RUNS:
        run.say(
            f"Aborting further retries of node {name} because final node is running"
            f" (last attempt returned {value})"
        )
    elif verdict in (decisions.RetryVerdict.UNLESS_EXIT, decisions.RetryVerdict.NOT_THIS_VALUE):
        run.say(f"Aborting further retries of node {name} (last attempt returned {value})")
