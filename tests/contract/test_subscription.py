"""Clients of the local socket who are told of events, by real processes that DAGMan starts."""

from __future__ import annotations

import json
import select
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman import subscribe
from condor_pydagman.api import dag_subscription
from condor_pydagman.errors import FileError, UsageError
from condor_pydagman.features.common.adapters.request_socket import RequestSocket, connected
from condor_pydagman.features.steering import clients as subscriptions
from condor_pydagman.features.steering.clients import Subscriptions
from tests.dag_logs import DagLogs
from tests.waiting import LIMIT_S, until


class Dagman(threading.Thread):
    """What a DAGMan does with those who want events, and nothing else."""

    def __init__(self, dag: str) -> None:
        super().__init__()
        self._socket = RequestSocket(dag)
        self._dag = dag
        self._over = threading.Event()
        self.subscriptions = Subscriptions(dag)
        self.start()

    def run(self) -> None:
        while not self._over.is_set():
            if not select.select([self._socket], [], [], 0.02)[0]:
                continue
            self._socket.work()
            for client, line in self._socket.lines():
                asked = json.loads(line)
                refusal = self.subscriptions.refusal()
                if refusal:
                    text = json.dumps({"error": refusal})
                    self._socket.answer(client, text.encode() + b"\n")
                    continue
                connection = self._socket.hand_over(client)
                assert connection is not None
                options = asked["options"]
                self.subscriptions.start(
                    connection, asked["id"], options["since"], before=options["before"]
                )

    def end(self) -> None:
        if not self._over.is_set():
            self._over.set()
            self.join()
            self._socket.close()
            self.subscriptions.close()


@pytest.fixture
def dag(tmp_path: Path) -> str:
    (tmp_path / "t.dag").write_text("JOB A a.sub\n")
    return str(tmp_path / "t.dag")


@pytest.fixture
def logs(tmp_path: Path, dag: str) -> DagLogs:
    made = DagLogs(tmp_path).start()
    made.submit("A", 7)
    return made


@pytest.fixture
def dagman(dag: str, logs: DagLogs) -> Iterator[Dagman]:
    made = Dagman(dag)
    yield made
    made.end()


def test_events_come_as_they_happen_until_the_dag_ends(
    dagman: Dagman, dag: str, logs: DagLogs
) -> None:
    events = subscribe(dag)
    first = [next(events)["event"] for _ in range(3)]
    assert first == ["dag.start", "job.submit", "node.state"]
    logs.execute(7)
    assert next(events)["event"] == "job.execute"
    logs.terminate(7)
    logs.end()
    told = list(events)
    assert [event["event"] for event in told] == ["job.terminate", "node.state", "dag.end"]
    again = subscribe(dag, told[0]["id"])
    assert [event["event"] for event in again] == ["node.state", "dag.end"]


def test_a_dagman_that_just_starts_is_waited_for(
    dag: str, logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has written its banner, and has no lock yet."""
    started: list[Dagman] = []
    monkeypatch.setattr(dag_subscription.time, "sleep", lambda _: started.append(Dagman(dag)))
    events = subscribe(dag)
    assert next(events)["event"] == "dag.start"
    logs.end()
    assert [event["event"] for event in events][-1] == "dag.end"
    started[0].end()


def test_only_what_happens_from_now_on(dagman: Dagman, dag: str, logs: DagLogs) -> None:
    events = subscribe(dag, before=False)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.extend(str(e["event"]) for e in events))
    reader.start()

    def told_of_another() -> bool:
        logs.execute(7)  # again and again: the process may not have looked at the logs before
        return bool(found)

    until(told_of_another, "an event after the beginning", pause_s=0.05)
    logs.end()
    reader.join(LIMIT_S)
    assert "job.submit" not in found
    assert found[-1] == "dag.end"


def test_a_dagman_that_goes_away_is_told(dagman: Dagman, dag: str) -> None:
    events = subscribe(dag)
    next(events)
    dagman.end()
    with pytest.raises(FileError, match="is gone; continue with `since`"):
        list(events)


def test_wrong_ids_and_too_many_clients(
    dagman: Dagman, dag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="x"):
        next(subscribe(dag, "x"))
    _wait_for_room(dagman)
    monkeypatch.setattr(subscriptions, "MAX_PROCESSES", 1)
    events = subscribe(dag)
    next(events)
    with pytest.raises(UsageError, match="1 clients are told of events already"):
        next(subscribe(dag))
    events.close()
    _wait_for_room(dagman)
    next(subscribe(dag))


def _wait_for_room(dagman: Dagman) -> None:
    """Until the process of a client that has gone has seen it."""

    def nobody_left() -> bool:
        dagman.subscriptions.refusal()
        return not dagman.subscriptions._lines

    until(nobody_left, "the end of a client's process", pause_s=0.02)


def test_a_client_that_reads_nothing_is_given_away(dagman: Dagman, dag: str) -> None:
    connection = connected(dag, LIMIT_S)
    assert connection is not None
    with connection:
        options = {"since": "", "before": True}
        message = {"id": 1, "command": "events", "options": options}
        connection.sendall(json.dumps(message).encode() + b"\n")
        until(lambda: dagman.subscriptions._lines, "a process for the client")
        assert [event["event"] for event, _ in zip(subscribe(dag), range(1))] == ["dag.start"]
