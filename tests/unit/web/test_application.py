"""What the page gets about a DAG: every address, hostile names, files that are none."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.shown_states import BAR, KEYS, LOOKS
from condor_pydagman.monitor.found_dag import found_by_ad
from condor_pydagman.web import application, files
from condor_pydagman.web.dag_answers import shown_finding
from condor_pydagman.web.dags_list import DagsList
from condor_pydagman.web.threads import Threads
from tests import locks
from tests.dag_logs import DagLogs
from tests.unit.web.page_client import Page, a_page, event, nothing

HOSTILE = [
    "<script>alert(1)</script>",
    'it\'s"quoted"',
    "100%25&a=b#c?d",
    "Gänsefüßchen-über-ßß",
    "\u202eabc\u200f",
    "x" * 400,
    "a\\n\\u0000",
]


ME = os.getuid(), os.getgid()
QUOTED = '"it\'s\\"quoted\\""'


async def states(page: Page) -> list[str]:
    answer = await page.get("states")
    assert answer["legend"] == list(KEYS)
    return [KEYS[byte] for byte in base64.b64decode(answer["states"])]


async def test_overview_and_list(logs: DagLogs, dag_file: Path) -> None:
    with locks.held(f"{dag_file}.lock", "7\n"):
        async with a_page(dag_file) as page:
            seen = await page.get("")
            assert (seen["state"], seen["counts"]["running"]) == ("running", 1)
            assert (seen["states"]["running"], seen["states"]["waiting"]) == (1, 3)
            assert seen["controls"]["limits"] == {
                "jobs": 0, "idle": 0, "pre": 0, "post": 0, "priority": 0
            }  # fmt: skip
            assert seen["controls"]["can"] is False
            assert "can't steer" in seen["controls"]["why_not"]
            (row,) = (await page.get("/api/dags"))["dags"]
            assert row["file"] == "t.dag"
            assert f"/api/dags/{row['id']}" == page.dag
            assert (row["state"], row["total"], row["counts"]["running"]) == ("running", 4, 1)


async def test_dags_of_the_queue(logs: DagLogs, dag_file: Path, tmp_path: Path) -> None:
    ad = {
        "ClusterId": 9,
        "JobStatus": 2,
        "Iwd": str(tmp_path),
        "Arguments": "-p 0 -f -l . -Dag other.dag",
        "DAG_NodesTotal": 10,
        "DAG_NodesDone": 4,
        "DAG_NodesQueued": 83,
        "DAG_JobsRunning": 1,
        "PYDAGMAN_MoreNodesRunning": 49,
        "DAG_JobsHeld": 1,
        "PYDAGMAN_MoreNodesHeld": 29,
        "JobStartDate": 1795000000,
    }
    (tmp_path / "other.dag").write_text("JOB X a.sub\n")
    async with a_page(dag_file, ads={9: ad, 10: {"ClusterId": 10}}) as page:
        rows = {row["file"]: row for row in (await page.get("/api/dags"))["dags"]}
        other = rows["other.dag"]
        assert other["counts"] == {"done": 4, "running": 50, "held": 30, "idle": 3}
        assert (other["cluster"], other["done"], other["total"]) == (9, 4, 10)
        assert other["started"] == 1795000000
        await page.get(f"/api/dags/{other['id']}")
        page.dags.queue.ads.clear()
        assert {row["file"] for row in (await page.get("/api/dags"))["dags"]} == set(rows)


async def test_the_list_knows_of_the_end_of_a_named_dag(logs: DagLogs, tmp_path: Path) -> None:
    """Its ad, of the server's start, says for ever that it runs."""
    words = {"Iwd": str(tmp_path), "Arguments": "-p 0 -f -l . -Dag t.dag"}
    ad = {**words, "ClusterId": 9, "JobStatus": 2, "DAG_NodesTotal": 4, "DAG_NodesDone": 1}
    ad["PYDAGMAN_MoreNodesRunning"] = 0
    logs.counts(4, 3, 0, 0, 0, 0, 0, 1, 0)
    logs.end(1)
    dags = DagsList([found_by_ad(ad)], Threads())
    dags.queue.ads, dags.queue.problem = {9: ad}, ""
    dags.queue.refresh = nothing  # type: ignore[method-assign]
    dags.ended.refresh_soon = lambda: None  # type: ignore[method-assign]
    (row,) = await dags.rows()
    assert (row["state"], row["done"]) == ("running", 1)
    dags.queue.ads = {}
    (row,) = await dags.rows()
    assert (row["state"], row["done"], row["total"]) == ("failed", 3, 4)


