"""Whose jobs DAGMan takes for its own, whatever another user writes into his."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import classad2
import htcondor2
import pytest

from condor_pydagman.adapters import job_history, ownership
from condor_pydagman.adapters.ownership import MAX_TRIES, Identity, Owners, Ownership
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError

ANN = Identity("ann", "ann@here")
STRANGERS = [
    {"Owner": "eve", "User": "eve@here"},
    {"Owner": "ann", "User": "ann@there"},  # the schedd lets her neither remove nor edit our jobs
    {"Owner": "eve", "User": "ann@here"},
    {"Owner": "Ann", "User": "Ann@here"},
    {"Owner": "ann"},
    {},
    {"Owner": classad2.ExprTree('strcat("a", "nn")'), "User": "ann@here"},
]


def job(cluster: int, owner: dict[str, Any], **more: Any) -> classad2.ClassAd:
    """A job that says it is the one of node A, under DAGMan 7."""
    names = {"DAGManJobId": 7, "DAGNodeName": "A", "DAGManNodeRetry": 0}
    return classad2.ClassAd({"ClusterId": cluster, "ProcId": 0, **names, **owner, **more})


OURS = job(8, ANN._asdict(), JobStatus=2)
FORGED = [job(9 + n, owner, JobStatus=2) for n, owner in enumerate(STRANGERS)]


class Schedd:
    """One that has our own ad (or not), and gives whatever jobs it has to every question."""

    def __init__(self, own: list[Any], jobs: list[Any]) -> None:
        self.own, self.have = own, jobs
        self.asked: list[str] = []

    def query(self, constraint: str, projection: list[str], **_: object) -> list[Any]:
        if constraint.startswith("ClusterId == 7"):
            return self.own
        self.asked.append(constraint)
        return self.have

    def history(self, constraint: str, projection: list[str], since: str) -> list[Any]:
        self.asked += [constraint, since]
        return self.have

    def act(self, _: object, constraint: str, __: object) -> None:
        self.asked.append(constraint)


class World:
    """What the schedd answers to the question who we are."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer: Callable[[], dict[str, str]] = lambda: {"MyRemoteUserName": "ann@here"}
        self.account: Identity | None = None
        self.pings = 0

        def ping(*_: object) -> dict[str, str]:
            self.pings += 1
            return self.answer()

        class Collector:
            def locate(self, _: object) -> None:
                pass

        monkeypatch.setattr(htcondor2, "ping", ping, raising=False)
        monkeypatch.setattr(htcondor2, "Collector", Collector)
        monkeypatch.setattr(ownership, "_local_identity", lambda: self.account)

    def fails(self) -> dict[str, str]:
        raise htcondor2.HTCondorException("Failed to\nconnect")


