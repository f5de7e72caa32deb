"""What the page gets about groups that run at sites: table, one group, stream, node."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.errors import FileError
from condor_pydagman.features.sites.page import SitesSeen
from condor_pydagman.features.sites.shown import GroupSite, GroupSites
from condor_pydagman.follow.run_model import Run
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.records.own_events import record_event
from condor_pydagman.web.dag_reader import SitesOfGroups
from condor_pydagman.web.picture_boxes import PictureBoxes, at_sites, shares
from condor_pydagman.web.steering import Answer, Controls, Request, Steering
from tests import locks
from tests.dag_logs import DagLogs
from tests.page_logs import DAG
from tests.unit.graph.texts import build_text
from tests.unit.web.page_client import Page, a_page, event, events

GROUPS = (
    "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nJOB D a.sub\n"
    "SITE_GROUP g NODES A B\nSITE_GROUP h NODES D\n"
)
FULL = "of 1 site, 1 is full (north)"
HOSTILE = "<b>g</b>"


class Dagman(Steering):
    """Says what it is told to say of groups."""

    def __init__(self, *groups: GroupReport) -> None:
        self.told: Sequence[GroupReport] = groups
        self.problem = ""
        self.asked = 0
        self.requests: list[Request] = []

    def controls(self, dag: FoundDag) -> Controls:
        return Controls(True)

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        self.requests.append(request)
        return Answer(1)

    def groups(self, dag: FoundDag) -> Sequence[GroupReport]:
        self.asked += 1
        if self.problem:
            raise FileError(self.problem)
        return self.told


@pytest.fixture
def grouped(logs: DagLogs, dag_file: Path) -> Path:
    """A and B are a group, C another one; D is in none."""
    dag_file.write_text(f"{DAG}SITE_GROUP one NODES A B\nSITE_GROUP {HOSTILE} NODES C\n")
    return dag_file


def record(logs: DagLogs, node: str, kind: str, value: int, text: str) -> None:
    """DAGMan writes a record of the node's group."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(logs.now))
    action = AppendJournalRecord(kind, 0, retry=0, value=value, text=text, cluster=-1, proc=0)
    with open(logs.log, "a") as file:
        file.write(record_event(when, node, action))


def matched(logs: DagLogs, node: str, site: str, number: int = 1) -> None:
    record(logs, node, "SITE_MATCHED", number, f"d {site}")


async def rows(page: Page, **query: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in (await page.get("groups", **query))["rows"]}


async def test_by_the_logs(logs: DagLogs, grouped: Path) -> None:
    async with a_page(grouped) as page:
        found = await page.get("groups")
        assert (found["total"], found["matches"], found["problem"]) == (2, 2, "")
        one, other = (await rows(page))["one"], (await rows(page))[HOSTILE]
        assert (one["state"], one["site"], one["since"]) == ("waiting", "", None)
        assert (other["done"], other["total"]) == (0, 1)
        stream = await page.follow()
        assert (await event(stream, "sites"))["of"] == [0, 0]
        matched(logs, "A", "the north")
        told = await event(stream, "sites")
        assert told == {"names": ["the north"], "nodes": [2], "changes": [[0, 1]]}
        one = (await rows(page))["one"]
        assert (one["state"], one["site"], one["round"]) == ("matched", "the north", 1)
        assert abs(one["since"] - logs.now) < 1
        boxes = {box["label"]: box for box in (await page.get("picture"))["boxes"]}
        assert [boxes[name].get("site_group") for name in "ABCD"] == [0, 0, 1, None]
        record(logs, "A", "SITE_TAKEN_BACK", 1, "IDLE 2h")
        logs.abort(7)
        async for name, _ in events(stream):
            one = (await rows(page))["one"] if name != "sites" else one
            if one["state"] == "leaving":
                break
        assert one["reason"] == "IDLE 2h"
        record(logs, "A", "SITE_LEFT", 1, "the north")
        assert (await event(stream, "sites"))["changes"] == [[0, 0]]
        assert (await rows(page))["one"]["state"] == "waiting"  # nothing cleans up


