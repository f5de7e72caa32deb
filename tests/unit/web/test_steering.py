"""Commands from the page: what is asked for reaches DAGMan's socket in its own words, nothing else
does, and its answers come back."""

from __future__ import annotations

import fnmatch
import json
import select
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.common.adapters.request_socket import RequestSocket
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_answers import names_chosen
from condor_pydagman.web.steering import Answer, Controls, Request, Steering, read_request
from tests.dag_logs import DagLogs
from tests.unit.web.page_client import a_page, event


class Steered(Steering):
    """Keeps what it was told to do."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.can = True

    def controls(self, dag: FoundDag) -> Controls:
        return Controls(self.can, "" if self.can else "DAGMan does not answer")

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        if request.command == "halt":
            raise PydagmanError("it is halted already")
        names = set(request.nodes["names"]) - self.held
        if not request.dry:
            self.held |= names
        refused = [{"node": name, "state": "held", "reason": "it is held"}
                   for name in request.nodes["names"] if name not in names]  # fmt: skip
        return Answer(len(names), refused, len(refused), f"holds {len(names)}", False)


async def test_a_command_in_an_encoding_that_there_is_not(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file, steering=Steered()) as page:
        kind = {"Content-Type": "application/json; charset=nonsense"}
        await page.command({"command": "hold", "nodes": {"names": ["A"]}}, **kind)
        await page.command("[", 400, **kind)


async def test_a_command(logs: DagLogs, dag_file: Path) -> None:
    steered = Steered()
    async with a_page(dag_file, steering=steered) as page:
        seen = await page.get("")
        assert seen["controls"]["can"] is True
        body = {"command": "hold", "nodes": {"numbers": [0, 1]}, "seen": seen["version"]}
        answer = await page.command({**body, "dry": True})
        assert (answer["done"], answer["effect"], steered.held) == (2, "holds 2", set())
        await page.command(body)
        assert steered.held == {"A", "B"}
        answer = await page.command({"command": "hold", "nodes": {"names": ["A", "C"]}})
        assert (answer["done"], answer["refused_count"]) == (1, 1)
        assert answer["refused"] == [{"node": "A", "state": "held", "reason": "it is held"}]
        assert "halted already" in (await page.command({"command": "halt"}, 409))["error"]


async def test_nodes_in_a_state_of_the_page(logs: DagLogs, dag_file: Path) -> None:
    """DAGMan's states are fewer: those that run, are idle or held are one for it."""
    steered = Steered()
    async with a_page(dag_file, steering=steered) as page:
        body = {"command": "hold", "nodes": {"state": "running"}}
        assert (await page.command(body))["done"] == 1
        assert steered.held == {"A"}
        assert (await page.command({**body, "nodes": {"state": "skipped"}}))["done"] == 0


async def test_numbers_while_another_run_is_read(logs: DagLogs, dag_file: Path) -> None:
    """Its nodes have other numbers; whoever chose has not seen it."""
    async with a_page(dag_file) as page:
        dag = await page.dags.live(page.dag.rpartition("/")[2])
        await dag.close()
        dag_file.write_text("JOB N a.sub\n")
        dag.renew(dag.found)
        await page.dags._threads.with_files(dag._read)
        assert dag.reader.names == ["N"]
        body = {"command": "hold", "nodes": {"numbers": [0]}, "seen": dag.ring.version}
        assert names_chosen(dag, read_request(body)) == ["A"]


async def test_numbers_of_another_run(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file, steering=Steered()) as page:
        version = (await page.get(""))["version"]
        stream = await page.follow()
        body = {"command": "hold", "nodes": {"numbers": [0]}, "seen": version}
        await page.command({**body, "nodes": {"numbers": [4]}}, 404)
        await page.command({**body, "nodes": {"numbers": [-1]}}, 404)
        dag_file.write_text("JOB N a.sub\n")
        logs.now += 5
        logs.start()
        await event(stream, "reload")
        assert "select them again" in (await page.command(body, 409))["error"]
        await page.command({"command": "hold", "nodes": {"numbers": [0]}}, 409)


