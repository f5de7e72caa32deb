"""Another user's page that was there first: a browser keeps its service worker for the origin."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.dag_logs import DagLogs
from tests.unit.cli.test_web_command import served
from tests.web import browsers

pytest.importorskip("aiohttp")

PAGE = """<!DOCTYPE html><title>earlier</title><script>
navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)
  .then(() => { document.title = "ready" })
</script>"""
WORKER = """self.addEventListener("fetch", event => event.respondWith(
  new Response("<title>taken over</title>", {headers: {"Content-Type": "text/html"}})))"""


class Earlier(BaseHTTPRequestHandler):
    """Serves a page that leaves a service worker in the browser."""

    def do_GET(self) -> None:
        script = self.path == "/worker.js"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if script else "text/html")
        self.end_headers()
        self.wfile.write((WORKER if script else PAGE).encode())

    def log_message(self, *words: Any) -> None:
        """Silent."""


@contextlib.contextmanager
def earlier_server() -> Iterator[int]:
    """The port of somebody's server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Earlier)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_whoever_had_the_port_before_does_not_have_the_page(
    browser: Any, work_directory: Path
) -> None:
    (work_directory / "t.dag").write_text("JOB A a.sub\n")
    DagLogs(work_directory).start()
    page = browser.new_context().new_page()
    page.set_default_timeout(browsers.PATIENCE_MS)
    names = ("127.0.0.1", "localhost", "x.localhost")
    with earlier_server() as port:
        for name in names:
            page.goto(f"http://{name}:{port}/")
            page.wait_for_function("document.title == 'ready'")
    with served("--port", str(port), "t.dag") as (_process, name, _port, path):
        page.goto(f"http://{name}:{port}{path}")
        assert page.title() != "taken over"
        page.wait_for_selector("text=t.dag")
        assert page.evaluate("navigator.serviceWorker.controller") is None
        for earlier in names:  # what is there is still his, and gets nothing
            page.goto(f"http://{earlier}:{port}{path}")
            assert page.title() == "taken over"
    page.context.close()