async def test_dagman_tells_more(logs: DagLogs, grouped: Path) -> None:
    dagman = Dagman(GroupReport("one", "WAITING", "", 0, 2, 0, 1795000000.0, FULL))
    with locks.held(f"{grouped}.lock", "7\n"):
        async with a_page(grouped, steering=dagman) as page:
            one = (await rows(page))["one"]
            assert (one["state"], one["reason"]) == ("waiting", FULL)
            assert one["since"] == 1795000000.0
            found = await page.get("groups/0")
            assert (found["reason"], found["states"]) == (FULL, {"waiting": 2})
            assert [node["name"] for node in found["nodes"]] == ["A", "B"]
            assert dagman.asked == 1, "it is not asked for each request"


async def test_why_a_group_has_left(logs: DagLogs, grouped: Path) -> None:
    dagman = Dagman(GroupReport("one", "CLEANING", "north", 1, 2, 0))
    matched(logs, "A", "north")
    record(logs, "A", "SITE_TAKEN_BACK", 1, "IDLE 2h")
    record(logs, "A", "SITE_LEFT", 1, "north")
    async with a_page(grouped, steering=dagman) as page:
        one = (await rows(page))["one"]
        assert (one["state"], one["site"], one["reason"]) == ("cleaning", "north", "IDLE 2h")


