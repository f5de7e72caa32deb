"""What happens in a DAG as Server-Sent Events: each client gets it at its own pace."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from aiohttp import web

from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_answers import DagAnswers
from condor_pydagman.web.dag_reader import NOWHERE, SitePlaces
from condor_pydagman.web.live_dag import LiveDag

MAX_STREAMS = 80  # so that there is always room for requests
COMMENT_S = 15.0
OVERVIEW_S = 10.0  # an overview comes as often at least: times in it go on
STUCK_S = 60.0  # a client that takes nothing for so long is left
# Of an overview; how long something lasts is in the sentences of notices.
_DRIFTING = ("now", "counted", "remaining_s", "stalled_s", "per_second", "notices")
MAX_VERSION = 1 << 53


class EventStreams:
    """The clients that follow DAGs."""

    def __init__(self, answers: DagAnswers) -> None:
        self._answers = answers
        self._count = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        """The server ends: they need not be waited for."""
        for task in self._tasks:
            task.cancel()

    async def live(self, request: web.Request) -> web.StreamResponse:
        """A stream until the DAG is over or the client leaves."""
        if self._count >= MAX_STREAMS:
            raise Refused(503, "too many pages are open; close some")
        since = _since(request)
        dag = await self._answers.dag_of(request)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._count += 1
        dag.clients += 1
        try:
            answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await answer.prepare(request)
            try:
                await _Stream(answer, dag, since, self._answers).run()
            except (asyncio.TimeoutError, TimeoutError):  # what it has not taken is dropped
                if request.transport is not None:
                    request.transport.abort()
            except ConnectionError:
                pass
            return answer
        finally:
            dag.clients -= 1
            self._count -= 1
            self._tasks.discard(task)


class _Stream:
    """One client.

    Args:
        since: the version that it knows; -1 for none, then it gets changes from now on.
    """

    def __init__(
        self, answer: web.StreamResponse, dag: LiveDag, since: int, answers: DagAnswers
    ) -> None:
        self._answer, self._dag, self._answers = answer, dag, answers
        self._version = dag.ring.version if since < 0 else since
        self._last: dict[str, Any] = {}
        self._told = self._written = 0.0
        self._has_ended = False
        self._places: SitePlaces | None = None

    async def run(self) -> None:
        """Until the client leaves."""
        while True:
            looks = self._dag.looks
            await self._tell()
            while not await self._dag.wait(looks, COMMENT_S / 3):
                await self._dag.awake()
                await self._stay()
            await self._stay()

    async def _tell(self) -> None:
        """What is new."""
        while self._version != self._dag.ring.version:
            found = self._dag.ring.since(self._version)
            if found is None:
                self._version = self._dag.ring.version
                await self._send("reload", {"version": self._version})
                break
            self._version, changes = found
            await self._send("nodes", {"version": self._version, "changes": changes})
        if self._dag.snapshot is None:
            return
        await self._tell_sites()
        seen = {key: value for key, value in self._dag.overview.items() if key not in _DRIFTING}
        if seen != self._last or time.monotonic() > self._told + OVERVIEW_S:
            self._last, self._told = seen, time.monotonic()
            await self._send("overview", await self._answers.overview_of(self._dag))
        over = self._dag.snapshot.over
        if over and not self._has_ended:
            await self._send("ended", {"version": self._version})
        self._has_ended = over

    async def _tell_sites(self) -> None:
        """Where groups are: all at first, then what is different; of a DAG without any nothing."""
        places, known = self._dag.places, self._places
        if places is not known:
            self._places = places
            await self._send("sites", (places or NOWHERE).news(known))

    async def _send(self, event: str, data: dict[str, Any]) -> None:
        text = json.dumps(data, separators=(",", ":"))  # ASCII, in one line
        await self._write(f"id: {self._version}\nevent: {event}\ndata: {text}\n\n")

    async def _stay(self) -> None:
        """Something comes every COMMENT_S, so that both sides know of the other."""
        if time.monotonic() > self._written + COMMENT_S:
            await self._write(": here\n\n")

    async def _write(self, text: str) -> None:
        self._written = time.monotonic()
        await asyncio.wait_for(self._answer.write(text.encode("ascii")), STUCK_S)


def _since(request: web.Request) -> int:
    """What the browser has got already, if it comes again; else what the page says."""
    text = request.headers.get("Last-Event-ID") or request.query.get("since") or "-1"
    if text == "-1":
        return -1
    known = text.isascii() and text.isdigit() and len(text) <= 20
    if not known or int(text) >= MAX_VERSION:
        raise Refused(400, "since is the number of a version")
    return int(text)
