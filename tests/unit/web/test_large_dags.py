"""DAGs of many nodes, many DAGs, and machines without Graphviz: answers stay small."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.web import dags_list, live_dag, picture_boxes
from tests.dag_logs import DagLogs
from tests.unit.web.page_client import a_page, event

NODES = 20_000


async def test_many_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_dag, "MAX_KEPT", NODES // 2)
    works = [f"w{number}" for number in range(NODES - 2)]
    lines = ["JOB first a.sub", "JOB last a.sub", *(f"JOB {name} w.sub" for name in works)]
    lines += [f"PARENT first CHILD {' '.join(works)}", f"PARENT {' '.join(works)} CHILD last"]
    file = tmp_path / "large.dag"
    file.write_text("\n".join(lines))
    logs = DagLogs(tmp_path, file.name).start()
    logs.submit("first", 1)
    async with a_page(file) as page:
        assert (await page.get(""))["states"]["waiting"] == NODES - 1
        picture = await page.get("picture")
        assert len(picture["boxes"]) <= picture_boxes.MAX_BOXES
        assert sum(sum(box["states"].values()) for box in picture["boxes"]) == NODES
        groups = [box["group"] for box in picture["boxes"] if box["group"]]
        picture = await page.get("picture", open=",".join(groups))
        assert 100 < len(picture["boxes"]) <= picture_boxes.MAX_BOXES
        found = await page.get("nodes", sort="state", limit=200, offset=NODES - 100)
        assert (found["matches"], len(found["rows"])) == (NODES, 100)
        assert (await page.get("nodes/0"))["children_count"] == NODES - 2
        assert len((await page.get("nodes/1"))["parents"]) == 50
        stream = await page.follow()
        logs.terminate(1)
        reload = await event(stream, "reload")  # all are ready now: more than is told singly
        assert reload["version"] == (await page.get("states"))["version"]
        assert (await page.get(""))["states"]["ready"] == NODES - 2


async def test_without_graphviz(dag_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise PydagmanError("Graphviz is not installed")

    monkeypatch.setattr(picture_boxes, "find_dot", missing)
    async with a_page(dag_file) as page:
        found = await page.get("picture")
        tops = {box["label"]: box["y"] for box in found["boxes"]}
        assert tops["A"] < tops["B"] == tops["C"] < tops["D"]
        assert found["edges"]


async def test_few_dags_are_kept(dag_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dags_list, "MAX_LIVE", 2)
    directory = dag_file.parent
    ads = {}
    for number in range(5):
        (directory / f"n{number}.dag").write_text("JOB A a.sub\n")
        ads[number + 1] = {
            "ClusterId": number + 1,
            "JobStatus": 1,
            "Iwd": str(directory),
            "Arguments": f"-Dag n{number}.dag",
        }
    async with a_page(dag_file, ads=ads) as page:
        first = (await page.get(""))["version"]
        for row in (await page.get("/api/dags"))["dags"]:
            await page.get(f"/api/dags/{row['id']}")
            assert len(page.dags._live) <= 2
        assert (await page.get(""))["version"] > first


async def test_a_dag_that_is_submitted_again(
    logs: DagLogs, dag_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.terminate(7, value=1)
    logs.end(1)
    dag_file.with_name("t.dag.lock").write_text("")
    ad = {
        "ClusterId": 5,
        "JobStatus": 5,
        "QDate": logs.now - 100,
        "Iwd": str(dag_file.parent),
        "Arguments": "-Dag t.dag",
    }
    async with a_page(dag_file, ads={5: ad}) as page:
        assert (await page.get(""))["state"] == "failed"
        rows = (await page.get("/api/dags"))["dags"]
        assert [row["file"] for row in rows] == ["t.dag"]
        later = {**ad, "ClusterId": 9, "QDate": logs.now + 1000, "HoldReason": "by a person"}
        page.dags.queue.ads = {9: later}
        stream = await page.follow()
        await page.get("/api/dags")
        await event(stream, "reload")
        seen = await page.get("")
        if seen["cluster"] != 9:  # a look in between has seen that the old job is gone
            await event(stream, "reload")
            seen = await page.get("")
        assert (seen["state"], seen["cluster"]) == ("held", 9)
        assert seen["states"]["failed"] == 0
