"""The server: which address is answered by what, and what holds for every answer.

aiohttp's loop runs in the main thread and never waits for files, DAGMan or the schedd.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Awaitable
from html import escape
from typing import Any, Callable
from weakref import WeakSet

from aiohttp import web

from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.shown_states import BAR, LOOKS, OF_DAGS, WORST, paints
from condor_pydagman.picture.style import DASHES
from condor_pydagman.web.access import HEADERS, Access, Refused, check_peer
from condor_pydagman.web.dag_answers import DagAnswers
from condor_pydagman.web.dag_reader import NOWHERE, SitesOfGroups
from condor_pydagman.web.dags_list import DagsList
from condor_pydagman.web.live_dag import LiveDag
from condor_pydagman.web.steering import Steering, buttons
from condor_pydagman.web.threads import Threads

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
        self._places: SitesOfGroups | None = None

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


STYLE_SHEET = "states.css"
_PLACE = '<meta name="{}" content="">'  # of index.html


def states_of_page() -> dict[str, Any]:
    """Each state by its key, in the order of a bar."""
    return {
        LOOKS[state].key: {
            "word": LOOKS[state].word,
            "meaning": LOOKS[state].meaning,
            "sign": LOOKS[state].sign,
            "counted": LOOKS[state].counted,
            "worst": WORST.index(state) if state in WORST else None,
        }
        for state in BAR
    }


def states_of_dags() -> dict[str, str]:
    """For each state of a DAG the key of that of nodes whose colour and sign it has."""
    return {state.value: LOOKS[shown].key for state, shown in OF_DAGS.items()}


def with_tables(index: str) -> str:
    """The first file of the page, with the tables of states and commands in it."""
    tables = {"states": states_of_page(), "dag-states": states_of_dags(), "commands": buttons()}
    for name, table in tables.items():
        place, data = _PLACE.format(name), escape(json.dumps(table, separators=(",", ":")))
        index = index.replace(place, place.replace('""', f'"{data}"'))
    return index


def style_sheet() -> str:
    """The colours of states, --strong of signs and bars, --body of boxes, and dashes of edges."""
    rules = [
        f".{name} {{ --strong: light-dark({paint.strong}, {paint.dark_strong});"
        f" --body: light-dark({paint.body}, {paint.dark_body}) }}"
        for name, paint in paints()
    ]
    rules += [f".edge.{name} {{ {dashes} }}" for name, dashes in DASHES.items()]
    return "\n".join(rules) + "\n"


PAGE = os.path.join(os.path.dirname(__file__), "page")
MAX_AT_ONCE = 100  # requests, streams of events among them
MAX_BODY_BYTES = 4 << 20
_PAGE_FILE = re.compile(r"[A-Za-z0-9_-]+\.(?:css|js|svg|png|ico)")
_FRESH = {"Cache-Control": "no-cache"}
_STATUSES = {400, 403, 404, 409, 503}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# For a browser that was sent here by another site: it shows the cookie only to a page that was
# opened from here.
_GO_ON = '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'


class PageServer:
    """Everything behind one port.

    Args:
        dags: the DAGs.
        access: who may ask; its port is set by whoever opens the port.
        threads: where files are read.
        steering: steers DAGs.
        page: directory of the page's files.
    """

    def __init__(
        self,
        dags: DagsList,
        access: Access,
        threads: Threads,
        steering: Steering,
        page: str = PAGE,
    ) -> None:
        self._access, self._page, self._threads = access, page, threads
        self._at_once = 0
        self._checked: WeakSet[asyncio.BaseTransport] = WeakSet()
        self._dags = dags
        answers = DagAnswers(dags, threads, steering)
        self._streams = EventStreams(answers)
        self.application = web.Application(
            middlewares=[self._guarded], client_max_size=MAX_BODY_BYTES
        )
        self.application.on_response_prepare.append(_add_headers)
        self.application.on_shutdown.append(self._shut_down)
        self.application.on_cleanup.append(self._clean_up)
        one, number = "/api/dags/{id:[0-9a-f]{16}}", "{number:[0-9]{1,9}}"
        self.application.add_routes(
            [
                web.get("/", self._index, allow_head=False),
                web.get("/{file}", self._file, allow_head=False),
                web.get("/api/dags", answers.dags, allow_head=False),
                web.get(one, answers.overview, allow_head=False),
                web.get(f"{one}/live", self._streams.live, allow_head=False),
                web.get(f"{one}/picture", answers.picture, allow_head=False),
                web.get(f"{one}/states", answers.states, allow_head=False),
                web.get(f"{one}/nodes", answers.nodes, allow_head=False),
                web.get(f"{one}/nodes/{number}", answers.node, allow_head=False),
                web.get(f"{one}/timeline", answers.timeline, allow_head=False),
                web.get(f"{one}/explain", answers.explain, allow_head=False),
                web.get(f"{one}/runs", answers.runs, allow_head=False),
                web.get(f"{one}/text", answers.text, allow_head=False),
                web.post(f"{one}/commands", answers.command),
                web.get(f"{one}/{{table}}", answers.table, allow_head=False),
                web.get(f"{one}/{{table}}/{number}", answers.table, allow_head=False),
            ]
        )

    def has_asked(self, transport: asyncio.BaseTransport) -> bool:
        """Whether a request has come by a connection, and it is of this user's."""
        return transport in self._checked

    async def _shut_down(self, application: web.Application) -> None:
        self._streams.close()

    async def _clean_up(self, application: web.Application) -> None:
        await self._dags.close()
        self._threads.close()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """What holds for every request; an error becomes a sentence."""
        if self._at_once >= MAX_AT_ONCE:
            return _refusal(request, 503, "the server is busy: too many pages are open")
        self._at_once += 1
        try:
            self._check(request)
            return await handler(request)
        except Refused as refused:
            return _refusal(request, refused.status, str(refused))
        except web.HTTPException as error:
            status = error.status if error.status in _STATUSES else 404
            status = 400 if error.status == 413 else status
            return _refusal(request, status, f"{error.reason}: {request.method} {request.path}")
        except (PydagmanError, OSError) as error:
            return _refusal(request, 503, str(error))
        finally:
            self._at_once -= 1

    def _check(self, request: web.Request) -> None:
        """Refuse whom `access` refuses."""
        self._check_connection(request)
        self._access.check_host(request.headers.get("Host", ""))
        if _opens(request):
            return
        self._access.check_cookie(request.cookies)
        if request.path != "/":
            self._access.check_site(request.headers)
        if request.method == "POST":
            self._access.check_post(request.headers, request.content_type)

    def _check_connection(self, request: web.Request) -> None:
        """Once for each: it is of a process of this user's."""
        transport = request.transport
        if transport in self._checked:
            return
        peer = transport.get_extra_info("peername") if transport is not None else None
        if transport is None or peer is None:
            raise Refused(403, "the client has disconnected")
        check_peer(peer[:2], transport.get_extra_info("sockname")[:2])
        self._checked.add(transport)

    async def _index(self, request: web.Request) -> web.StreamResponse:
        if not _opens(request):
            with open(os.path.join(self._page, "index.html"), encoding="utf-8") as file:
                return _page_text(with_tables(file.read()), "text/html")
        session = self._access.session_for(request.query["token"])
        own = request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if own:
            answer = web.Response(status=303, headers={"Location": "/"})
        else:
            answer = web.Response(text=_GO_ON, content_type="text/html")
        answer.headers["Clear-Site-Data"] = '"storage"'  # nobody's, as the name is new: be sure
        answer.set_cookie(
            self._access.cookie_name, session, httponly=True, samesite="Strict", path="/"
        )
        return answer

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["file"]
        if not _PAGE_FILE.fullmatch(name):
            raise Refused(404, "the page has no such file")
        if name == STYLE_SHEET:
            return _page_text(style_sheet(), "text/css")
        path = os.path.join(self._page, name)
        if not os.path.isfile(path):
            raise Refused(404, f"the page has no file {name}")
        return web.FileResponse(path, headers=_FRESH)


def _page_text(text: str, kind: str) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8", headers=_FRESH)


def _opens(request: web.Request) -> bool:
    """Whether it is the first one of a browser, with the token in its address."""
    return request.method == "GET" and request.path == "/" and "token" in request.query


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def _refusal(request: web.Request, status: int, sentence: str) -> web.Response:
    """JSON for the page's requests, text for whoever opens an address."""
    if request.path.startswith("/api/"):
        text = json.dumps({"error": sentence})
        return web.Response(status=status, text=text, content_type="application/json")
    return web.Response(
        status=status, text=f"{sentence}\n".encode("utf-8", "replace").decode(), charset="utf-8"
    )
