"""A server of the page with a client that has its cookie, for one test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientResponse
from aiohttp.test_utils import TestClient, TestServer
from multidict import CIMultiDict

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.web.access import Access
from condor_pydagman.web.application import PageServer
from condor_pydagman.web.dags_list import DagsList, id_of
from condor_pydagman.web.steering import Answer, Controls, Request, Steering
from condor_pydagman.web.threads import Threads


class NoSteering(Steering):
    """Where nothing can be steered."""

    def controls(self, dag: FoundDag) -> Controls:
        return Controls(False, "you can't steer this DAG")

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        raise AssertionError(request)

    def groups(self, dag: FoundDag) -> Sequence[GroupReport]:
        return ()


class Page:
    """What a browser does.

    Attributes:
        client: with the cookie, unless the test has taken it away.
        access: the server's.
        dags: the server's.
        dag: the address of the DAG.
    """

    def __init__(self, client: Any, access: Access, dags: DagsList, dag: str) -> None:
        self.client, self.access, self.dags, self.dag = client, access, dags, dag

    @property
    def host(self) -> str:
        return self.access.host

    async def get(self, path: str, status: int = 200, **query: Any) -> Any:
        """JSON of an address below the DAG's, '/...' for any."""
        url = path if path.startswith("/") else f"{self.dag}/{path}".rstrip("/")
        async with self.client.get(url, params=query) as answer:
            assert answer.status == status, await answer.text()
            return await answer.json()

    async def command(self, body: Any, status: int = 200, **headers: str) -> Any:
        sent = {"Origin": f"http://{self.host}", "Content-Type": "application/json", **headers}
        text = body if isinstance(body, str) else json.dumps(body)
        async with self.client.post(f"{self.dag}/commands", data=text, headers=sent) as answer:
            assert answer.status == status, await answer.text()
            return await answer.json()

    async def follow(self, **query: Any) -> ClientResponse:
        answer: ClientResponse = await self.client.get(f"{self.dag}/live", params=query)
        assert answer.status == 200, await answer.text()
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        return answer


async def events(answer: ClientResponse) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Name and data of each event of a stream."""
    name = ""
    while True:
        line = (await answer.content.readline()).decode()
        if not line:
            return
        if line.startswith("event: "):
            name = line[7:].strip()
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


async def event(answer: ClientResponse, wanted: str) -> dict[str, Any]:
    """The next event of that name."""
    async for name, data in events(answer):
        if name == wanted:
            return data
    raise AssertionError(f"no {wanted} came")


NO_STEERING = NoSteering()


@asynccontextmanager
async def a_page(
    dag_file: Path, *, steering: Steering = NO_STEERING, ads: Mapping[int, Any] | None = None
) -> AsyncIterator[Page]:
    """A server for a DAG; the schedd has these ads."""
    threads, access = Threads(), Access()
    found = find_dag(str(dag_file), ask=False)
    dags = DagsList([found], threads)
    dags.queue.ads, dags.queue.problem = dict(ads or {}), ""
    dags.queue.refresh = nothing  # type: ignore[method-assign]
    dags.ended.refresh_soon = lambda: None  # type: ignore[method-assign]
    page = dag_file.parent / "page"
    page.mkdir(exist_ok=True)
    (page / "index.html").write_text("<!DOCTYPE html><title>page</title>")
    (page / "app.js").write_text("export {}")
    server = PageServer(dags, access, threads, steering, str(page))
    # A browser resolves the name; this client is told to send it.
    sent: CIMultiDict[str] = CIMultiDict(Host="")
    served = TestServer(server.application, host="127.0.0.1")
    async with TestClient(served, headers=sent) as client:
        access.port = client.port or 0
        client.session.headers["Host"] = access.host
        async with client.get("/", params={"token": access.token}, allow_redirects=False) as answer:
            assert answer.status == 303
        yield Page(client, access, dags, f"/api/dags/{id_of(found)}")


async def nothing() -> None:
    """The schedd is not asked."""
