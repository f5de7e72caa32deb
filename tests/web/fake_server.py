"""A small server of DAGs in memory that answers as `condor_pydagman web` does: for tests.

It sends the same headers, wants the same cookie and origin, and can go away and come back.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.web.access import HEADERS
from condor_pydagman.web.application import STYLE_SHEET, style_sheet, with_tables
from tests.web.fake_dag import FakeDag

PAGE = Path(__file__).resolve().parents[2] / "condor_pydagman" / "web" / "page"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript",
         ".svg": "image/svg+xml"}  # fmt: skip
MOST_CHANGES = 5000


class FakeServer:
    """A server on a free port of 127.0.0.1; `commands` are the bodies that were posted."""

    def __init__(self, *dags: FakeDag, port: int = 0) -> None:
        self.dags = {dag.id: dag for dag in dags}
        self.port = port
        self.token, self.session = secrets.token_urlsafe(), secrets.token_urlsafe()
        self.commands: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.refusal: tuple[int, str] | None = None
        self.is_reading = False  # the DAG's files, for the first time
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """What a user opens."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def start(self) -> None:
        """Listen; after a stop, on the same port."""
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.fake = self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Break off all connections and take no new ones."""
        server, self._server = self._server, None
        if server is not None:
            server.is_over = True
            for dag in self.dags.values():
                dag.touch()
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False
    request_queue_size = 50
    fake: FakeServer
    is_over = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves is nothing to tell of."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    @property
    def own(self) -> _Server:
        return cast("_Server", self.server)

    def do_GET(self) -> None:
        """Answer."""
        fake, url = self.own.fake, urlsplit(self.path)
        query = dict(parse_qsl(url.query))
        fake.asked.append(self.path)
        if url.path == "/" and query.get("token") == fake.token:
            cookie = f"pydagman-{fake.port}={fake.session}; HttpOnly; SameSite=Strict; Path=/"
            self._send(303, b"", "text/plain", {"Location": "/", "Set-Cookie": cookie})
        elif f"pydagman-{fake.port}={fake.session}" not in self.headers.get("Cookie", ""):
            self._send_json(403, {"error": "open the address that was printed"})
        elif url.path.startswith("/api/"):
            self._answer(url.path.split("/")[2:], query)
        else:
            self._send_page(url.path[1:] or "index.html")

    def do_POST(self) -> None:
        """Take a command."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fake = self.own.fake
        assert self.headers["Origin"] == f"http://127.0.0.1:{fake.port}"
        assert self.headers["Content-Type"] == "application/json"
        fake.commands.append(body)
        dag = fake.dags[unquote(self.path.split("/")[3])]
        if fake.refusal is not None:
            self._send_json(fake.refusal[0], {"error": fake.refusal[1]})
        else:
            self._send_json(200, dag.command(body))

    def _answer(self, parts: list[str], query: dict[str, str]) -> None:
        fake = self.own.fake
        if len(parts) == 1:
            self._send_json(200, {"dags": [dag.in_list() for dag in fake.dags.values()]})
            return
        dag = fake.dags.get(unquote(parts[1]))
        if dag is None:
            self._send_json(404, {"error": "there is no such DAG"})
        elif fake.is_reading:
            self._send_json(503, {"error": "the DAG's files are being read"})
        elif parts[2:] == ["live"]:
            self._stream(dag, int(self.headers.get("Last-Event-ID") or query.get("since", "-1")))
        else:
            answer = _answer(dag, parts[2:], query)
            missing = {"error": "there is no such file (yet)"}
            self._send_json(404 if answer is None else 200, missing if answer is None else answer)

    def _stream(self, dag: FakeDag, since: int) -> None:
        """Until the page or the server leaves."""
        self._send(200, None, "text/event-stream", {"Connection": "close"})
        self.close_connection = True
        known = len(dag.changes) if since < 0 else since - 1
        told: dict[str, Any] = {}
        places: dict[str, Any] = {}
        while not self.own.is_over:
            while known < len(dag.changes) and not self.own.is_over:
                part = dag.changes[known : known + MOST_CHANGES]
                known += len(part)
                changes = [[number, KEYS.index(state)] for number, state in part]
                self._event("nodes", known + 1, {"version": known + 1, "changes": changes})
            places = self._tell_places(dag, places, known)
            seen = dag.overview()
            about = {key: value for key, value in seen.items()
                     if key not in ("now", "counted", "remaining_s")}  # fmt: skip
            if about != told:
                self._event("overview", known + 1, seen)
                if dag.ended and not told.get("ended"):
                    self._event("ended", known + 1, {})
                told = about
            with dag.changed:
                dag.changed.wait(timeout=0.2 if known == len(dag.changes) else 0)

    def _tell_places(self, dag: FakeDag, told: dict[str, Any], known: int) -> dict[str, Any]:
        """Where groups are: all at first, then what is different."""
        now = dag.at_sites.places() if dag.at_sites is not None else {}
        if now == told:
            return told
        changes = [[group, site] for group, (was, site) in
                   enumerate(zip(told.get("of", ()), now["of"])) if was != site]  # fmt: skip
        parts = {**now, "changes": changes}
        del parts["of" if told else "changes"]
        self._event("sites", known + 1, parts)
        return now

    def _event(self, name: str, version: int, data: Any) -> None:
        text = f"id: {version}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
        self.wfile.write(text.encode())
        self.wfile.flush()

    def _send_page(self, name: str) -> None:
        path = PAGE / name
        if name == STYLE_SHEET:
            self._send(200, style_sheet().encode(), TYPES[".css"])
        elif name == "index.html":
            text = with_tables(path.read_text(encoding="utf-8"))
            self._send(200, text.encode(), TYPES[".html"])
        elif "/" in name or not path.is_file():
            self._send_json(404, {"error": "the page has no such file"})
        else:
            self._send(200, path.read_bytes(), TYPES[path.suffix])

    def _send_json(self, status: int, answer: Any) -> None:
        self._send(status, json.dumps(answer).encode(), "application/json")

    def _send(
        self, status: int, body: bytes | None, kind: str, more: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, "Content-Type": kind, **(more or {})}.items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body or b"")


