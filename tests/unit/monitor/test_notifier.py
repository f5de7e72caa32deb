"""The process that delivers events, to a program and to a server that has its moods."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.monitor import notifier
from condor_pydagman.monitor.notifier import NotDelivered, Notifier, Order, deliver
from tests.dag_logs import DagLogs
from tests.servers import messages
from tests.servers.scripted import scripted

EVENTS = [DagEvent("dag.start", 1.0, id="a"), DagEvent("dag.end", 2.0, id="b")]


@pytest.fixture
def server() -> Iterator[messages.Kept]:
    with messages.running() as kept:
        yield kept


def to_url(port: int) -> None:
    deliver(Order("t", 1, "*", url=f"http://127.0.0.1:{port}/hook"), EVENTS)


def test_a_url_gets_an_array(server: messages.Kept) -> None:
    to_url(server.http_port)
    (request,) = server.requests
    assert [event["event"] for event in request.body] == ["dag.start", "dag.end"]
    assert request.kind == "application/json"


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_url_that_refuses(server: messages.Kept, status: int) -> None:
    server.answers = [status]
    with pytest.raises(NotDelivered, match=str(status)):
        to_url(server.http_port)
    assert len(server.requests) == 1  # a redirection is not followed


def test_a_url_that_nobody_serves() -> None:
    with pytest.raises(NotDelivered, match="the URL does not take it"):
        to_url(1)


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 200]
)
def test_a_server_that_speaks_no_http(answer: bytes) -> None:
    with scripted(answer) as server, pytest.raises(NotDelivered, match="the URL does not take it"):
        to_url(server.port)


def test_a_program_whose_name_holds_a_nul() -> None:
    with pytest.raises(NotDelivered, match="can't run"):
        deliver(Order("t", 1, "*", ("a\0b",)), EVENTS)


def test_a_program_gets_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "x"
    script.write_text(f"#!/bin/sh\ncat > {tmp_path}/$1\nexit $2\n")
    script.chmod(0o755)
    deliver(Order("t", 1, "*", (str(script), "got", "0")), EVENTS)
    lines = (tmp_path / "got").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["dag.start", "dag.end"]
    with pytest.raises(NotDelivered, match="ended with exit code 3"):
        deliver(Order("t", 1, "*", (str(script), "got", "3")), EVENTS)
    with pytest.raises(NotDelivered, match="can't run"):
        deliver(Order("t", 1, "*", (str(tmp_path / "y"),)), EVENTS)
    script.write_text("#!/bin/sh\nexec sleep 9\n")
    monkeypatch.setattr(notifier, "PROGRAM_S", 0.1)
    with pytest.raises(NotDelivered, match="has not ended within"):
        deliver(Order("t", 1, "*", (str(script),)), EVENTS)


def test_a_program_is_looked_for_in_the_directory_of_the_dag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "tell"
    script.write_text(f"#!/bin/sh\ncat > {tmp_path}/got\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    deliver(Order("t", 1, "*", ("tell",)), EVENTS)
    assert (tmp_path / "got").exists()
    with pytest.raises(NotDelivered, match="can't run true"):
        deliver(Order("t", 1, "*", ("true",)), EVENTS)


class Bench:
    """A DAG and a notifier whose deliveries are noted."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (directory / "t.dag").write_text("JOB A a.sub\n")
        self.logs = DagLogs(directory)
        self.order = Order(str(directory / "t.dag"), 1, "dag.*,job.*", ("x",))
        self.got: list[str] = []
        self.fails = 0
        self.steps: list[Callable[[], object]] = []
        monkeypatch.setattr(notifier, "deliver", self.deliver)
        monkeypatch.setattr(time, "sleep", lambda seconds: self.steps.pop(0)())

    def deliver(self, order: Order, events: list[DagEvent]) -> None:
        if self.fails:
            self.fails -= 1
            raise NotDelivered("not now")
        self.got += [event.name for event in events]

    def run(self) -> int:
        delivered = notifier.lock(f"{self.order.dag}.notify.1", 1)
        assert delivered is not None
        return Notifier(self.order, delivered).run()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_a_dag_from_its_start_to_its_end(bench: Bench) -> None:
    logs = bench.logs
    logs.start()
    bench.steps = [lambda: logs.submit("A", 7), lambda: logs.terminate(7), logs.end]
    assert bench.run() == 0
    assert bench.got == ["dag.start", "job.submit", "job.terminate", "dag.end"]
    assert not Path(bench.order.dag + ".notify.1").exists()


def test_after_a_crash_delivery_goes_on_where_it_ended(bench: Bench) -> None:
    logs = bench.logs
    logs.start()

    def crash() -> None:
        raise RuntimeError

    bench.steps = [lambda: logs.submit("A", 7), crash]
    with pytest.raises(RuntimeError):
        bench.run()
    bench.steps = [logs.end]
    logs.terminate(7)
    assert bench.run() == 0
    assert bench.got == ["dag.start", "job.submit", "job.terminate", "dag.end"]


def test_what_is_refused_is_logged_and_tried_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    bench.logs.start()
    bench.logs.end()
    bench.fails = 2
    bench.steps = [lambda: now.__setitem__(0, now[0] + 1) for _ in range(9)]
    assert bench.run() == 0
    assert bench.got == ["dag.start", "dag.end"]
    log = Path(bench.order.dag + ".notify.log").read_text()
    assert "NOTIFY 1: try 2 to deliver 2 events: not now" in log
    bench.fails = 99
    bench.steps = [lambda: now.__setitem__(0, now[0] + 10) for _ in range(20)]
    assert bench.run() == 0
    assert "gave up on 2 events so far" in Path(bench.order.dag + ".notify.log").read_text()


def test_it_ends_some_time_after_its_dagman(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(notifier, "dagman_lives", lambda: False)
    bench.logs.start()
    bench.steps = [lambda: now.__setitem__(0, now[0] + 50) for _ in range(3)]
    assert bench.run() == 0
    assert Path(bench.order.dag + ".notify.1").exists()
    assert now[0] >= notifier.ORPHANED_S
