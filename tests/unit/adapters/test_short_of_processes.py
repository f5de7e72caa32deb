"""A machine that has no process for who asks the schedd: nothing fails, all waits until it has."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

import pytest

from condor_pydagman.adapters import job_history
from condor_pydagman.adapters.schedd_requests import (
    Accepted,
    EditOwnAd,
    Listing,
    ListQueue,
    ListRemovable,
    ReadOwnAd,
    SubmitResult,
)
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.timers import FIRST_PROCESS_RETRY_S, MAX_PROCESS_RETRY_S
from tests.descriptors import descriptors
from tests.unit.adapters.test_schedd_process import SUBMIT, Bench, bench

__all__ = ["bench"]
ENDED = [EndedJob(5, 0, "A", 0, 0)]
REASON = "Resource temporarily unavailable"


@pytest.fixture
def no_more_processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A machine without another process, until `undo`."""

    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fork", refuse)
        yield patched


def later(bench: Bench, seconds: float) -> None:
    """Let time pass as the loop does: to each deadline of the process in turn."""
    until = bench.now + seconds
    while True:
        due = bench.schedd.next_deadline()
        assert due is None or due > bench.now  # or the loop would not sleep
        if due is None or due > until:
            bench.now = until
            return
        bench.now = due
        bench.schedd.deliver()


def test_requests_wait_in_their_order_until_there_is_a_process(
    bench: Bench, no_more_processes: pytest.MonkeyPatch
) -> None:
    bench.schedd.start()
    edit, submit = bench.ask(EditOwnAd({"a": "1"})), bench.ask(SUBMIT)
    assert bench.schedd.next_deadline() == bench.now + FIRST_PROCESS_RETRY_S
    later(bench, 3600)
    assert not edit
    assert not submit
    assert bench.schedd.busy
    no_more_processes.undo()
    later(bench, MAX_PROCESS_RETRY_S)
    bench.wait(edit, submit)
    assert submit == [SubmitResult(Accepted(41, 2), [])]
    assert bench.asked() == ["publish [('a', '1')] False", "submit"]
    assert bench.schedd.next_deadline() is None


def test_what_is_wanted_meanwhile_does_not_hurry_it(
    bench: Bench, no_more_processes: pytest.MonkeyPatch
) -> None:
    bench.ask(SUBMIT)
    bench.ask(EditOwnAd({"a": "1"}))
    assert len(bench.adapter.warned) == 1


def test_it_is_told_ever_less_often(bench: Bench, no_more_processes: pytest.MonkeyPatch) -> None:
    bench.ask(SUBMIT)
    later(bench, 3600)
    what = f"can't start a process to ask the schedd: {REASON}; next try in"
    assert bench.adapter.warned[:2] == [f"{what} 1 s", f"{what} 2 s"]
    assert bench.adapter.warned[-1] == f"{what} {MAX_PROCESS_RETRY_S:.0f} s"
    assert len(bench.adapter.warned) < 3600 / MAX_PROCESS_RETRY_S + 8


def test_a_removal_of_all_jobs_waits_as_well(
    bench: Bench, no_more_processes: pytest.MonkeyPatch
) -> None:
    submit, removable = bench.ask(SUBMIT), bench.ask(ListRemovable())
    later(bench, 100)
    no_more_processes.undo()
    later(bench, MAX_PROCESS_RETRY_S)
    bench.wait(submit, removable)
    assert bench.asked() == ["submit", "removable 0 False"]


def test_nothing_is_asked_behind_the_end(
    bench: Bench, no_more_processes: pytest.MonkeyPatch
) -> None:
    bench.ask(SUBMIT)
    bench.schedd.close()
    no_more_processes.undo()
    assert bench.schedd.next_deadline() is None
    bench.schedd.deliver()
    assert bench.schedd._child is None


def test_a_process_that_can_not_be_watched_is_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids: list[int] = []
    fork = os.fork

    def noted() -> int:
        pids.append(fork())
        return pids[-1]

    class Full:
        def register(self, *_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # /proc/sys/fs/epoll

    with monkeypatch.context() as patched:
        patched.setattr(os, "fork", noted)
        patched.setattr(bench.schedd, "_epoll", Full())
        submit = bench.ask(SUBMIT)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    later(bench, FIRST_PROCESS_RETRY_S)
    bench.wait(submit)


def test_a_search_of_the_history_waits_and_is_not_given_up(
    bench: Bench, no_more_processes: pytest.MonkeyPatch
) -> None:
    """A history that counts as empty could have a job that has ended run again."""
    bench.adapter.history = lambda: ENDED
    no_more_processes.undo()
    bench.result(ReadOwnAd())  # one process is there, and stays for a while
    before = descriptors()
    no_more_processes.setattr(os, "fork", _refuse)
    answers = [bench.ask(ListQueue(history=True)) for _ in range(job_history.MAX_TRIES + 1)]
    for _ in answers:
        while bench.schedd.next_deadline() is None:
            bench.schedd.deliver()
        later(bench, 600)
    assert not any(answers)
    assert not descriptors() - before  # fewer, once that process has left
    assert bench.adapter.warned[0] == (
        f"can't start a process to search the history: {REASON}; next try in 1 s"
    )
    no_more_processes.undo()
    later(bench, MAX_PROCESS_RETRY_S)
    bench.wait(*answers)
    assert all(isinstance(found, Listing) and found.ended == ENDED for (found,) in answers)


def _refuse() -> int:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
