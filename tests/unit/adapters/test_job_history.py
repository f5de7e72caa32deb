"""Which jobs of the schedd's history are asked for, and what their ads say."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable

import classad2
import pytest

from condor_pydagman.adapters import job_history
from condor_pydagman.adapters.job_history import Question
from condor_pydagman.adapters.ownership import Identity, Owners
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED

ANN = Owners([Identity("ann", "ann@here")])
ALL = Question("true", None, ANN)
ANNS = '((Owner =?= "ann" && User =?= "ann@here"))'


def test_the_search_in_the_history_ends_where_nothing_of_this_run_can_be() -> None:
    which, since, _ = job_history.wanted(7, {"QDate": 100_000}, ANN)
    assert which == f"DAGManJobId == 7 && {ANNS}"
    assert since is not None
    end = classad2.ExprTree(since)
    old = {"ClusterId": 6, "JobStatus": 4, "LeaveJobInQueue": False}
    old["EnteredCurrentStatus"] = 90_000
    old.update(ANN[0]._asdict())
    assert end.eval(classad2.ClassAd(old)) is True
    # one that ended long ago and was left in the queue says nothing about those before it
    stays = ("JobStatus == 4 && time() > 0", "JobStatus == 4 && time() < 0")
    stayed = [{**old, "LeaveJobInQueue": classad2.ExprTree(text)} for text in stays]
    # nor does somebody else's, who may turn its time back to hide what came after it
    others = [{**old, "JobStatus": 3}, {**old, "EnteredCurrentStatus": 99_000}]
    for other in (*stayed, *others, {**old, "Owner": "eve", "User": "eve@here"}):
        assert end.eval(classad2.ClassAd(other)) is False


def test_a_clock_that_was_set_back_does_not_hide_what_ended_before() -> None:
    """A job that was submitted after DAGMan, and ended hours before it, ends no search."""
    _, since, _ = job_history.wanted(7, {"QDate": 100_000}, ANN)
    ended_then = {"JobStatus": 4, "LeaveJobInQueue": False, "EnteredCurrentStatus": 90_000}
    ended_then.update(ANN[0]._asdict())
    assert since is not None
    end = classad2.ExprTree(since)
    assert end.eval(classad2.ClassAd({**ended_then, "ClusterId": 8})) is False
    assert end.eval(classad2.ClassAd({**ended_then, "ClusterId": 6})) is True


def test_the_history_of_a_run_before_is_left_out() -> None:
    own = {"QDate": 100_000, "PYDAGMAN_BegunAnew": 200_000}
    which, since, _ = job_history.wanted(7, own, ANN)
    assert which == f"DAGManJobId == 7 && {ANNS} && QDate >= 200000"
    assert since is not None
    assert since.endswith(f"< 196400 && {ANNS}")


def test_without_its_own_ad_the_whole_history_is_searched() -> None:
    which = f"DAGManJobId == 7 && {ANNS}"
    assert job_history.wanted(7, {}, ANN) == Question(which, None, ANN)


def ad(proc: int, **more: object) -> classad2.ClassAd:
    plain = {"ClusterId": 5, "ProcId": proc, "DAGNodeName": "A", "JobStatus": 4, "ExitCode": 0}
    return classad2.ClassAd({**plain, **more})


def test_how_a_job_ended() -> None:
    ads = [
        ad(0, ExitCode=3, ExitBySignal=False, DAGManNodeRetry=2),
        ad(1, ExitBySignal=True, ExitSignal=9),
        ad(2, JobStatus=3),
        classad2.ClassAd({"ClusterId": 6, "ProcId": 0, "JobStatus": 4}),  # no node's
    ]
    assert job_history.ended(ads) == [
        EndedJob(5, 0, "A", 2, 3),
        EndedJob(5, 1, "A", 0, -9),
        EndedJob(5, 2, "A", 0, RETURN_JOB_ABORTED),
    ]


def test_a_cluster_that_has_made_all_its_procs_has_ended() -> None:
    late = {"JobMaterializeDigestFile": "d", "TotalSubmitProcs": 2}
    first, second = EndedJob(5, 0, "A", 0, 0), EndedJob(5, 1, "A", 0, 1)
    assert job_history.ended([ad(0, **late)]) == [first]
    both = job_history.ended([ad(0, **late), ad(1, ExitCode=1, **late)])
    assert both == [first, second, EndedJob(5, -1, "A", 0, 0)]
    assert job_history.ended([ad(0, TotalSubmitProcs=1)]) == [first]


class Schedd:
    """One that answers so."""

    def __init__(self, answer: Callable[[], list[classad2.ClassAd]]) -> None:
        self._answer = answer

    def history(self, *_: object, **__: object) -> list[classad2.ClassAd]:
        return self._answer()


def test_many_ads_come_through() -> None:
    many = [ad(proc, **ANN[0]._asdict()) for proc in range(5000)]
    jobs = job_history.ask(Schedd(lambda: many), ALL)
    assert jobs == [EndedJob(5, proc, "A", 0, 0) for proc in range(5000)]


def fails() -> list[classad2.ClassAd]:
    raise RuntimeError("Failed to receive\nhistory ad.")


def dies() -> list[classad2.ClassAd]:
    os._exit(1)


def hangs() -> list[classad2.ClassAd]:
    time.sleep(60)
    return []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(fails, "Failed to receive history ad."), (dies, "in the middle"), (hangs, "no answer")],
)
def test_no_answer(
    answer: Callable[[], list[classad2.ClassAd]], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    children: list[int] = []
    fork = os.fork

    def counted() -> int:
        children.append(fork())
        return children[-1]

    monkeypatch.setattr(os, "fork", counted)
    monkeypatch.setattr(job_history, "PATIENCE", 20.0 if answer is not hangs else 0.1)
    with pytest.raises(PoolError, match=reason) as caught:
        job_history.ask(Schedd(answer), ALL)
    assert caught.value.transient
    with pytest.raises(ProcessLookupError):
        os.kill(children[0], 0)


def test_a_machine_without_another_process_keeps_its_descriptors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", refuse)
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        with pytest.raises(BlockingIOError):
            job_history.ask(Schedd(fails), ALL)
    assert os.listdir("/proc/self/fd") == before
