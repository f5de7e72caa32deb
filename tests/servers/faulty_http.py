"""An http and WebDAV server of ours that fails as it is told.

What goes wrong is set for a path, and for how many requests: `server.fail("/a", Stall(after=10))`.
Files are in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

STALL_S = 20.0


class Wrong(NamedTuple):
    """What goes wrong with requests for a path.

    Attributes:
        times: so many requests; then all is well.
        status: is answered, 0 for the usual.
        headers: are sent as well.
        after: bytes of the body after which the connection breaks off, or stalls.
        stalls: whether it stalls there.
        drips: whether the body, or what of it comes after those bytes, comes a byte at a time.
        length: what Content-Length says instead of the truth.
        reads: whether the body of a request is read before the status is answered.
        no_ranges: whether a range is ignored.
        wrong_range: whether Content-Range is wrong.
        no_version: whether there is no ETag.
    """

    times: int = 1
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    after: int = -1
    stalls: bool = False
    drips: bool = False
    length: int = -1
    reads: bool = False
    no_ranges: bool = False
    wrong_range: bool = False
    no_version: bool = False


class FaultyServer(ThreadingHTTPServer):
    """The server; `files` has paths, decoded, and contents."""

    daemon_threads = True

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__((address, 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.is_dav = True
        self.move_status = 0  # that answers MOVE, though OPTIONS names it; 0 if it is done
        self.cuts_names = False  # whether the name of what is moved or copied ends before a `?`
        self.password, self.private = "", "/"  # what is below needs the other
        self.expectation = 0, ""  # status and Location that the next Expect is answered by
        self.people: list[str] = []  # whose certificates were seen
        self._tls: ssl.SSLContext | None = None
        self.stall_s = STALL_S  # that a stall lasts at most
        self.resumed = threading.Event()  # it ends all stalls
        self._wrong: dict[str, list[Wrong]] = {}

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self._tls = context

    def finish_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        """Runs in the thread of the connection, as a handshake may take long."""
        if self._tls is None:
            super().finish_request(request, client_address)
            return
        with self._tls.wrap_socket(request, server_side=True) as made:
            found = made.getpeercert() or {}
            names = [name for part in found.get("subject", ()) for _, name in part]  # type: ignore[union-attr]
            self.people += names
            super().finish_request(made, client_address)

    @property
    def place(self) -> str:
        """`127.0.0.1:port`."""
        return f"127.0.0.1:{self.server_address[1]}"

    def url(self, path: str, scheme: str = "http") -> str:
        """The URL of a path."""
        return f"{scheme}://{self.place}{path}"

    def fail(self, path: str, *wrong: Wrong) -> None:
        """Let requests for a path go wrong, in this order."""
        self._wrong.setdefault(path, []).extend(one for one in wrong for _ in range(one.times))

    def next_wrong(self, path: str) -> Wrong:
        """What goes wrong with the present request."""
        waiting = self._wrong.get(path)
        return waiting.pop(0) if waiting else Wrong()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that breaks off is nothing to tell of."""


