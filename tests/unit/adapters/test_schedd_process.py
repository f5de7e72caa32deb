"""Requests handed over to the process that asks the schedd: order, answers, and its ends."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.adapters import schedd_process
from condor_pydagman.adapters.descriptions import Unreadable
from condor_pydagman.adapters.ownership import Identity, Owners
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import ScheddProcess
from condor_pydagman.adapters.schedd_requests import (
    Accepted,
    Checks,
    EditOwnAd,
    FirstCommonInput,
    Listing,
    ListQueue,
    ListRemovable,
    LostReply,
    ReadAttribute,
    ReadOwnAd,
    Remove,
    Request,
    Submit,
    SubmitResult,
)
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import MAX_PROCESS_RETRY_S
from condor_pydagman.vocabulary import DagStatus
from tests.waiting import ending, readable, until

SUBMIT = Submit(SubmitNode(3, 0, DagStatus.OK, 0), "queue", "", Checks(name="a.sub"))
ENDED = [EndedJob(5, proc, "A", 0, 0) for proc in range(5000)]
HANGS, DIES, REFUSES = "hangs", "dies", "refuses"


class Adapter(ScheddAdapter):
    """A schedd that notes in a file what it is asked; other files say what goes wrong with that."""

    def __init__(self, place: Path) -> None:
        self.warned: list[str] = []
        super().__init__(7, self.warned.append)
        self.place = place
        self.history: Callable[[], list[EndedJob]] = list

    def _do(self, what: str) -> None:
        with open(self.place / "asked", "a", encoding="ascii") as file:
            file.write(f"{what}\n")
        trouble = self.place / what.split()[0]
        kind = trouble.read_text() if trouble.exists() else ""
        while kind == HANGS:
            time.sleep(600)
        if kind == DIES:
            os._exit(1)
        if kind == REFUSES:
            raise PoolError("no, never", transient=False)

    def submit(self, text: str, directory: str, look: Any = None) -> tuple[int, int]:
        self._do("submit")
        if text == "unreadable":
            raise Unreadable
        if text == "endless":
            raise ValueError("macro x stands for itself")
        if text == "unknown":
            raise LostReply("who knows")
        self.warn("mind the gap")
        return 41, 2

    def removable(
        self, cluster: int = 0, *, spare_services: bool = False, proc: int = -1
    ) -> list[QueuedJob]:
        self._do(f"removable {cluster} {spare_services}")
        return [QueuedJob(41, 1, "A", 0, leaving=True)]

    def remove(self, reason: str, cluster: int = 0, **how: Any) -> None:
        self._do(f"remove {reason} {cluster} {how['ended']} {how['spare_services']}")

    def listing(self) -> Listing:
        self._do("jobs")
        self._ownership._known = Owners([Identity("ann", "ann@here")])
        return Listing([QueuedJob(41, 0, "A", 1)], limits={"DAGMan_MaxJobs": 3})

    def ended_jobs(self) -> list[EndedJob]:
        return self.history()

    def attribute(self, cluster: int, name: str) -> Any:
        self._do(f"attribute {cluster} {name}")
        return os.getpid()

    def own_ad(self) -> dict[str, Any]:
        self._do("own_ad")
        return {"Owner": "caf\u00e9 \udce9", "DAGManJobId": None, "mine": self._own_jobs}

    def publish(self, attributes: Any, *, durable: bool = False) -> None:
        self._do(f"publish {sorted(attributes.items())} {durable}")


class Bench:
    """A process under test, and what was asked of the schedd."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.adapter = Adapter(place)
        self.now = 1000.0
        self.schedd = ScheddProcess(self.adapter, lambda: self.now)

    def ask(self, request: Request) -> list[Any]:
        """Hand over; returns where the result will be."""
        results: list[Any] = []
        self.schedd.ask(request, results.append)
        return results

    def wait(self, *results: list[Any]) -> None:
        def answered() -> bool:
            if not self.schedd.ready:
                select.select([self.schedd], [], [], 0.05)
            self.schedd.deliver()
            return all(results)

        if not all(results):
            until(answered, "answers", story=self.asked, pause_s=0)

    def result(self, request: Request) -> Any:
        results = self.ask(request)
        self.wait(results)
        (result,) = results
        return result

    def asked(self) -> list[str]:
        try:
            return (self.place / "asked").read_text().splitlines()
        except FileNotFoundError:
            return []

    def until_asked(self, what: str) -> None:
        until(lambda: what in self.asked(), f"the request {what}", story=self.asked)

    def trouble(self, what: str, kind: str) -> None:
        (self.place / what).write_text(kind)

    def at_ease(self, what: str) -> None:
        (self.place / what).unlink()

    def child(self) -> int:
        assert self.schedd._child is not None
        return self.schedd._child.pid


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(schedd_process, "LARGE_BYTES", 1 << 60)  # pytest may be larger than DAGMan
    made = Bench(tmp_path)
    yield made
    made.schedd.close()