async def test_a_dag_that_cannot_be_steered(dag_file: Path) -> None:
    steered = Steered()
    steered.can = False
    async with a_page(dag_file, steering=steered) as page:
        assert (await page.get(""))["controls"]["why_not"] == "DAGMan does not answer"
        answer = await page.command({"command": "hold", "nodes": {"names": ["A"]}}, 409)
        assert answer["error"] == "DAGMan does not answer"


async def test_what_is_no_json(dag_file: Path) -> None:
    async with a_page(dag_file, steering=Steered()) as page:
        for body in ("", "{", "\x00", "[" * 100_000, "NaN"):
            await page.command(body, 400)


@pytest.mark.parametrize(
    "message",
    [
        [],
        None,
        {},
        {"command": "rm -rf"},
        {"command": ["hold"]},
        {"command": "hold"},
        {"command": "hold", "nodes": {}},
        {"command": "hold", "nodes": {"names": ["A"], "pattern": "*"}},
        {"command": "hold", "nodes": {"names": "A"}},
        {"command": "hold", "nodes": {"names": [1]}},
        {"command": "hold", "nodes": {"names": ["A"] * 100_001}},
        {"command": "hold", "nodes": {"numbers": [True]}},
        {"command": "hold", "nodes": {"numbers": ["1"]}},
        {"command": "hold", "nodes": {"files": ["1"]}},
        {"command": "hold", "nodes": {"pattern": "x" * 10_001}},
        {"command": "hold", "nodes": {"pattern": "*"}, "options": {"retry": True}},
        {"command": "cancel", "nodes": {"pattern": "*"}, "options": {"retry": 1}},
        {"command": "cancel", "nodes": {"pattern": "*"}, "dry": "yes"},
        {"command": "cancel", "nodes": {"pattern": "*"}, "more": 1},
        {"command": "halt", "nodes": {"pattern": "*"}},
        {"command": "limits", "options": {"jobs": "1"}},
        {"command": "limits", "options": {"jobs": True}},
    ],
)
def test_requests_that_are_refused(message: Any) -> None:
    with pytest.raises(Refused) as refused:
        read_request(message)
    assert refused.value.status == 400


def test_requests_as_the_page_makes_them() -> None:
    nodes = {"pattern": "a*"}
    found = read_request({"command": "cancel", "nodes": nodes, "options": {"retry": True}})
    assert found == Request("cancel", nodes, {"retry": True}, -1, False)
    found = read_request({"command": "resume", "nodes": None, "options": None, "seen": 5})
    assert found == Request("resume", {}, {}, 5, False)


LIMITS = {"jobs": 1, "idle": 2, "pre": 3, "post": 4, "hold": 5, "submits": 6}
NODES = {"names": ["A", "B"]}
GROUP = GroupReport("g", "WAITING", "", 0, 4, 1, 1795000000.0, "of 0 sites")


class Dagman(threading.Thread):
    """Listens as DAGMan does; refuses B."""

    def __init__(self, dag: str) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.done = 1
        self._socket = RequestSocket(dag)
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.is_set():
            if select.select([self._socket], [], [], 0.05)[0]:
                self._socket.work()
                for client, line in self._socket.lines():
                    self.asked.append(json.loads(line))
                    self._socket.answer(client, self._answer(self.asked[-1]))
        self._socket.close()

    def _answer(self, asked: dict[str, Any]) -> bytes:
        refused = [{"node": "B", "reason": "it is done"}] if "nodes" in asked else []
        if asked["command"] == "groups":
            return json.dumps({"done": 1, "groups": [GROUP._asdict()]}).encode() + b"\n"
        told = {"done": self.done, "refused": refused, "limits": LIMITS, "priority": 7}
        return json.dumps(told).encode() + b"\n"

    def end(self) -> None:
        self._over.set()
        self.join()