T = TypeVar("T", bound=FaultyServer)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyServer

    def handle_expect_100(self) -> bool:
        """Answer `Expect: 100-continue`."""
        status, location = self.server.expectation
        if not status:
            return super().handle_expect_100()
        self.server.expectation = 0, ""
        self.close_connection = True
        self._answer(status, {"Location": location, "Connection": "close"})
        return False

    def _begin(self) -> tuple[str, Wrong]:
        path = unquote(urlsplit(self.path).path, errors="surrogateescape")
        self.server.requests.append((self.command, path, dict(self.headers.items())))
        wrong = self.server.next_wrong(path)
        known = self.headers.get("Authorization") == self.server.password
        if self.server.password and path.startswith(self.server.private) and not known:
            wrong = Wrong(status=401)
        return path, wrong

    def do_GET(self) -> None:
        path, wrong = self._begin()
        if wrong.status:
            self._answer(wrong.status, dict(wrong.headers))
            return
        if path.endswith("/") and any(name.startswith(path) for name in self.server.files):
            self._index(path)
            return
        data = self.server.files.get(path)
        if data is None:
            self._answer(404)
            return
        self._send_file(data, wrong)

    do_HEAD = do_GET

    def _send_file(self, data: bytes, wrong: Wrong) -> None:
        begin, end, status = 0, len(data), 200
        asked = self.headers.get("Range", "")
        if asked and not wrong.no_ranges:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            begin, end, status = int(first), min(int(last or end) + 1, end), 206
            if begin >= len(data):
                self._answer(416)
                return
        body = data[begin:end]
        self.send_response(status)
        length = wrong.length if wrong.length >= 0 else len(body)
        self.send_header("Content-Length", str(length))
        if not wrong.no_version:
            self.send_header("ETag", f'"{hashlib.md5(data).hexdigest()}"')
        if status == 206:
            told = begin + 1 if wrong.wrong_range else begin
            self.send_header("Content-Range", f"bytes {told}-{end - 1}/{len(data)}")
        for name, value in wrong.headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._send_body(body, wrong)

    def _send_body(self, body: bytes, wrong: Wrong) -> None:
        if wrong.drips:
            begun = max(wrong.after, 0)
            self.wfile.write(body[:begun])
            for byte in body[begun:]:
                self.wfile.write(bytes([byte]))
                if self.server.resumed.wait(0.05):
                    return
        if wrong.after < 0:
            self.wfile.write(body)
            return
        self.wfile.write(body[: wrong.after])
        self.wfile.flush()
        if wrong.stalls:
            self.server.resumed.wait(self.server.stall_s)
        self.close_connection = True

    def do_PUT(self) -> None:
        path, wrong = self._begin()
        if wrong.status:
            if wrong.reads:
                self._body(Wrong())
            self.close_connection = True
            self._answer(wrong.status, dict(wrong.headers))
            self._linger()
            return
        data = self._body(wrong)
        if data is not None:
            self.server.files[path] = data
            self._answer(201)

    def _linger(self) -> None:
        """Let the client see the answer: to close while it sends would throw that away."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(65536):  # type: ignore[attr-defined]
                pass

    def _body(self, wrong: Wrong) -> bytes | None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        length = int(self.headers.get("Content-Length", 0))
        if wrong.after >= 0:
            self.rfile.read(wrong.after)
            if wrong.stalls:
                self.server.resumed.wait(self.server.stall_s)
            self.close_connection = True
            return None
        data = self.rfile.read(length)
        return data if len(data) == length else None

    def do_DELETE(self) -> None:
        path, wrong = self._begin()
        if wrong.status:
            self._answer(wrong.status)
            return
        self._answer(204 if self.server.files.pop(path, None) is not None else 404)

    def do_OPTIONS(self) -> None:
        _, wrong = self._begin()
        if wrong.status:
            self._answer(wrong.status, dict(wrong.headers))
            return
        allowed = "GET, HEAD, PUT, DELETE" + ", MOVE, COPY, PROPFIND, MKCOL" * self.server.is_dav
        self._answer(200, {"Allow": allowed})

    def do_MOVE(self) -> None:
        path, wrong = self._begin()
        status = wrong.status or (self.server.move_status if self.command == "MOVE" else 0)
        to = unquote(urlsplit(self.headers["Destination"]).path, errors="surrogateescape")
        if self.server.cuts_names:
            to = to.partition("?")[0]
        if status or path not in self.server.files:
            self._answer(status or 404)
            return
        data = self.server.files[path]
        if self.command == "MOVE":
            del self.server.files[path]
        self.server.files[to] = data
        self._answer(201)

    do_COPY = do_MOVE

    def do_MKCOL(self) -> None:
        _, wrong = self._begin()
        self._answer(wrong.status or 201)

    def do_PROPFIND(self) -> None:
        path, wrong = self._begin()
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if wrong.status:
            self._answer(wrong.status, dict(wrong.headers))
            return
        files = self.server.files
        directory = path if path.endswith("/") else path + "/"
        if path not in files and path != "/" and not any(f.startswith(directory) for f in files):
            self._answer(404)
            return
        found = {path: files.get(path)}
        if self.headers.get("Depth") == "1":
            for name in files:
                if name.startswith(directory):
                    inner = name[len(directory) :].partition("/")
                    found[directory + inner[0] + inner[1]] = (
                        files.get(name) if not inner[1] else None
                    )
        body = "".join(_response(name, data) for name, data in found.items())
        text = f'<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">{body}</D:multistatus>'
        self._answer(207, {"Content-Type": "text/xml"}, text.encode())

    def _index(self, directory: str) -> None:
        names = set()
        for name in self.server.files:
            if name.startswith(directory):
                first, slash, _ = name[len(directory) :].partition("/")
                names.add(first + slash)
        links = "".join(f'<a href="{_quoted(name)}">x</a>\n' for name in sorted(names))
        page = f"<a href='?C=N'>Name</a><a href='/'>up</a>{links}"
        self._answer(200, {"Content-Type": "text/html"}, page.encode())

    def _answer(
        self, status: int, headers: dict[str, str] | None = None, body: bytes = b""
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, errors="surrogateescape")


def _response(name: str, data: bytes | None) -> str:
    kind = "" if data is not None else "<D:collection/>"
    size = f"<D:getcontentlength>{len(data or b'')}</D:getcontentlength>"
    tag = f"<D:getetag>{hash(data)}</D:getetag>"
    tag += "<D:getlastmodified>Fri, 27 Nov 2026 08:00:00 GMT</D:getlastmodified>"
    return (
        f"<D:response><D:href>{_quoted(name)}</D:href><D:propstat><D:prop>"
        f"<D:resourcetype>{kind}</D:resourcetype>{size}{tag}</D:prop></D:propstat></D:response>"
    )


@contextlib.contextmanager
def serving(server: T) -> Iterator[T]:
    """A server, while it runs."""
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.resumed.set()
        server.shutdown()
        server.server_close()
        thread.join()


def faulty_http(address: str = "127.0.0.1") -> contextlib.AbstractContextManager[FaultyServer]:
    """A running server."""
    return serving(FaultyServer(address))
