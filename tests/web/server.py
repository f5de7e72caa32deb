"""The page's server in a thread of the test, with DAGs in memory behind it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from condor_pydagman.web import application, dag_answers, dag_reader, live_dag, picture_boxes
from condor_pydagman.web.access import Access
from condor_pydagman.web.application import PageServer
from condor_pydagman.web.dags_list import DagsList
from condor_pydagman.web.threads import Threads
from tests.web.study import Study

# What the fixtures `serve` and `open_page` give.
Serve = Callable[..., "Server"]
Open = Callable[..., Any]


class Server:
    """A server; its first DAG is steered.

    Attributes:
        asked: the addresses of all requests.
        ended: ads of DAGMan jobs in the schedd's history.
    """

    def __init__(self, *dags: Study) -> None:
        self.dags = dags
        self.access = Access()
        self.asked: list[str] = []
        self.ended: list[dict[str, Any]] = []

    def address(self, view: str) -> str:
        """Of a view of the first DAG."""
        return f"/{self.dags[0].id}/{view}".rstrip("/")

    def start(self) -> None:
        """Listen; after a stop, on the same port."""
        listens = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(listens)))
        self._thread.start()
        listens.wait()

    def stop(self) -> None:
        """Break off all connections and take no new ones."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ends.set)
            self._thread.join()

    async def _serve(self, listens: threading.Event) -> None:
        self._loop, self._ends, threads = asyncio.get_running_loop(), asyncio.Event(), Threads()
        dags = DagsList([dag.found for dag in self.dags], threads)
        dags.queue.problem = ""

        async def refresh() -> None:
            ads = [dag.ad() for dag in self.dags if not dag.ended]
            dags.queue.ads = {int(ad["ClusterId"]): ad for ad in ads}

        dags.queue.refresh = refresh  # type: ignore[method-assign]

        def refresh_ended() -> None:
            dags.ended.ads, dags.ended.as_of = self.ended, time.time()

        dags.ended.refresh_soon = refresh_ended  # type: ignore[method-assign]
        server = PageServer(dags, self.access, threads, self.dags[0])
        server.application.on_response_prepare.append(self._note)
        runner = web.AppRunner(server.application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.access.port, reuse_address=True).start()
        self.access.port = runner.addresses[0][1]
        listens.set()
        await self._ends.wait()
        await runner.cleanup()

    async def _note(self, request: web.Request, _: web.StreamResponse) -> None:
        self.asked.append(request.path_qs)


def prepare(monkeypatch: pytest.MonkeyPatch, known: dict[str, Study]) -> None:
    """Let servers read these DAGs, by their files, and tell soon what is new."""

    async def explain(module: str, words: list[str], patience_s: float) -> str:
        if module.endswith("run_answers"):
            return json.dumps(known[words[0]].runs_told(words))
        told = {"headline": "", "wrong": True, "findings": known[words[-1]].findings}
        return json.dumps(told)

    monkeypatch.setattr(dag_answers, "output_of", explain)
    watched = lambda found, **_: known[found.paths.primary]  # noqa: E731
    monkeypatch.setattr(dag_reader, "WatchedDag", watched)
    monkeypatch.setattr(live_dag, "INTERVAL_S", 0.05)
    monkeypatch.setattr(application, "OVERVIEW_S", 0.2)
    monkeypatch.setattr(dag_answers, "CONTROLS_S", 0.1)
    monkeypatch.setattr(dag_answers, "TOLD_S", 0.1)
    monkeypatch.setattr(picture_boxes, "FOLD_ABOVE", 40)


def show(page: Any, server: Server, view: str) -> None:
    """Go to a view of the server's first DAG."""
    page.evaluate("address => { location.hash = address }", f"#{server.address(view)}")