async def test_a_dag_that_has_left_the_queue_stays_in_the_list(
    logs: DagLogs, tmp_path: Path
) -> None:
    ad = {"Iwd": str(tmp_path), "Arguments": "-p 0 -f -l . -Dag t.dag", "ClusterId": 9}
    logs.counts(4, 3, 0, 0, 0, 0, 0, 1, 0)
    logs.end(1)
    dags = DagsList([], Threads())
    dags.queue.ads, dags.queue.problem = {9: {**ad, "JobStatus": 2}}, ""
    dags.queue.refresh = nothing  # type: ignore[method-assign]
    dags.ended.refresh_soon = lambda: None  # type: ignore[method-assign]
    (before,) = await dags.rows()
    dags.queue.ads = {}
    for _ in range(2):
        (row,) = await dags.rows()
        assert (row["id"], row["state"], row["done"]) == (before["id"], "failed", 3)
    logs.log.with_name("t.dag.dagman.out").unlink()
    assert not await dags.rows()


async def test_dags_that_ended_lately(logs: DagLogs, dag_file: Path, tmp_path: Path) -> None:
    logs.end(1)
    ad = {"Iwd": str(tmp_path), "UserLog": "t.dag.dagman.log", "ClusterId": 7, "JobStatus": 4}
    told = {**ad, "Arguments": "-p 0 -f -l . -Dag t.dag", "ExitCode": 1, "DAG_NodesTotal": 4}
    gone = {**ad, "Iwd": "/not/here", "ExitCode": 0, "DAG_NodesTotal": "4", "QDate": "x"}
    async with a_page(dag_file) as page:
        known = page.dags._known.popitem()[0]
        page.dags._named.clear()
        page.dags.ended.ads = [told, {**told, "ClusterId": 5, "ExitCode": 0}, gone]
        rows = (await page.get("/api/dags"))["dags"]
        assert [(row["id"] == known, row["cluster"], row["state"]) for row in rows] == [
            (True, 7, "failed"), (False, 7, "succeeded")
        ]  # fmt: skip
        queued = {**told, "ClusterId": 9, "JobStatus": 2, "DAG_NodesDone": 1}
        del queued["ExitCode"]
        page.dags.queue.ads = {9: queued}
        row = next(row for row in (await page.get("/api/dags"))["dags"] if row["id"] == known)
        assert (row["cluster"], row["state"], "ended" in row) == (9, "running", False)
        page.dags.queue.ads = {}
        page.dags._known.clear()
        assert (await page.get(f"/api/dags/{known}"))["state"] == "failed"