def test_every_request_is_done_by_one_other_process(bench: Bench) -> None:
    pid = bench.result(ReadAttribute(41, "ProvisionerState"))
    assert pid == bench.child() != os.getpid()
    assert bench.result(SUBMIT) == SubmitResult(Accepted(41, 2), [])
    assert bench.adapter.warned == ["mind the gap"]
    assert bench.result(ListRemovable(0, spare_services=True)) == [
        QueuedJob(41, 1, "A", 0, leaving=True)
    ]
    assert bench.result(Remove("why", 41, ended=[(41, 1)])) is None
    assert bench.result(ListQueue()) == Listing(
        [QueuedJob(41, 0, "A", 1)], (), {"DAGMan_MaxJobs": 3}
    )
    assert bench.result(ReadOwnAd())["Owner"] == "caf\u00e9 \udce9"
    assert bench.result(EditOwnAd({"a": "1"}, durable=True)) is None
    assert bench.result(ReadAttribute(41, "ProvisionerState")) == pid
    assert bench.asked() == [
        "attribute 41 ProvisionerState",
        "submit",
        "removable 0 True",
        "remove why 41 [(41, 1)] False",
        "jobs",
        "own_ad",
        "publish [('a', '1')] True",
        "attribute 41 ProvisionerState",
    ]


def test_requests_are_done_in_their_order(bench: Bench) -> None:
    numbers = range(1, 50)
    answers = [bench.ask(EditOwnAd({"a": str(number)})) for number in numbers]
    bench.wait(*answers)
    assert bench.asked() == [f"publish [('a', '{number}')] False" for number in numbers]


def test_an_answer_may_lead_to_another_request(bench: Bench) -> None:
    results: list[Any] = []
    bench.schedd.ask(
        ListRemovable(41),
        lambda jobs: bench.schedd.ask(Remove("x", jobs[0].cluster), results.append),
    )
    bench.wait(results)
    assert results == [None]


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("unreadable", Unreadable, "parse_up_to_q_line() failed"),
        ("unknown", LostReply, "who knows"),
        ("endless", PoolError, "macro x stands for itself"),
    ],
)
def test_kinds_of_errors_are_told_apart(
    bench: Bench, text: str, kind: type[PoolError], reason: str
) -> None:
    outcome = bench.result(SUBMIT._replace(text=text)).outcome
    assert type(outcome) is kind
    assert outcome.reason == reason


def test_a_refusal_is_a_result(bench: Bench) -> None:
    bench.trouble("jobs", REFUSES)
    error = bench.result(ListQueue(history=True))
    assert type(error) is PoolError
    assert (error.reason, error.transient) == ("no, never", False)


def test_the_first_list_of_common_input(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    first = FirstCommonInput("token")
    monkeypatch.setattr(
        schedd_process, "obey", lambda adapter, request: SubmitResult(first, ["said"])
    )
    assert bench.result(SUBMIT) == SubmitResult(first, ["said"])


def test_nothing_waits_for_a_schedd_that_hangs(bench: Bench) -> None:
    bench.trouble("submit", HANGS)
    results = bench.ask(SUBMIT)
    bench.until_asked("submit")
    bench.schedd.deliver()
    with ending("the end of a process whose request never ends"):
        bench.schedd.close()
    assert not results
    assert bench.schedd._child is None


def test_nothing_is_submitted_behind_the_end(bench: Bench, mocker: MockerFixture) -> None:
    beside = bench.schedd.add(lambda _: mocker.Mock())
    bench.trouble("own_ad", HANGS)
    bench.ask(ReadOwnAd())
    bench.ask(SUBMIT)
    pid = bench.child()
    bench.until_asked("own_ad")
    bench.schedd.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert bench.asked() == ["own_ad"]
    beside.end.assert_called_once()


def test_nobody_is_answered_behind_the_end(bench: Bench, tmp_path: Path) -> None:
    """Whoever is answered may ask again."""
    answered: list[str] = []
    seen = tmp_path / "seen"  # the search, which ends then

    def history() -> list[EndedJob]:
        until(seen.exists, "that the search is seen")
        return ENDED[:1]

    bench.adapter.history = history

    def end(_: Any) -> None:
        answered.append("first")
        bench.schedd.close()

    bench.schedd.ask(ListQueue(history=True), lambda _: answered.append("second"))
    bench.until_asked("jobs")

    def searching() -> bool:
        bench.schedd.deliver()
        return bench.schedd._search.busy

    until(searching, "a search of the history")
    seen.touch()
    bench.schedd.ask(ReadOwnAd(), end)
    for watched in (bench.schedd._search._child, bench.schedd._child):
        readable(watched, "an answer")
    bench.schedd.deliver()
    assert answered == ["first"]


def test_a_submit_during_which_the_process_dies_is_lost_and_others_fail(bench: Bench) -> None:
    bench.trouble("submit", DIES)
    submit, later = bench.ask(SUBMIT), bench.ask(ReadOwnAd())
    bench.wait(submit, later)
    assert isinstance(submit[0].outcome, LostReply)
    assert "Owner" in later[0]  # by another process
    bench.trouble("own_ad", DIES)
    error = bench.result(ReadOwnAd())
    assert isinstance(error, PoolError)
    assert error.transient
    assert not isinstance(error, LostReply)


def test_a_process_that_left_for_want_of_requests_is_followed_by_another(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedd_process, "CHILD_IDLE_S", 0.1)
    monkeypatch.setattr(schedd_process, "LOOK_IDLE_S", 0.1)
    first = bench.result(ReadAttribute(1, "A"))
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)  # it has left, and nobody has looked
    second = bench.result(SUBMIT)
    assert second.outcome == Accepted(41, 2)
    third = bench.result(ReadAttribute(1, "A"))
    assert first != third
    assert bench.asked() == ["attribute 1 A", "submit", "attribute 1 A"]