def _answer(dag: FakeDag, parts: list[str], query: dict[str, str]) -> Any:
    if not parts:
        return dag.overview()
    if parts[0] == "nodes" and len(parts) == 2:
        return dag.node(int(parts[1]))
    if parts[0] == "groups" and len(parts) == 2:
        return dag.group(int(parts[1]))
    if parts == ["picture"]:
        return dag.picture([group for group in query.get("open", "").split(",") if group])
    if parts == ["text"]:
        return dag.text(query["file"], int(query["from"]))
    return {
        "states": dag.packed_states,
        "nodes": lambda: dag.rows(query),
        "groups": lambda: dag.group_rows(query),
        "timeline": lambda: dag.timeline(query),
        "explain": lambda: {"findings": dag.findings},
    }[parts[0]]()


def example(width: int = 40) -> FakeDag:
    """A DAG in the middle of its run, with something of everything."""
    dag = FakeDag("study", [("simulate", width), ("reconstruct", width), ("check", 8)])
    simulate, reconstruct = dag.groups["simulate"], dag.groups["reconstruct"]
    dag.set(0, "done")
    for number in simulate:
        dag.set(number, "done")
    for number in reconstruct:
        share = (number - reconstruct[0]) / width
        dag.set(number, "done" if share < 0.4 else "running" if share < 0.65 else "idle"
                if share < 0.8 else "ready" if share < 0.9 else "waiting")  # fmt: skip
    for number, state in zip(reconstruct[1::5], ("failed", "held", "retry", "post", "pre")):
        dag.set(number, state)
    dag.reasons[reconstruct[6]] = "memory usage exceeded request_memory"
    out = "".join(f"11/23/26 10:{n // 60:02}:{n % 60:02} Node {dag.names[n % 40]} ended\n"
                  for n in range(3000))  # fmt: skip
    dag.files["dagman.out"] = out.encode()
    dag.files[f"error:{reconstruct[1]}"] = b"Traceback (most recent call last):\nMemoryError\n"
    dag.findings = [
        {"weight": "problem", "finding": f"1 node has failed: {dag.names[reconstruct[1]]}",
         "evidence": ["out/1.err: Traceback (most recent call last):\nMemoryError"],
         "advice": ["condor_pydagman rerun --node reconstruct_01"],
         "nodes": [dag.names[reconstruct[1]]]},
        {"weight": "note", "finding": "The throttle for idle jobs is full.", "evidence": [],
         "advice": [], "nodes": []},
    ]  # fmt: skip
    return dag


# What the fixtures `serve` and `open_page` give.
Serve = Callable[..., FakeServer]
Open = Callable[..., Any]