@pytest.fixture
def schedd_answers(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def adapter(schedd: Schedd, cluster: int = 7) -> ScheddAdapter:
    made = ScheddAdapter(cluster)
    made._schedd = schedd
    return made


def test_another_user_s_job_is_not_ours_even_if_the_constraint_lies(schedd_answers: World) -> None:
    side = Schedd([classad2.ClassAd(ANN._asdict())], [*FORGED, OURS])
    assert adapter(side).listing().jobs == [QueuedJob(8, 0, "A", 0)]
    by_hand = adapter(side, 0)
    by_hand.select_by_log("/dags/t.dag.nodes.log")
    assert by_hand.listing().jobs == [QueuedJob(8, 0, "A", 0)]


def test_nor_is_one_in_the_history(schedd_answers: World) -> None:
    ended = [job(9 + n, owner, JobStatus=4, ExitCode=0) for n, owner in enumerate(STRANGERS)]
    ended.append(job(8, ANN._asdict(), JobStatus=4, ExitCode=3))
    side = Schedd([classad2.ClassAd({**ANN._asdict(), "QDate": 100_000})], ended)
    assert adapter(side).ended_jobs() == [EndedJob(8, 0, "A", 0, 3)]


def test_every_question_and_every_removal_names_the_owner(schedd_answers: World) -> None:
    side = Schedd([classad2.ClassAd({**ANN._asdict(), "QDate": 100_000})], [])
    asking = adapter(side)
    asking.listing()
    asking.removable()
    asking.remove("why")
    asking.removable(8)
    asking.remove("why", 8)
    asking.removable(spare_services=True)
    asking.remove("why", spare_services=True)
    asking.attribute(8, "ProvisionerState")
    asking.select_by_log("/dags/t.dag.nodes.log")
    asking.listing()
    asking.removable()
    asking.remove("why")
    question = job_history.history_query(7, {"QDate": 100_000}, Owners([ANN]))
    here = {"DAGManNodesLog": "/dags/t.dag.nodes.log", "JobStatus": 2}
    old = {"EnteredCurrentStatus": 0, "LeaveJobInQueue": False, "JobStatus": 4}
    questions = [(text, here) for text in (*side.asked, question.which)]
    questions.append((str(question.since), {**old, "ClusterId": 6}))
    assert len(questions) == 13
    for constraint, more in questions:
        holds = classad2.ExprTree(constraint)
        assert holds.eval(job(8, ANN._asdict(), **more)) is True
        for stranger in STRANGERS[:-1]:
            assert holds.eval(job(8, stranger, **more)) is False, constraint


def test_who_we_are_is_asked_once(schedd_answers: World) -> None:
    asking = adapter(Schedd([classad2.ClassAd(ANN._asdict())], []))
    asking.listing()
    asking.listing()
    assert schedd_answers.pings == 1


def test_the_job_s_owner_and_who_submits_may_be_two(schedd_answers: World) -> None:
    """A DAG that came with a token belongs to that; its DAGMan proves to be an account."""
    campus = Identity("ann", "ann@campus")
    found = Ownership(7).owners(Schedd([classad2.ClassAd(campus._asdict())], []))
    assert found == (campus, ANN)


@pytest.mark.parametrize("answer", ["unauthenticated@unmapped", "", "ann", "@here"])
def test_a_schedd_that_does_not_want_to_know(schedd_answers: World, answer: str) -> None:
    """Then the job's own owner counts, or the account of who runs it by hand."""
    schedd_answers.answer = lambda: {"MyRemoteUserName": answer}
    own = Schedd([classad2.ClassAd(ANN._asdict())], [])
    assert Ownership(7).owners(own) == (ANN,)
    schedd_answers.account = Identity("bob", "bob@here")
    assert Ownership(0).owners(own) == (schedd_answers.account,)


@pytest.mark.parametrize("own", [[], [classad2.ClassAd()], [classad2.ClassAd({"Owner": "ann"})]])
def test_while_nobody_knows_nothing_is_ours(schedd_answers: World, own: list[Any]) -> None:
    schedd_answers.answer = dict
    asking = adapter(Schedd(own, [*FORGED, OURS]))
    with pytest.raises(PoolError, match="whose jobs are this DAGMan's") as caught:
        asking.listing()
    assert caught.value.transient
    with pytest.raises(PoolError):
        asking.remove("why")
    schedd_answers.answer = lambda: {"MyRemoteUserName": "ann@here"}
    assert asking.listing().jobs == [QueuedJob(8, 0, "A", 0)]


def test_a_schedd_that_cannot_say_now_is_asked_again_some_times(schedd_answers: World) -> None:
    schedd_answers.answer = schedd_answers.fails
    asking, side = Ownership(7), Schedd([classad2.ClassAd(ANN._asdict())], [])
    for _ in range(MAX_TRIES - 1):
        with pytest.raises(PoolError, match="knows DAGMan") as caught:
            asking.owners(side)
        assert caught.value.transient
    assert asking.owners(side) == (ANN,)


def test_bindings_that_cannot_ask(schedd_answers: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(htcondor2, "ping")
    schedd_answers.account = Identity("ann", "ann@uid.domain")
    found = Ownership(7).owners(Schedd([classad2.ClassAd(ANN._asdict())], []))
    assert found == (ANN, schedd_answers.account)


def test_nobody_has_no_jobs() -> None:
    assert classad2.ExprTree(Owners().clause).eval(OURS) is False
    assert not Owners().has(OURS)


def test_a_name_is_quoted() -> None:
    odd = Identity('a"b\\', 'a"b\\@here')
    assert classad2.ExprTree(Owners([odd]).clause).eval(job(1, odd._asdict())) is True
