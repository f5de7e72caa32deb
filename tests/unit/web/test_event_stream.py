"""Streams of events: clients that are slow, come again, are too many."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.web import application, live_dag
from tests.dag_logs import DagLogs
from tests.unit.web.page_client import a_page, event


async def test_a_client_that_comes_again_misses_nothing(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        first = await page.follow()
        version = (await event(first, "overview"))["version"]
        first.close()
        logs.hold(7)
        second = await page.follow()
        while (await event(second, "overview"))["states"]["held"] == 0:
            pass
        for how in ({"params": {"since": str(version)}}, {"headers": {"Last-Event-ID": str(version)}}):  # fmt: skip  # noqa: E501
            async with page.client.get(f"{page.dag}/live", **how) as third:
                found = await event(third, "nodes")
            assert found["changes"] == [[0, KEYS.index("held")]]


@pytest.mark.parametrize("since", ["x", "-2", "1.5", "9" * 30, "0" * 5000, "²"])
async def test_a_version_that_is_none(dag_file: Path, since: str) -> None:
    async with a_page(dag_file) as page:
        await page.get("live", 400, since=since)


async def test_a_version_of_another_server(dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        stream = await page.follow(since=12345678)
        version = (await event(stream, "reload"))["version"]
        assert version == (await page.get("states"))["version"]


async def test_every_line_has_its_id_and_a_comment_comes(
    logs: DagLogs, dag_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "COMMENT_S", 0.05)
    async with a_page(dag_file) as page:
        stream = await page.follow()
        lines = [(await stream.content.readline()).decode() for _ in range(4)]
        assert [line.partition(":")[0].strip() for line in lines] == [
            "id", "event", "data", ""
        ]  # fmt: skip
        while (await stream.content.readline()) != b": here\n":
            pass


async def test_too_many_streams(dag_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "MAX_STREAMS", 2)
    async with a_page(dag_file) as page:
        streams = [await page.follow() for _ in range(2)]
        assert "too many pages" in (await page.get("live", 503))["error"]
        await page.get("")
        streams[0].close()
        while True:  # until the server has seen it
            async with page.client.get(f"{page.dag}/live") as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.05)


async def test_a_client_that_reads_nothing(
    logs: DagLogs, dag_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It delays nobody, and is left after a while; what it has not read is not kept for it."""
    monkeypatch.setattr(application, "STUCK_S", 0.5)
    monkeypatch.setattr(application, "OVERVIEW_S", 0.0)
    count = 3000
    dag_file.write_text("".join(f"JOB n{number} a.sub\n" for number in range(count)))
    async with a_page(dag_file) as page:
        stuck = socket.create_connection(("127.0.0.1", page.access.port))
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        cookie = f"{page.access.cookie_name}={page.access._session}"
        head = f"GET {page.dag}/live HTTP/1.1\r\nHost: {page.host}\r\nCookie: {cookie}"
        stuck.sendall(f"{head}\r\n\r\n".encode())
        live = None
        while live is None or not live.clients:
            await asyncio.sleep(0.02)
            live = next(iter(page.dags._live.values()), None)
        good = await page.follow()
        round_ = 0
        while live.clients == 2:
            round_ += 1
            many = (number for _ in range(15) for number in range(count))
            live.ring.add((number, round_ % len(KEYS)) for number in many)
            until = live.ring.version
            while (await event(good, "nodes"))["version"] < until:
                pass
        stuck.close()


async def test_more_changes_than_are_kept(
    logs: DagLogs, dag_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_dag, "MAX_KEPT", 4)
    dag_file.write_text(f"{dag_file.read_text()}JOB Z a.sub\n")
    async with a_page(dag_file) as page:
        version = (await page.get(""))["version"]
        logs.abort(7)  # with three nodes that can't run now
        while (await page.get(""))["version"] == version:
            pass
        assert (await page.get(""))["version"] == version + 4
        logs.submit("Z", 8)
        while (await page.get(""))["version"] == version + 4:
            pass
        stream = await page.follow(since=version)
        await event(stream, "reload")


async def test_nobody_looks(dag_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_dag, "IDLE_S", 0.1)
    async with a_page(dag_file) as page:
        await page.get("")
        (live,) = page.dags._live.values()
        while live.is_followed:
            await asyncio.sleep(0.02)
        looks = live.looks
        await page.get("")
        assert live.looks > looks


async def test_a_limit_that_is_set(logs: DagLogs, dag_file: Path) -> None:
    async with a_page(dag_file) as page:
        stream = await page.follow()
        assert (await event(stream, "overview"))["controls"]["limits"]["jobs"] == 0
        logs.say("\tMaximum Submitted Nodes: 5")
        assert (await event(stream, "overview"))["controls"]["limits"]["jobs"] == 5
