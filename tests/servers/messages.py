"""Small servers that stand for Slack, Matrix and a mail server: they take all, and keep it."""

from __future__ import annotations

import contextlib
import http.server
import json
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Request(NamedTuple):
    """What has come by HTTP; `body` is its JSON, `kind` its Content-Type."""

    method: str
    path: str
    token: str
    body: Any
    kind: str = ""


@dataclass
class Kept:
    """What the servers have got, and where they are; `answers` are by HTTP, then all is well."""

    requests: list[Request] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)
    http_port: int = 0
    smtp_port: int = 0


@contextlib.contextmanager
def running() -> Iterator[Kept]:
    """Both servers, on 127.0.0.1."""
    kept = Kept()

    class Http(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            token = self.headers.get("Authorization", "")
            kind = self.headers["Content-Type"]
            kept.requests.append(Request(self.command, self.path, token, body, kind))
            self.send_response(kept.answers.pop(0) if kept.answers else 200)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_PUT = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    class Smtp(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            kept.mails.extend(_receive(self.rfile, self.wfile))

    by_http = _serving(http.server.ThreadingHTTPServer, Http)
    by_smtp = _serving(socketserver.ThreadingTCPServer, Smtp)
    with by_http as kept.http_port, by_smtp as kept.smtp_port:
        yield kept


@contextlib.contextmanager
def _serving(kind: Any, handler: Any) -> Iterator[int]:
    with kind(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def _receive(lines: Any, answers: Any) -> Iterator[str]:
    """Speak SMTP (RFC 5321) as far as smtplib needs it; yields each mail."""
    answers.write(b"220 here\r\n")
    for line in lines:
        word = line[:4].upper().strip()
        if word == b"DATA":
            answers.write(b"354 go on\r\n")
            yield b"".join(iter(lines.readline, b".\r\n")).decode()
        answers.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
        if word == b"QUIT":
            return