@pytest.fixture
def found_dag(tmp_path: Path) -> Any:
    return SimpleNamespace(paths=SimpleNamespace(primary=str(tmp_path / "t.dag")))


@pytest.fixture
def dagman(found_dag: Any) -> Iterator[Dagman]:
    made = Dagman(found_dag.paths.primary)
    yield made
    made.end()


def test_dials_show_what_dagman_says(dagman: Dagman, found_dag: Any) -> None:
    limits = {"jobs": 1, "idle": 2, "pre": 3, "post": 4, "priority": 7}
    assert Steering().controls(found_dag) == Controls(True, limits=limits)


def test_a_dag_that_is_not_running(found_dag: Any) -> None:
    found = Steering().controls(found_dag)
    assert not found.can
    assert "no DAGMan of yours runs" in found.why_not
    assert not found.limits


def test_settings_of_nodes(dagman: Dagman, found_dag: Any) -> None:
    options = {"new_category": "big", "retries": 2, "vars": {"x": "1"}}
    answer = Steering().steer(found_dag, Request("set", NODES, options))
    assert dagman.asked[0]["options"] == options
    assert dagman.asked[0]["nodes"] == NODES
    assert (answer.done, answer.refused_count) == (1, 1)
    assert answer.refused[0]["reason"] == "it is done"


def test_the_priority_of_the_dag(dagman: Dagman, found_dag: Any) -> None:
    answer = Steering().steer(found_dag, Request("priority", {}, {"value": -2}))
    assert dagman.asked[0]["options"] == {"value": -2}
    assert "jobs of the DAG" in answer.effect


def test_a_dry_command_for_the_dag_asks_nobody(found_dag: Any) -> None:
    answer = Steering().steer(found_dag, Request("cancel-all", {}, {}, dry=True))
    assert answer.loses_work


def test_descendants_lose_work(dagman: Dagman, found_dag: Any) -> None:
    request = Request("rerun", NODES, {"descendants": True}, dry=True)
    answer = Steering().steer(found_dag, request)
    assert dagman.asked[0]["dry"]
    assert answer.loses_work
    assert "that depend" in answer.effect


def test_a_group_leaves_its_site(dagman: Dagman, found_dag: Any) -> None:
    answer = Steering().steer(found_dag, Request("rematch", {"group": "g{x}"}, {}, dry=True))
    assert dagman.asked[0]["nodes"] == {"group": "g{x}"}
    assert answer.loses_work
    assert answer.effect.startswith("Group g{x} leaves its site. Its jobs are removed")


def test_groups(dagman: Dagman, found_dag: Any) -> None:
    assert Steering().groups(found_dag) == [GROUP]


@pytest.mark.parametrize(
    ("command", "options", "effect"),
    [
        ("skip", {}, "1 node is skipped, and counts as done."),
        ("cancel", {}, "The jobs of 1 node are removed, and it fails, without retries."),
        (
            "cancel",
            {"retry": True},
            "The jobs of 1 node are removed; it is retried if retries are left.",
        ),
    ],
)
def test_sentences_about_one_node(
    dagman: Dagman, found_dag: Any, command: str, options: dict[str, Any], effect: str
) -> None:
    answer = Steering().steer(found_dag, Request(command, NODES, options, dry=True))
    assert answer.effect == effect


def test_a_command_that_fits_no_node_changes_nothing(dagman: Dagman, found_dag: Any) -> None:
    dagman.done = 0
    answer = Steering().steer(found_dag, Request("cancel", NODES, {}))
    assert (answer.effect, answer.loses_work) == ("Nothing changes.", False)


def test_a_pattern_means_what_the_search_of_the_page_has_found(
    dagman: Dagman, found_dag: Any
) -> None:
    Steering().steer(found_dag, Request("hold", {"pattern": "*Run[1]+*?"}, {}))
    pattern = dagman.asked[0]["nodes"]["pattern"]
    names = ["run[1]+a", "RUN[1]+ab", "run1+a"]
    assert [fnmatch.fnmatchcase(name, pattern) for name in names] == [True, True, False]