def test_a_second_submit_is_handed_over_while_one_is_made(bench: Bench) -> None:
    bench.trouble("submit", HANGS)
    submits = [bench.ask(SUBMIT) for _ in range(3)]
    look = bench.ask(ReadAttribute(1, "A"))
    bench.until_asked("submit")
    assert len(bench.schedd._waiting) == 2
    bench.at_ease("submit")
    os.kill(bench.child(), signal.SIGKILL)
    bench.wait(*submits, look)
    kinds = [type(result.outcome) for (result,) in submits]
    assert kinds == [LostReply, LostReply, Accepted]  # how far it came with two is not known
    assert bench.asked() == ["submit", "submit", "attribute 1 A"]


LONG = SUBMIT._replace(text="#" * (schedd_process.MAX_NEXT_LENGTH + 1))


@pytest.mark.parametrize(("first", "following"), [(ReadOwnAd(), SUBMIT), (SUBMIT, LONG)])
def test_a_submit_that_is_not_handed_over_yet(
    bench: Bench, first: Request, following: Submit
) -> None:
    """Behind another request; or so long that DAGMan would wait until it is read."""
    what = "submit" if first is SUBMIT else "own_ad"
    bench.trouble(what, HANGS)
    bench.ask(first)
    submit = bench.ask(following)
    bench.until_asked(what)
    bench.at_ease(what)
    os.kill(bench.child(), signal.SIGKILL)
    bench.wait(submit)
    assert submit == [SubmitResult(Accepted(41, 2), [])]


def test_what_an_idle_process_has_not_taken_is_handed_to_the_next(bench: Bench) -> None:
    """It leaves just when two submits are on their way to it."""
    bench.result(ReadAttribute(1, "A"))
    os.kill(bench.child(), signal.SIGSTOP)
    submits = [bench.ask(SUBMIT), bench.ask(SUBMIT)]
    child = bench.schedd._child
    assert child is not None
    child.idle = True
    os.kill(child.pid, signal.SIGKILL)
    bench.wait(*submits)
    assert submits == 2 * [[SubmitResult(Accepted(41, 2), [])]]
    assert bench.asked() == ["attribute 1 A", "submit", "submit"]


