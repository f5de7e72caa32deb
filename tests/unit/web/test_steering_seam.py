"""Commands from the page: what is asked for reaches whatever steers DAGs, and nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_answers import names_chosen
from condor_pydagman.web.steering_seam import Answer, Controls, Request, read_request
from tests.dag_logs import DagLogs
from tests.unit.web.page_client import a_page, event, run


class Steered:
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


def test_a_command_in_an_encoding_that_there_is_not(logs: DagLogs, dag_file: Path) -> None:
    async def test() -> None:
        async with a_page(dag_file, steering=Steered()) as page:
            kind = {"Content-Type": "application/json; charset=nonsense"}
            await page.command({"command": "hold", "nodes": {"names": ["A"]}}, **kind)
            await page.command("[", 400, **kind)

    run(test)


def test_a_command(logs: DagLogs, dag_file: Path) -> None:
    async def test() -> None:
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

    run(test)


def test_nodes_in_a_state_of_the_page(logs: DagLogs, dag_file: Path) -> None:
    """DAGMan's states are fewer: those that run, are idle or held are one for it."""

    async def test() -> None:
        steered = Steered()
        async with a_page(dag_file, steering=steered) as page:
            body = {"command": "hold", "nodes": {"state": "running"}}
            assert (await page.command(body))["done"] == 1
            assert steered.held == {"A"}
            assert (await page.command({**body, "nodes": {"state": "skipped"}}))["done"] == 0

    run(test)


def test_numbers_while_another_run_is_read(logs: DagLogs, dag_file: Path) -> None:
    """Its nodes have other numbers; whoever chose has not seen it."""

    async def test() -> None:
        async with a_page(dag_file) as page:
            dag = await page.dags.live(page.dag.rpartition("/")[2])
            await dag.close()
            dag_file.write_text("JOB N a.sub\n")
            dag.renew(dag.found)
            await page.dags._threads.with_files(dag._read)
            assert dag.reader.names == ["N"]
            body = {"command": "hold", "nodes": {"numbers": [0]}, "seen": dag.ring.version}
            assert names_chosen(dag, read_request(body)) == ["A"]

    run(test)


def test_numbers_of_another_run(logs: DagLogs, dag_file: Path) -> None:
    async def test() -> None:
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

    run(test)


def test_a_dag_that_cannot_be_steered(dag_file: Path) -> None:
    async def test() -> None:
        steered = Steered()
        steered.can = False
        async with a_page(dag_file, steering=steered) as page:
            assert (await page.get(""))["controls"]["why_not"] == "DAGMan does not answer"
            answer = await page.command({"command": "hold", "nodes": {"names": ["A"]}}, 409)
            assert answer["error"] == "DAGMan does not answer"

    run(test)


def test_what_is_no_json(dag_file: Path) -> None:
    async def test() -> None:
        async with a_page(dag_file, steering=Steered()) as page:
            for body in ("", "{", "\x00", "[" * 100_000, "NaN"):
                await page.command(body, 400)

    run(test)


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
