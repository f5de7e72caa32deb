"""A federation of Pelican's on this machine: discovery and director in one, and a cache with files.

It speaks https with a certificate of an authority of its own, since discovery knows nothing else.
"""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from tests.servers.certificates import Authority

TOKEN = "geheimnis"  # that files below /private need


class Federation(ThreadingHTTPServer):
    """Files by path, and who asked for what.

    Attributes:
        files: contents, by path of the namespace.
        requests: (method, path, header Authorization), in order.
        authority: who signs certificates.
        cache: the server with the files, None if this is it.
    """

    daemon_threads = True

    def __init__(self, authority: Authority, cache: Federation | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cache = cache
        self.files: dict[str, bytes] = {} if cache is None else cache.files
        self.requests: list[tuple[str, str, str]] = [] if cache is None else cache.requests
        self.authority = authority
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.signed("127.0.0.1"))
        self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def place(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Federation
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self._asked()
        if path == "/.well-known/pelican-configuration":
            address = f'{{"director_endpoint": "https://{self.server.place}/"}}'
            self._answer(200, address.encode())
        elif self.server.cache is None:
            self._file(path)
        else:
            self._direct(path, self.server.cache)

    do_HEAD = do_GET

    def do_PROPFIND(self) -> None:
        path = self._asked()
        if self.server.cache is not None:
            self._direct(path, self.server.cache)
            return
        if self._is_denied(path):
            return
        deep = self.headers.get("Depth") != "0"
        below = path.rstrip("/") + "/"
        found = {name: data for name, data in self.server.files.items() if name == path}
        names = {path} if found else set()
        if any(name.startswith(below) for name in self.server.files):
            names = {below}
            if deep:
                for name in self.server.files:
                    if name.startswith(below):
                        first, slash, _ = name[len(below) :].partition("/")
                        names.add(below + first + slash)
        if not names:
            self._answer(404)
            return
        self._answer(207, "".join(
            ['<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">',
             *map(self._response, sorted(names)), "</d:multistatus>"]
        ).encode())  # fmt: skip

    def _response(self, name: str) -> str:
        kind = "<d:collection/>" * name.endswith("/")
        size = len(self.server.files.get(name, b""))
        return (
            f"<d:response><d:href>{quote(name)}</d:href><d:propstat><d:prop>"
            f"<d:resourcetype>{kind}</d:resourcetype>"
            f"<d:getcontentlength>{size}</d:getcontentlength>"
            "<d:getlastmodified>Fri, 27 Nov 2026 08:00:00 GMT</d:getlastmodified>"
            "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
        )

    def _asked(self) -> str:
        path = unquote(urlsplit(self.path).path)
        self.server.requests.append((self.command, path, self.headers.get("Authorization", "")))
        return path

    def _direct(self, path: str, to: Federation) -> None:
        """Where the file is, and what its namespace needs."""
        top = "/" + path.split("/")[1]
        cache = f"https://{to.place}{quote(path)}"
        needs = str(top == "/private").lower()
        self._answer(307, headers={
            "Location": cache,
            "Link": f'<{cache}>; rel="duplicate"; pri=1; depth=1',
            "X-Pelican-Namespace": f"namespace={top}, require-token={needs},"
            f" collections-url=https://{to.place}",
        })  # fmt: skip

    def _is_denied(self, path: str) -> bool:
        wrong = self.headers.get("Authorization") != f"Bearer {TOKEN}"
        if path.startswith("/private/") and wrong:
            self._answer(403)
            return True
        return False

    def _file(self, path: str) -> None:
        if self._is_denied(path):
            return
        data = self.server.files.get(path)
        if data is None:
            self._answer(404)
            return
        first, last = 0, len(data) - 1
        wanted = self.headers.get("Range", "")
        if wanted:
            begin, _, end = wanted.partition("=")[2].partition("-")
            first, last = int(begin), min(int(end or last), last)
        headers = {"Accept-Ranges": "bytes"}
        if wanted:
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
        self._answer(206 if wanted else 200, data[first : last + 1], headers)

    def _answer(self, status: int, data: bytes = b"", headers: Mapping[str, str] = {}) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextlib.contextmanager
def federation(directory: Path) -> Iterator[Federation]:
    """A director that answers, and its cache."""
    authority = Authority(directory)
    with Federation(authority) as cache, Federation(authority, cache) as director:
        threads = [threading.Thread(target=one.serve_forever) for one in (cache, director)]
        for thread in threads:
            thread.start()
        try:
            yield director
        finally:
            for one in (cache, director):
                one.shutdown()
            for thread in threads:
                thread.join()
