"""When a client of the local socket is answered: what it asked of the DAG survives DAGMan then."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman import feature_table
from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.report import GroupReport, Halts, Shown
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.feeder.report import FeederReport
from condor_pydagman.features.growth.run import PieceOffered, ReadOffer
from condor_pydagman.features.steering import clients
from condor_pydagman.features.steering.adapters import system_log
from condor_pydagman.features.steering.clients import ANSWER_TIMEOUT_S, PART, LocalClients
from condor_pydagman.features.steering.run import DagSteered, NodesSteered
from tests.make import EngineHarness
from tests.schemas import check

NO_HALT = Halts()
GROUPS = [GroupReport("g", "MATCHED", "north", 1, 4, 2)]


class Bench:
    """Clients whose schedd answers when it is told to."""

    def __init__(self, halts: Halts = NO_HALT) -> None:
        self.now = 100.0
        self.edits: list[Callable[[PoolError | None], None]] = []
        self.answers: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.tried: list[int] = []
        self.offered: list[tuple[str, str | None, bool]] = []
        self.piece: Any = SimpleNamespace(size=3)
        report = SimpleNamespace(halts=halts, limits=Throttles(), priority=7)
        names = [f"n{number}" for number in range(3 * PART)]
        run: Any = SimpleNamespace(
            config=Config(syslog_commands=True),
            job=SimpleNamespace(cluster=7),
            paths=SimpleNamespace(primary="t.dag", halt="/d/t.dag.halt"),
            out=SimpleNamespace(say=self.said.append),
            clock=SimpleNamespace(monotonic=lambda: self.now),
            dag=SimpleNamespace(names=names, ids=dict(zip(names, range(len(names))))),
            engine=SimpleNamespace(
                report=lambda: report,
                features={"sites": SimpleNamespace(group_reports=lambda: iter(GROUPS))},
                feature=lambda _: self,
            ),
            helpers=SimpleNamespace(ask=self.offer),
            job_ad=SimpleNamespace(edit=lambda _, done: self.edits.append(done)),
        )
        socket: Any = SimpleNamespace(
            answer=lambda _, line: self.answers.append(json.loads(line)),
            ready=False,
        )
        self.clients = LocalClients(run, socket)
        self.run = run

    def offer(self, helper: str, request: ReadOffer, then: Callable[..., None]) -> None:
        assert helper == "growth"
        self.offered.append(request[:])
        then((self.piece, "" if self.piece else "ERROR: all wrong"))

    def chosen(self, _: str, names: Iterable[str]) -> list[int]:
        return [int(name) for name in names]

    def refused(self, what: NodesSteered) -> list[tuple[int, str]]:
        """The first node of each part."""
        self.tried.append(len(what.nodes))
        return [(what.nodes[0], "no")]

    def descending(self, what: NodesSteered, refused: Iterable[int]) -> set[int]:
        """The others, and one more for each part."""
        if what.options != "descendants":
            return set()
        return {*what.nodes[1:], 100_000 + len(self.tried)} - set(refused)

    def send(self, message: dict[str, Any], count: int = 1) -> list[inputs.Input]:
        """Clients ask so many times."""
        client: Any = SimpleNamespace(uid=os.geteuid())
        return self.clients.taken([(client, json.dumps(message).encode())] * count)

    def ask(self, **message: Any) -> None:
        """A client asks, and the engine handles it."""
        record, an_input = self.send(message)
        assert isinstance(record, DagSteered)
        assert record.words.startswith(message["command"])
        assert self.clients.has_asked(an_input)
        assert not self.clients.has_asked(inputs.Resume())
        self.clients.input_handled()


def test_the_answer_comes_when_the_job_ad_has_it() -> None:
    bench = Bench()
    bench.ask(id=3, command="limits", options={"jobs": 7})
    assert not bench.answers
    bench.edits[0](None)
    (answer,) = bench.answers
    assert (answer["id"], answer["done"], answer["recorded"]) == (3, 1, True)
    assert bench.said[0].endswith(" asks for the DAG: limits jobs 7")
    assert bench.clients.next_deadline() is None


def test_that_to_a_priority_comes_when_the_log_has_it() -> None:
    bench = Bench()
    (asked,) = bench.send({"id": 3, "command": "priority", "options": {"value": 7}})
    assert isinstance(asked, DagSteered)
    assert asked.words == "priority value 7"
    assert not bench.answers
    bench.clients.steered(do.Steered(asked.request, 1, ()))
    (answer,) = bench.answers
    assert (answer["id"], answer["done"], answer["priority"]) == (3, 1, 7)
    assert answer["recorded"]


def test_a_resume_is_not_in_force_of_a_brake_yet_and_tells_so_of_the_halt_file_only() -> None:
    for halts, file in ((Halts(by_rule=True), None), (Halts(by_file=True), "/d/t.dag.halt")):
        bench = Bench(halts)
        bench.ask(command="resume")
        bench.edits[0](None)
        (answer,) = bench.answers
        assert (answer["halted"], answer.get("halt_file")) == (file is not None, file)


def test_a_schedd_that_hangs_is_not_waited_for() -> None:
    bench = Bench()
    bench.ask(command="halt")
    assert bench.clients.next_deadline() == bench.now + ANSWER_TIMEOUT_S
    assert bench.clients.taken([]) == []
    assert not bench.answers
    bench.now += ANSWER_TIMEOUT_S
    bench.clients.taken([])
    (answer,) = bench.answers
    assert not answer["recorded"]
    bench.edits[0](None)
    assert len(bench.answers) == 1


def test_the_end_of_the_dag_is_answered_at_once() -> None:
    bench = Bench()
    bench.ask(command="cancel-all")
    assert len(bench.answers) == 1


def test_groups_are_told() -> None:
    bench = Bench()
    client: Any = SimpleNamespace(uid=os.geteuid())
    assert not bench.clients.taken([(client, b'{"id": 1, "command": "groups"}')])
    assert [GroupReport(**one) for one in bench.answers[0]["groups"]] == GROUPS


@pytest.mark.parametrize(
    ("halts", "shown"),
    [
        (NO_HALT, ()),
        (Halts(by_file=True), (Shown("limits_trouble", "", answer="no directory"),)),
        (NO_HALT, (Shown("Feeder", "runs", answer=FeederReport("runs", 1, 2)._asdict()),)),
    ],
)
def test_what_info_tells_meets_its_schema(halts: Halts, shown: tuple[Shown, ...]) -> None:
    bench = Bench()
    report = EngineHarness("JOB A a.sub\n").begin().engine.report()
    bench.run.process = SimpleNamespace(pid=3)
    bench.run.engine.report = lambda: report._replace(halts=halts, shown=shown)
    assert bench.send({"command": "info", "id": "x"}) == []
    (answer,) = bench.answers
    check("info", answer)
    assert ("halt_file" in answer, answer["nodes"]) == (halts.by_file, 1)


def test_a_dry_request_of_many_nodes_is_tried_in_parts() -> None:
    bench = Bench()
    names = [str(number) for number in range(2 * PART + 1)]
    request = {"id": 1, "command": "skip", "nodes": {"names": names}, "dry": True}
    assert not bench.send(request)
    assert not bench.answers
    assert bench.clients.next_deadline() == 0.0
    bench.clients.taken([])
    bench.clients.taken([])
    assert bench.tried == [PART, PART, 1]
    (answer,) = bench.answers
    assert (answer["done"], answer["refused_count"]) == (2 * PART - 2, 3)
    assert bench.clients.next_deadline() is None


@pytest.mark.parametrize(
    ("command", "options", "feature"),
    [("rematch", {}, "sites"), ("set", {"timeout": "RUNNING 1m"}, "timeout")],
)
def test_what_can_not_be_loaded_any_more_is_refused(
    command: str, options: dict[str, Any], feature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def guard(module: str) -> None:
        if f".{feature}." in module:
            raise FileError("the files have been replaced")

    monkeypatch.setattr(feature_table, "_guards", [guard])
    bench = Bench()
    nodes = {"names": ["1"]}
    assert bench.send({"id": 1, "command": command, "options": options, "nodes": nodes}) == []
    assert [answer["error"] for answer in bench.answers] == ["the files have been replaced"]


def test_nodes_that_have_left_the_dag_meanwhile_are_passed_over() -> None:
    bench = Bench()
    names = [str(number) for number in range(PART + 3)]
    (first,) = bench.send({"id": 1, "command": "skip", "nodes": {"names": names}})
    assert isinstance(first, NodesSteered)
    assert list(first.nodes) == list(range(PART))
    del bench.run.dag.ids[f"n{PART + 1}"]
    (second,) = bench.clients.taken([])
    assert isinstance(second, NodesSteered)
    assert list(second.nodes) == [PART, PART + 2]


def test_no_more_is_taken_than_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_PARTS", 2)
    bench = Bench()
    request = {"command": "skip", "nodes": {"names": ["1"]}}
    bench.send(request, 3)
    (answer,) = bench.answers
    assert "try again later" in answer["error"]
    assert len(bench.clients.taken([])) == 1
    assert not bench.clients.taken([])


def test_what_a_person_adds_is_offered_and_answered_when_it_is_in_force() -> None:
    bench = Bench()
    asked, offered = bench.send({"id": 4, "command": "add", "options": {"text": "JOB X x"}})
    assert isinstance(asked, DagSteered)
    assert asked.words == "add text JOB X x"
    assert isinstance(offered, PieceOffered)
    assert (offered.piece, bench.offered) == (bench.piece, [("<text>", "JOB X x", False)])
    assert not bench.answers
    bench.clients.grown(do.Grown(offered.request, 3, ""))
    assert (bench.answers[0]["id"], bench.answers[0]["done"]) == (4, 3)
    bench.clients.grown(do.Grown(offered.request, 3, ""))
    assert len(bench.answers) == 1


def test_what_is_wrong_with_it_is_answered() -> None:
    bench = Bench()
    bench.piece = None
    assert not bench.send({"command": "add", "options": {"file": "/d/m.dag"}})
    assert bench.answers[0]["error"] == "ERROR: all wrong"
    bench.piece = SimpleNamespace(size=3)
    _, offered = bench.send({"command": "add", "options": {"file": "/d/m.dag"}})
    assert isinstance(offered, PieceOffered)
    bench.clients.grown(do.Grown(offered.request, 0, "the DAG is ending"))
    assert bench.answers[1]["error"] == "the DAG is ending"


def test_a_dry_addition_is_only_checked() -> None:
    bench = Bench()
    request = {"command": "add", "options": {"file": "/d/m.dag"}, "dry": True}
    assert not bench.send(request)
    assert bench.offered == [("/d/m.dag", None, True)]
    assert (bench.answers[0]["dry"], bench.answers[0]["done"]) == (True, 3)


def test_descendants_are_told_of() -> None:
    bench = Bench()
    names = [str(number) for number in range(PART + 3)]
    request = {"id": 1, "command": "rerun", "nodes": {"names": names}, "dry": True}
    bench.send({**request, "options": {"descendants": True}})
    bench.clients.taken([])
    assert (bench.answers[0]["done"], bench.answers[0]["descendants"]) == (PART + 1, 2)


def test_who_asks_and_what_is_in_syslog(mocker: MockerFixture) -> None:
    told = mocker.patch("condor_pydagman.features.steering.adapters.system_log.tell")
    bench, root = Bench(), SimpleNamespace(uid=0)
    halt = {"options": {"reason": "no disk"}, "x": "a" * 900, "command": "halt"}
    hold = {"nodes": {"names": ["1", "2"]}, "command": "hold"}
    for request in ({"command": "groups"}, halt, hold):
        line = json.dumps({"version": 1, "id": 1, **request}).encode()
        bench.clients.taken([(root, line)])  # type: ignore[list-item]
    assert bench.said == ["root asks for the DAG: halt reason no disk"]
    told_of = "root steers the DAG t.dag of job 7"
    assert told.call_args_list == [
        mocker.call(f"{told_of}: halt reason no disk"),
        mocker.call(f'{told_of}: hold names ["1", "2"]'),
    ]


def test_a_line_of_the_system_s_log(tmp_path: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(system_log, "_PLACE", str(tmp_path / "log"))
    system_log.tell("nobody listens")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(str(tmp_path / "log"))
        system_log.tell("ann steers")
        assert log.recv(999) == f"<37>condor_pydagman[{os.getpid()}]: ann steers".encode()