async def test_runs_and_a_comparison(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        found = await page.get("runs")
        assert ([run["number"] for run in found["runs"]], found["rows"]) == ([1], [])
        assert found["runs"][0]["nodes"] == 1
        same = await page.get("runs", a="1", b="1")
        assert same["rows"][1] == ["run", "run 1", "run 1", ""]
        other = await page.get("runs", b="1", of=page.dag.rpartition("/")[2])
        assert other["rows"][1][1].endswith("t.dag")
        assert "no run 7" in (await page.get("runs", 503, a="7"))["error"]
        assert "a is a number" in (await page.get("runs", 400, a="x"))["error"]
        await page.get("runs", 404, of="0123456789abcdef")


async def test_states_follow_the_logs(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        assert await states(page) == ["running", "waiting", "waiting", "waiting"]
        version = (await page.get("states"))["version"]
        stream = await page.follow(since=version)
        assert (await event(stream, "overview"))["version"] == version
        logs.hold(7, reason="no such file")
        changes = await event(stream, "nodes")
        assert changes == {"version": version + 1, "changes": [[0, KEYS.index("held")]]}
        logs.abort(7)
        found = await event(stream, "nodes")
        words = {number: KEYS[state] for number, state in found["changes"]}
        assert words == {0: "failed", 1: "futile", 2: "futile", 3: "futile"}
        logs.end(1)
        await event(stream, "ended")
        assert await states(page) == ["failed", "futile", "futile", "futile"]


async def test_the_table(logs: DagLogs, dag_file: Path) -> None:
    async def names(page: Page, **query: Any) -> list[str]:
        return [row["name"] for row in (await page.get("nodes", **query))["rows"]]

    async with a_page(dag_file) as page:
        found = await page.get("nodes", limit=2, offset=1)
        assert (found["total"], found["matches"], len(found["rows"])) == (4, 4, 2)
        assert await names(page, sort="name", descending=1) == ["D", "C", "B", "A"]
        assert await names(page, search="a") == ["A"]
        assert await names(page, search="?") == ["A", "B", "C", "D"]
        assert await names(page, search="[A]*") == []
        assert await names(page, state="running") == ["A"]
        for sort in ("state", "attempt", "runtime", "started"):
            assert (await names(page, sort=sort, descending="true"))[0] == "A"
        row = (await page.get("nodes", search="A"))["rows"][0]
        assert (row["number"], row["cluster"], row["attempt"]) == (0, 7, 0)
        assert row["runtime_s"] > 50
        for query in (
            {"sort": "x"}, {"state": "x"}, {"limit": 201}, {"offset": -1}, {"limit": "x"},
            {"search": "x" * 1001}, {"offset": "9" * 5000},
        ):  # fmt: skip
            await page.get("nodes", 400, **query)


async def test_texts(logs: DagLogs, dag_file: Path) -> None:
    output = dag_file.with_name("one.7.out")
    async with a_page(dag_file) as page:
        await page.get("text", 404, file="output:0")
        output.write_bytes("Grüße\x1b[1m\xff\n".encode("latin-1") + "Grüße".encode())
        found = await page.get("text", file="output:0")
        assert found["text"] == "Gr\ufffd\ufffde\ufffd[1m\ufffd\nGrüße"
        assert (found["from"], found["to"], found["again"]) == (0, 18, False)
        with open(output, "ab") as file:
            file.write("ü".encode()[:1])
        assert (await page.get("text", file="output:0", **{"from": 18}))["to"] == 18
        with open(output, "ab") as file:
            file.write("ü".encode()[1:])
        found = await page.get("text", file="output:0", **{"from": 18})
        assert (found["text"], found["to"], found["size"]) == ("ü", 20, 20)
        found = await page.get("text", file="output:0", **{"from": -1})
        assert (found["text"], found["from"]) == ("", 20)
        output.write_text("new")
        found = await page.get("text", file="output:0", **{"from": 20})
        assert (found["text"], found["again"], found["from"]) == ("new", True, 0)
        assert "STARTING UP" in (await page.get("text", file="dagman.out"))["text"]
        await page.get("text", 404, file="metrics")
        await page.get("text", 404, file="rescue")
        dag_file.with_name("t.dag.rescue001").write_text("DONE A\n")
        assert (await page.get("text", file="rescue"))["text"] == "DONE A\n"
        for what in ("", "/etc/passwd", "../x", "output:", "output:-1", "output:1.0", "lock"):
            await page.get("text", 400, file=what)
        await page.get("text", 400, file="metrics", **{"from": "x"})


async def test_files_that_are_none(logs: DagLogs, dag_file: Path, tmp_path: Path) -> None:
    async with a_page(dag_file) as page:
        output = tmp_path / "one.7.out"
        os.mkfifo(output)
        assert "not a regular file" in (await page.get("text", 403, file="output:0"))["error"]
        output.unlink()
        output.symlink_to("/dev/zero")
        await page.get("text", 403, file="output:0")
        output.unlink()
        output.mkdir()
        await page.get("text", 403, file="output:0")
        output.rmdir()
        output.symlink_to(output)
        await page.get("text", 403, file="output:0")


def test_a_large_text_comes_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"x" * (files.MAX_BYTES - 1) + "ü".encode() + b"end")
    first = files.piece_of(str(path), 0, ME)
    assert first["to"] == files.MAX_BYTES - 1
    assert files.piece_of(str(path), first["to"], ME)["text"] == "üend"
    assert files.piece_of(str(path), -4, ME)["text"] == "end"


async def test_timeline(logs: DagLogs, dag_file: Path) -> None:
    begin = logs.now
    logs.now += 20
    logs.terminate(7, value=1)
    async with a_page(dag_file) as page:
        query = {"from": begin, "to": begin + 40, "buckets": 4}
        found = await page.get("timeline", **query)
        assert [round(one["running"], 2) for one in found["buckets"]] == [1, 1, 0, 0]
        assert sum(one["ended"] for one in found["buckets"]) == 1
        assert sum(one["failed"] for one in found["buckets"]) == 1
        assert [row["name"] for row in found["longest"]] == ["A"]
        assert len((await page.get("timeline"))["buckets"]) == 120
        for query in ({"buckets": 0}, {"buckets": 10**6}, {"from": "x"}, {"to": "nan"}):
            await page.get("timeline", 400, **query)


async def test_the_picture(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        found = await page.get("picture")
        boxes = {box["label"]: box for box in found["boxes"]}
        assert set(boxes) == set("ABCD")
        assert boxes["A"]["states"] == {"running": 1}
        assert (boxes["A"]["node"], boxes["A"]["group"], boxes["A"]["count"]) == (0, None, 1)
        assert found["edges"]
        for edge in found["edges"]:
            assert edge["look"] == ""
            corners = re.findall(r"(-?[\d.]+) (-?[\d.]+)", edge["path"])
            assert all(0 <= float(x) <= found["width"] + 1 for x, _ in corners)
        assert found["legend"] == []
        await page.get("picture", 400, open=",".join("x" * 300))
        assert (await page.get("picture", open="nothing,g7.7"))["shut"] == []


async def test_the_picture_of_special_nodes_and_edges(logs: DagLogs, dag_file: Path) -> None:
    lines = ("SUBDAG EXTERNAL S s.dag", "FINAL F a.sub", "WEAK PARENT D CHILD S")
    more = ("RUN_IF D Parents.B.size > 1", "SITE_GROUP g NODES B C")
    dag_file.write_text(dag_file.read_text() + "\n".join((*lines, *more, "")))
    async with a_page(dag_file) as page:
        found = await page.get("picture")
        boxes = {box["label"]: box for box in found["boxes"]}
        assert [boxes[name].get("words") for name in "ABSF"] == [None, "g", "SUBDAG", "FINAL"]
        assert [name for name in boxes if "outline" in boxes[name]] == ["S", "F"]
        assert [boxes[name].get("grouped") for name in "ABC"] == [None, 1, 1]
        looks = sorted(edge["look"] for edge in found["edges"])
        assert looks == ["", "", "condition", "condition", "weak"]
        outlines = [one["words"].partition(":")[0] for one in found["legend"]]
        assert outlines[:2] == ["SUBDAG", "FINAL"]
        assert [one["look"] for one in found["legend"]][2:] == ["weak", "condition", "unplaced"]


async def test_the_page_gets_the_table_of_states(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        shutil.copy(Path(application.PAGE, "index.html"), dag_file.parent / "page")
        async with page.client.get("/") as answer:
            text = await answer.text()
        (data,) = re.findall(r'<meta name="states" content="(.+?)">', text)
        table = json.loads(unescape(data))
        assert tuple(table) == tuple(LOOKS[state].key for state in BAR)
        assert table["skipped"]["counted"] == "done"
        async with page.client.get("/states.css") as answer:
            assert answer.content_type == "text/css"
            style = await answer.text()
        assert all(f".s-{key} {{" in style for key in table)


def test_what_is_shown_of_a_finding_about_sub_dags() -> None:
    last = Notice("node.exit", Weight.PROBLEM, "Node B failed.", ("B",))
    inner = Explanation("i.dag", "i.dag failed.", (last,))
    found = Notice("node.subdag", Weight.PROBLEM, "S failed.", ("S",), inner=(inner,))
    (dag,) = shown_finding(found.to_json())["inner"]
    assert dag["headline"] == "i.dag failed."
    assert [one["finding"] for one in dag["findings"]] == ["Node B failed."]


async def test_hostile_names(work_directory: Path) -> None:
    directory = work_directory / "<b>ü %41"
    directory.mkdir()
    file = directory / "'\"<i>.dag"
    lines = ["JOB %s x.sub" % (name if '"' not in name else QUOTED) for name in HOSTILE]
    file.write_bytes("\n".join(lines).encode() + b"\nJOB \xff\xfe x.sub\n")
    logs = DagLogs(directory, file.name).start()
    for number, name in enumerate(HOSTILE):
        logs.submit(name, number + 1)
    async with a_page(file) as page:
        (row,) = (await page.get("/api/dags"))["dags"]
        assert (row["file"], row["directory"]) == (file.name, str(directory))
        found = await page.get("nodes")
        assert {one["name"] for one in found["rows"]} >= {HOSTILE[0], *HOSTILE[2:4]}
        assert found["total"] == len(HOSTILE) + 1
        for number in range(found["total"]):
            await page.get(f"nodes/{number}")
        async with page.client.get(f"{page.dag}/nodes") as answer:
            (await answer.read()).decode("ascii")
        await page.get("picture")
        await page.get("explain")
        row = (await page.get("nodes", search=HOSTILE[2]))["rows"][0]
        assert (row["name"], row["state"]) == (HOSTILE[2], "idle")


async def test_a_dag_that_goes_away_and_comes_back(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        stream = await page.follow()
        await event(stream, "overview")
        away = dag_file.parent.with_name("away")
        dag_file.parent.rename(away)
        await event(stream, "overview")
        await page.get("")
        assert len((await page.get("nodes"))["rows"]) == 4
        await page.get("text", 404, file="dagman.out")
        away.rename(dag_file.parent)
        logs.terminate(7)
        while (await states(page))[0] != "done":
            await event(stream, "overview")


async def test_a_server_whose_directory_is_removed(
    logs: DagLogs, dag_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The DAG is elsewhere."""
    here = dag_file.parent / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    async with a_page(dag_file) as page:
        here.rmdir()
        assert (await page.get("nodes/0"))["name"] == "A"
        assert "condor_dagman" in (await page.get("text", file="dagman.out"))["text"]


async def test_another_run_begins(logs: DagLogs, dag_file: Path) -> None:
    logs.terminate(7)
    async with a_page(dag_file) as page:
        stream = await page.follow()
        assert (await states(page))[0] == "done"
        dag_file.write_text("JOB N a.sub\n")
        logs.now += 5
        logs.start()
        reload = await event(stream, "reload")
        assert await states(page) == ["ready"]
        again = await page.follow(since=reload["version"] - 1)
        assert (await event(again, "reload"))["version"] == reload["version"]


async def test_dags_that_are_not_there(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        for name in ("0123456789abcdef", "x", "..", "0123456789ABCDEF"):
            await page.get(f"/api/dags/{name}", 404)


async def test_a_dag_without_its_files(logs: DagLogs, dag_file: Path) -> None:
    dag_file.unlink()
    async with a_page(dag_file) as page:
        assert await states(page) == ["running"]
        assert (await page.get("nodes/0"))["parents"] == []
        await page.get("picture", 404)
        stream = await page.follow()
        logs.submit("new", 8)
        await event(stream, "reload")
        assert await states(page) == ["running", "idle"]


async def test_answers_are_no_other_type(dag_file: Path) -> None:
    async with a_page(dag_file) as page, page.client.get(f"{page.dag}/nodes") as answer:
        assert answer.headers["Content-Type"].startswith("application/json")
        json.loads(await answer.text())
