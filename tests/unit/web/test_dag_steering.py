"""What the page asks reaches DAGMan's socket in its own words, and its answers come back."""

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

from condor_pydagman.adapters.request_socket import RequestSocket
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.web.dag_steering import SocketSteering
from condor_pydagman.web.steering_seam import Controls, Request

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
    assert SocketSteering().controls(found_dag) == Controls(True, limits=limits)


def test_a_dag_that_is_not_running(found_dag: Any) -> None:
    found = SocketSteering().controls(found_dag)
    assert not found.can
    assert "no DAGMan of yours runs" in found.why_not
    assert not found.limits


def test_settings_of_nodes(dagman: Dagman, found_dag: Any) -> None:
    options = {"category": "big", "retries": 2, "vars": {"x": "1"}}
    answer = SocketSteering().steer(found_dag, Request("set", NODES, options))
    assert dagman.asked[0]["options"] == {"new_category": "big", "retries": 2, "vars": {"x": "1"}}
    assert dagman.asked[0]["nodes"] == NODES
    assert (answer.done, answer.refused_count) == (1, 1)
    assert answer.refused[0]["reason"] == "it is done"


def test_the_priority_of_the_dag(dagman: Dagman, found_dag: Any) -> None:
    answer = SocketSteering().steer(found_dag, Request("priority", {}, {"value": -2}))
    assert dagman.asked[0]["options"] == {"value": -2}
    assert "jobs of the DAG" in answer.effect


def test_a_dry_command_for_the_dag_asks_nobody(found_dag: Any) -> None:
    answer = SocketSteering().steer(found_dag, Request("cancel-all", {}, {}, dry=True))
    assert answer.loses_work


def test_descendants_lose_work(dagman: Dagman, found_dag: Any) -> None:
    request = Request("rerun", NODES, {"descendants": True}, dry=True)
    answer = SocketSteering().steer(found_dag, request)
    assert dagman.asked[0]["dry"]
    assert answer.loses_work
    assert "that depend" in answer.effect


def test_a_group_leaves_its_site(dagman: Dagman, found_dag: Any) -> None:
    answer = SocketSteering().steer(found_dag, Request("rematch", {"group": "g{x}"}, {}, dry=True))
    assert dagman.asked[0]["nodes"] == {"group": "g{x}"}
    assert answer.loses_work
    assert answer.effect.startswith("Group g{x} leaves its site. Its jobs are removed")


def test_groups(dagman: Dagman, found_dag: Any) -> None:
    assert SocketSteering().groups(found_dag) == [GROUP]


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
    answer = SocketSteering().steer(found_dag, Request(command, NODES, options, dry=True))
    assert answer.effect == effect


def test_a_command_that_fits_no_node_changes_nothing(dagman: Dagman, found_dag: Any) -> None:
    dagman.done = 0
    answer = SocketSteering().steer(found_dag, Request("cancel", NODES, {}))
    assert (answer.effect, answer.loses_work) == ("Nothing changes.", False)


def test_a_pattern_means_what_the_search_of_the_page_has_found(
    dagman: Dagman, found_dag: Any
) -> None:
    SocketSteering().steer(found_dag, Request("hold", {"pattern": "*Run[1]+*?"}, {}))
    pattern = dagman.asked[0]["nodes"]["pattern"]
    names = ["run[1]+a", "RUN[1]+ab", "run1+a"]
    assert [fnmatch.fnmatchcase(name, pattern) for name in names] == [True, True, False]
