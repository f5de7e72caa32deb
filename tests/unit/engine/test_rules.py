"""Truth tables: what comes after a PRE script, the jobs, a POST script and a failed run."""

from __future__ import annotations

from itertools import product

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import rules
from condor_pydagman.engine.rules import NextStep, RetryVerdict
from condor_pydagman.graph.model import Abort, Retry, Tolerance


@pytest.mark.parametrize(
    ("status", "pre_skip", "has_post", "always_post"),
    list(product((0, 1, 2, -9), (None, 0, 1), (False, True), (False, True))),
)
def test_after_pre(status: int, pre_skip: int | None, has_post: bool, always_post: bool) -> None:
    got = rules.after_pre(status, pre_skip=pre_skip, has_post=has_post, always_post=always_post)
    if status == 0:
        assert got is NextStep.SUBMIT  # even with PRE_SKIP 0
    elif (status, pre_skip) == (1, 1):
        assert got is NextStep.SKIP
    else:
        assert got is (NextStep.POST if has_post and always_post else NextStep.FAIL)


@pytest.mark.parametrize(
    ("retry", "taken", "value", "want"),
    [
        (None, 0, 1, RetryVerdict.NO_RETRIES_LEFT),
        (Retry(0), 0, 1, RetryVerdict.NO_RETRIES_LEFT),
        (Retry(2), 0, 1, RetryVerdict.RETRY),
        (Retry(2), 1, 1, RetryVerdict.RETRY),
        (Retry(2), 2, 1, RetryVerdict.NO_RETRIES_LEFT),
        (Retry(2, (3,)), 0, 3, RetryVerdict.UNLESS_EXIT),
        (Retry(2, (3,)), 0, 2, RetryVerdict.RETRY),
        (Retry(2, (3,)), 2, 3, RetryVerdict.NO_RETRIES_LEFT),
        (Retry(2), 0, 0, RetryVerdict.RETRY),  # UNLESS-EXIT 0 means none
        (Retry(2, (-9,)), 0, -9, RetryVerdict.UNLESS_EXIT),
    ],
)
def test_retry_verdict(retry: Retry | None, taken: int, value: int, want: RetryVerdict) -> None:
    assert rules.retry_verdict(retry, taken, value) is want


@pytest.mark.parametrize(
    ("abort", "value", "code"),
    [(Abort(3), 3, 3), (Abort(3, 0), 3, 0), (Abort(3, 9), 3, 9), (Abort(-9), -9, 247)],
)
def test_abort_exit_code(abort: Abort, value: int, code: int) -> None:
    assert rules.abort_exit_code(abort, value) == code


# TOLERANCE: how many procs may fail.


@pytest.mark.parametrize(
    ("tolerance", "procs", "expected"),
    [
        (None, 10, 3),
        (Tolerance(1), 10, 1),
        (Tolerance(0), 10, 0),
        (Tolerance(50, percent=True), 5, 2),
        (Tolerance(100, percent=True), 5, 5),
        (Tolerance(33, percent=True), 3, 0),
    ],
)
def test_failures_allowed(tolerance: Tolerance | None, procs: int, expected: int) -> None:
    assert rules.failures_allowed(tolerance, procs, 3) == expected


def test_the_node_or_the_knob_says_whether_the_rest_is_removed() -> None:
    keep = Config(remove_job_list_on_failure=False)
    assert not rules.removes_the_rest(None, keep)
    assert not rules.removes_the_rest(Tolerance(1), keep)
    assert rules.removes_the_rest(Tolerance(1, fail_fast=True), keep)
    assert not rules.removes_the_rest(Tolerance(1, fail_fast=False), Config())
    assert rules.removes_the_rest(Tolerance(1), Config())
