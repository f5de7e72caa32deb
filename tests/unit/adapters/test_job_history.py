"""Which jobs of the schedd's history are asked for, and what their ads say."""

from __future__ import annotations

from collections.abc import Callable

import classad2

from condor_pydagman.adapters import job_history
from condor_pydagman.adapters.job_history import HistoryQuery
from condor_pydagman.adapters.ownership import Identity, Owners
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED

ANN = Owners([Identity("ann", "ann@here")])
ALL = HistoryQuery("true", None, ANN)
ANNS = '((Owner =?= "ann" && User =?= "ann@here"))'


def test_the_search_in_the_history_ends_where_nothing_of_this_run_can_be() -> None:
    which, since, _ = job_history.history_query(7, {"QDate": 100_000}, ANN)
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
    _, since, _ = job_history.history_query(7, {"QDate": 100_000}, ANN)
    ended_then = {"JobStatus": 4, "LeaveJobInQueue": False, "EnteredCurrentStatus": 90_000}
    ended_then.update(ANN[0]._asdict())
    assert since is not None
    end = classad2.ExprTree(since)
    assert end.eval(classad2.ClassAd({**ended_then, "ClusterId": 8})) is False
    assert end.eval(classad2.ClassAd({**ended_then, "ClusterId": 6})) is True


def test_the_history_of_a_run_before_is_left_out() -> None:
    own = {"QDate": 100_000, "PYDAGMAN_BegunAnew": 200_000}
    which, since, _ = job_history.history_query(7, own, ANN)
    assert which == f"DAGManJobId == 7 && {ANNS} && QDate >= 200000"
    assert since is not None
    assert since.endswith(f"< 196400 && {ANNS}")


def test_without_its_own_ad_the_whole_history_is_searched() -> None:
    which = f"DAGManJobId == 7 && {ANNS}"
    assert job_history.history_query(7, {}, ANN) == HistoryQuery(which, None, ANN)


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
    assert job_history.ended_procs(ads) == [
        EndedJob(5, 0, "A", 2, 3),
        EndedJob(5, 1, "A", 0, -9),
        EndedJob(5, 2, "A", 0, RETURN_JOB_ABORTED),
    ]


def test_a_cluster_that_has_made_all_its_procs_has_ended() -> None:
    late = {"JobMaterializeDigestFile": "d", "TotalSubmitProcs": 2}
    first, second = EndedJob(5, 0, "A", 0, 0), EndedJob(5, 1, "A", 0, 1)
    assert job_history.ended_procs([ad(0, **late)]) == [first]
    both = job_history.ended_procs([ad(0, **late), ad(1, ExitCode=1, **late)])
    assert both == [first, second, EndedJob(5, -1, "A", 0, 0)]
    assert job_history.ended_procs([ad(0, TotalSubmitProcs=1)]) == [first]


class Schedd:
    """One that answers so."""

    def __init__(self, answer: Callable[[], list[classad2.ClassAd]]) -> None:
        self._answer = answer

    def history(self, *_: object, **__: object) -> list[classad2.ClassAd]:
        return self._answer()


def test_others_jobs_do_not_count() -> None:
    mine, others = ANN[0]._asdict(), {"Owner": "eve", "User": "eve@here"}
    ads = [ad(proc, **(others if proc % 2 else mine)) for proc in range(6)]
    jobs = job_history.search(Schedd(lambda: ads), ALL)
    assert jobs == [EndedJob(5, proc, "A", 0, 0) for proc in (0, 2, 4)]
