"""NOTIFY on a real pool: a program and a URL hear of everything, the end included."""

from __future__ import annotations

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.pool.scenes import Scene, Stage
from tests.waiting import LIMIT_S

STAGE = Stage()
TELL = '#!/bin/sh\ncat >> "$1"\n'


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got += json.loads(data)  # type: ignore[attr-defined]
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as made:
        made.got = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{made.server_address[1]}/", made.got  # type: ignore[attr-defined]
        made.shutdown()
        thread.join()


def program(s: Scene) -> None:
    (s.work / "tell.sh").write_text(TELL)
    (s.work / "tell.sh").chmod(0o755)


def told(s: Scene) -> list[dict[str, Any]]:
    return [json.loads(line) for line in s.text("told").splitlines()]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


def contents(events: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    """What was told; both logs go on at once, so that the order may differ by a line of one."""
    return sorted((event["time"], event["event"], event.get("node", "")) for event in events)


@STAGE.scene
def a_program_and_a_url(s: Scene) -> None:
    program(s)
    with server() as (url, posted):
        s.submit(
            'JOB A job.sub\nVARS A code="1"\n'
            f"NOTIFY dag.end,node.state=ERROR PROGRAM ./tell.sh told\nNOTIFY * URL {url}\n"
        )
        assert s.ends() == 1
        s.until(lambda: "dag.end" in names(told(s)), "dag.end", after_end=True)
        s.until(lambda: "dag.end" in names(posted), "dag.end", after_end=True)
    assert names(told(s)) == ["node.state", "dag.end"]
    assert told(s)[-1]["exit_code"] == 1
    listed = s.run("condor_pydagman", "events", "t.dag").splitlines()
    assert contents(posted) == contents([json.loads(line) for line in listed])
    s.until(
        lambda: not list(s.work.glob("t.dag.notify.*")), "the end of the processes", after_end=True
    )


@STAGE.scene
def a_dagman_that_is_killed(s: Scene) -> None:
    program(s)
    s.submit("JOB A told.sub\nNOTIFY job.*,dag.* PROGRAM ./tell.sh told\n", started="A 0")
    s.until(lambda: "job.execute" in names(told(s)), "job.execute")
    s.restart()
    s.touch("go.A")
    assert s.ends() == 0
    s.until(lambda: "dag.end" in names(told(s)), "dag.end", after_end=True)
    found = told(s)
    assert names(found).count("dag.start") == 2
    assert len({event["id"] for event in found}) == len(found)
    assert names(found).count("job.submit") == names(found).count("job.terminate") == 1


@STAGE.scene
def a_url_that_hangs_delays_nothing(s: Scene) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        hanging.settimeout(LIMIT_S)
        place = f"127.0.0.1:{hanging.getsockname()[1]}"
        s.submit(f"JOB A told.sub\nNOTIFY * URL http://{place}/\n")
        connection, _ = hanging.accept()
        with connection, connection.makefile("rb") as request:
            assert request.readline().startswith(b"POST ")
            s.touch("go.A")
            assert s.ends() == 0  # nothing has been answered


test_notify = STAGE.tests()