def test_an_idle_process_leaves_and_is_waited_for(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedd_process, "CHILD_IDLE_S", 0.1)
    pid = bench.result(ReadAttribute(1, "A"))
    while bench.schedd._child is not None:
        readable(bench.schedd, "the end of the idle process")
        bench.schedd.deliver()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_looks_do_not_keep_a_process(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    send = schedd_process.Child.send

    def noted(child: Any, request: Any, idle_s: float | None = None) -> None:
        sent.append(idle_s)
        send(child, request, idle_s)

    monkeypatch.setattr(schedd_process.Child, "send", noted)
    for request in (ListQueue(), ListQueue(), ReadOwnAd(), ListQueue(), ListQueue()):
        bench.result(request)
        bench.now += 15
    brief, usual = schedd_process.LOOK_IDLE_S, schedd_process.CHILD_IDLE_S
    assert sent == [brief, brief, usual, usual - 15, brief]


def test_the_process_of_a_large_dagman_stays_until_it_is_at_rest(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedd_process, "CHILD_IDLE_S", 0.05)
    monkeypatch.setattr(schedd_process, "LOOK_IDLE_S", 0.05)
    monkeypatch.setattr(schedd_process, "LARGE_BYTES", 1)
    pid = bench.result(ReadAttribute(1, "A"))
    time.sleep(0.4)
    later = bench.ask(ReadAttribute(1, "A"))
    bench.schedd.rest()  # it has something to do
    bench.wait(later)
    assert later == [pid]
    bench.schedd.rest()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_can_be_started_before_there_is_anything_to_ask(bench: Bench) -> None:
    bench.schedd.start()
    pid = bench.child()
    assert bench.result(ReadAttribute(1, "A")) == pid


def test_what_is_settled_after_the_start_is_known_to_the_process(bench: Bench) -> None:
    bench.schedd.start()
    bench.adapter.select_by_log("/d/x.nodes.log")
    mine = bench.adapter._own_jobs
    assert bench.result(ReadOwnAd())["mine"] == mine
    assert bench.result(ReadOwnAd())["mine"] == mine


def test_what_a_process_has_found_out_is_known_to_the_next(bench: Bench) -> None:
    bench.result(ListQueue())
    assert bench.adapter._ownership._known == Owners([Identity("ann", "ann@here")])
    os.kill(bench.child(), signal.SIGKILL)
    bench.result(ReadOwnAd())
    assert bench.result(ListQueue()).jobs


# The removal of all jobs, at the end


@pytest.mark.parametrize("what", ["submit", "own_ad"])
def test_what_hangs_does_not_keep_back_the_removal_of_all_jobs(bench: Bench, what: str) -> None:
    bench.trouble(what, HANGS)
    hanging = bench.ask(SUBMIT if what == "submit" else ReadOwnAd())
    bench.until_asked(what)
    removal = bench.ask(Remove("end"))
    assert bench.schedd.next_deadline() == bench.now + schedd_process.GIVE_UP_S
    bench.schedd.deliver()
    assert not hanging
    bench.now += schedd_process.GIVE_UP_S
    bench.wait(hanging, removal)
    assert isinstance(hanging[0].outcome if what == "submit" else hanging[0], PoolError)
    assert what != "submit" or isinstance(hanging[0].outcome, LostReply)
    assert removal == [None]


def test_what_does_not_hang_is_not_given_up(bench: Bench) -> None:
    """Each request has its own time, however long those before it took."""
    bench.trouble("publish", HANGS)
    first, hanging = bench.ask(ReadOwnAd()), bench.ask(EditOwnAd({"a": "1"}))
    removal = bench.ask(Remove("end"))
    readable(bench.schedd, "the first answer")
    bench.now += schedd_process.GIVE_UP_S
    bench.schedd.deliver()  # hands over the second
    assert first
    assert not hanging
    assert bench.schedd.next_deadline() == bench.now + schedd_process.GIVE_UP_S
    bench.now += schedd_process.GIVE_UP_S
    bench.wait(hanging, removal)
    assert isinstance(hanging[0], PoolError)
    assert removal == [None]


def test_what_hangs_is_given_up_also_if_it_had_to_wait_for_a_process(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    bench.trouble("submit", HANGS)
    with monkeypatch.context() as short:
        short.setattr(os, "fork", refuse)
        submit, removal = bench.ask(SUBMIT), bench.ask(Remove("end"))
        bench.now += schedd_process.GIVE_UP_S
        bench.schedd.deliver()
    bench.now += MAX_PROCESS_RETRY_S
    bench.schedd.deliver()
    bench.until_asked("submit")
    assert bench.schedd.next_deadline() == bench.now + schedd_process.GIVE_UP_S
    bench.now += schedd_process.GIVE_UP_S
    bench.wait(submit, removal)
    assert isinstance(submit[0].outcome, LostReply)


def test_a_removal_itself_is_not_given_up(bench: Bench) -> None:
    bench.trouble("remove", HANGS)
    removal = bench.ask(Remove("end"))
    bench.until_asked("remove end 0 () False")
    pid = bench.child()
    bench.now += 10 * schedd_process.GIVE_UP_S
    bench.schedd.deliver()
    assert not removal
    assert bench.child() == pid
    assert bench.schedd.next_deadline() is None


def test_for_the_removal_of_one_cluster_nothing_is_given_up(bench: Bench) -> None:
    bench.ask(Remove("one", 41))
    assert bench.schedd.next_deadline() is None