async def test_a_dagman_that_does_not_answer(
    logs: DagLogs, grouped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dagman = Dagman()
    dagman.problem = "DAGMan has broken off"
    logs.log.write_text("")  # groups have their sites before anything of them is submitted
    matched(logs, "A", "north")
    matched(logs, "C", "south")
    logs.submit("A", 7)
    logs.execute(7)
    async with a_page(grouped, steering=dagman) as page:
        found = await page.get("groups", search="one")
        assert found["problem"].endswith("DAGMan has broken off")
        (row,) = found["rows"]
        assert (row["site"], row["state"]) == ("north", "matched")
        logs.terminate(7)
        for cluster, node in enumerate("BCD", 8):
            logs.submit(node, cluster)
            logs.terminate(cluster)
        logs.post("B", 0, 8)
        logs.end()
        stream = await page.follow()
        await event(stream, "ended")
        asked = dagman.asked
        row = (await rows(page))["one"]
        assert (row["state"], row["site"], row["done"]) == ("over", "north", 2)
        assert dagman.asked == asked, "it has ended"


async def test_a_group_that_gets_no_site(logs: DagLogs, grouped: Path) -> None:
    record(logs, "A", "NO_SITE", 1, "it has waited 1 h (WAIT)")
    logs.abort(7)
    async with a_page(grouped) as page:
        row = (await rows(page))["one"]
        assert (row["state"], row["reason"]) == ("siteless", "it has waited 1 h (WAIT)")


@pytest.mark.parametrize(
    ("query", "names"),
    [({}, [HOSTILE, "one"]), ({"search": "NORTH"}, ["one"]), ({"search": "*b>"}, [HOSTILE]),
     ({"state": "matched"}, ["one"]), ({"sort": "site"}, [HOSTILE, "one"]),
     ({"sort": "round", "descending": "1"}, ["one", HOSTILE]),
     ({"sort": "since", "descending": "1"}, ["one", HOSTILE]),
     ({"sort": "state", "descending": "1"}, ["one", HOSTILE]),
     ({"sort": "done"}, [HOSTILE, "one"]), ({"offset": "1"}, ["one"]), ({"limit": "0"}, []),
     ({"search": "%"}, [])],
)  # fmt: skip
async def test_search_and_order(
    logs: DagLogs, grouped: Path, query: dict[str, str], names: list[str]
) -> None:
    matched(logs, "A", "north")
    async with a_page(grouped) as page:
        assert list(await rows(page, **query)) == names


@pytest.mark.parametrize(
    "query", [{"sort": "x"}, {"state": "running"}, {"search": "x" * 1001}, {"limit": "-1"}]
)
async def test_questions_that_are_wrong(grouped: Path, query: dict[str, str]) -> None:
    async with a_page(grouped) as page:
        await page.get("groups", 400, **query)
        await page.get("groups/2", 404)


async def test_a_node_has_its_group(logs: DagLogs, grouped: Path) -> None:
    matched(logs, "A", "north")
    async with a_page(grouped) as page:
        group = (await page.get("nodes/1"))["group"]
        assert (group["number"], group["name"], group["site"]) == (0, "one", "north")
        assert "group" not in await page.get("nodes/3")
        assert (await page.get(""))["groups"] == 2


async def test_a_dag_without_groups(logs: DagLogs, dag_file: Path) -> None:
    dagman = Dagman()
    async with a_page(dag_file, steering=dagman) as page:
        assert "groups" not in await page.get("")
        assert (await page.get("groups"))["total"] == 0
        await page.get("groups/0", 404)
        for box in (await page.get("picture"))["boxes"]:
            assert not {"sites", "site_group"} & set(box)
        stream = await page.follow()
        logs.terminate(7)
        logs.end(1)
        async for name, _ in events(stream):
            assert name != "sites"
            if name == "ended":
                break
        assert not dagman.asked


async def test_a_dag_that_has_groups_no_more(logs: DagLogs, grouped: Path) -> None:
    matched(logs, "A", "north")
    logs.terminate(7, value=1)
    logs.end(1)
    async with a_page(grouped) as page:
        stream = await page.follow()
        assert (await event(stream, "sites"))["of"] == [1, 0]
        grouped.write_text(DAG + "\n")
        assert await event(stream, "sites") == {"names": [], "nodes": [], "of": []}


async def test_rematch(logs: DagLogs, grouped: Path) -> None:
    dagman = Dagman()
    async with a_page(grouped, steering=dagman) as page:
        body = {"command": "rematch", "nodes": {"group": HOSTILE}, "dry": True}
        await page.command(body)
        (request,) = dagman.requests
        assert (request.command, request.nodes) == ("rematch", {"group": HOSTILE})
        await page.command({**body, "options": {"x": 1}}, 400)
        await page.command({**body, "nodes": {"group": 7}}, 400)


def at(**sites: str) -> Run:
    run = Run()
    GroupSites.put(run).groups = {name: GroupSite(site, 1) for name, site in sites.items()}
    return run


def places(names: Sequence[str], of: Sequence[int], nodes: Sequence[int]) -> SitesOfGroups:
    return SitesOfGroups(tuple(names), list(of), list(nodes))


def placed(names: Sequence[str], of: Sequence[int]) -> SitesOfGroups:
    return places(names, of, [0] * len(names))


def test_sites_are_in_the_order_of_names_and_later_ones_behind() -> None:
    seen = SitesSeen(build_text(GROUPS).groups)
    assert seen(at()) == places((), [0, 0], [])
    assert seen(at(g="south", h="north")) == places(("north", "south"), [2, 1], [1, 2])
    assert seen(at(g="east")) == places(("north", "south", "east"), [3, 0], [0, 0, 2])


def test_shares_of_boxes() -> None:
    found = shares(build_text(GROUPS), [0, 0, 0, 7])
    assert found == {0: {0: 2}, 7: {1: 1}}
    assert list(at_sites(found[0], placed("ns", [2, 1]))) == [[2, 2]]
    assert list(at_sites(found[7], placed("ns", [2, 0]))) == []


def test_boxes_of_the_picture() -> None:
    boxes = PictureBoxes(build_text(GROUPS))
    known = placed("ns", [2, 0])
    found = {box["label"]: box for box in boxes.picture([], bytes(4), 1, known)["boxes"]}
    assert [found[name].get("site_group") for name in "ABCD"] == [0, 0, None, 1]
    bare = boxes.picture([], bytes(4), 1, placed("n", [1]))["boxes"]
    assert not any("site_group" in box for box in bare), "places of another DAG"


def test_a_box_of_many_nodes_has_shares() -> None:
    many = "".join(f"JOB n{number} a.sub\n" for number in range(300))
    children = " ".join(f"n{number}" for number in range(300))
    text = f"JOB r a.sub\n{many}PARENT r CHILD {children}\nSITE_GROUP g NODES n1 n2 n3\n"
    found = PictureBoxes(build_text(text)).picture([], bytes(301), 1, placed("ns", [2]))
    (box,) = [box for box in found["boxes"] if box["node"] is None]
    assert (box["count"], box["sites"]) == (300, [[2, 3]])
