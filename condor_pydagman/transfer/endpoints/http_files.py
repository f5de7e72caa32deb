"""Files of http and WebDAV servers (`dav` is WebDAV over http, `davs` over https).

Reading goes on at an offset where the server knows ranges, and if the file is still the same.
Writing replaces a whole file; where the server knows MOVE, under a temporary name.
"""

from __future__ import annotations

import fnmatch
import ipaddress
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urljoin, urlsplit

from condor_pydagman import __version__
from condor_pydagman.data_requests.urls import Url, masked_text, parse_url
from condor_pydagman.transfer.endpoints.endpoint import (
    Closing,
    Entry,
    check_depth,
    no_file,
    whole_number,
)
from condor_pydagman.transfer.endpoints.http_connection import Answer, Connection, Place, Proxy
from condor_pydagman.transfer.endpoints.http_credentials import authorization, basic, tls_context
from condor_pydagman.transfer.endpoints.http_faults import fault_of_status
from condor_pydagman.transfer.endpoints.http_headers import (
    checksums_of,
    range_of,
    refuse_encoding,
    version_of,
)
from condor_pydagman.transfer.endpoints.http_listing import (
    PROPFIND_BODY,
    Listed,
    entries_of,
    links_of,
)
from condor_pydagman.transfer.endpoints.reach import Reach
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Surroundings

MAX_REDIRECTS = 5
MAX_CONNECTIONS = 4  # kept, to servers that are redirected to
_PROXY_PORT = 1080  # as curl(1)
EXPECT_S = 1.0  # for the server to say whether it wants the body
SMALL_BODY_BYTES = 65536
_READING = ("GET", "HEAD", "OPTIONS", "PROPFIND")
_SEE_OTHER = 303
_REDIRECTS = (301, 302, _SEE_OTHER, 307, 308)
_DAV = ("dav", "davs")
_TLS = ("https", "davs")
_GOOD = (200, 201, 202, 204, 206, 207)
_UNKNOWN_METHOD = (405, 501)
_QUERY_SAFE = "!#$%&'()*+,/:;=?@[]~"  # what is not so is encoded: blanks, ends of lines


class HttpFiles(Closing):
    """An `Endpoint` for one server."""

    can_list = True
    can_append = False
    appears_whole = False

    def __init__(self, url: Url, surroundings: Surroundings, proxy: str = "") -> None:
        self._is_dav = url.scheme in _DAV
        self._surroundings = surroundings
        self._x509 = proxy
        self._connections: dict[Place, Connection] = {}
        self._reach = Reach(url.host)
        self._heads: dict[tuple[object, ...], dict[str, str]] = {}
        self._moves: bool | None = True if self._is_dav else None
        self._root = url._replace(path="/", query="")

    @property
    def can_rename(self) -> bool:
        """See `Endpoint`; an http server is asked once whether it knows MOVE."""
        if self._moves is None:
            answer = self._ask("OPTIONS", self._root)
            answer.drain()
            self._moves = "MOVE" in answer.headers.get("allow", "").upper()
        return self._moves

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        if self._is_dav:
            found = self._list(url, "0")
            return None if found is None else _entry(next(found, None))
        answer = self._ask("HEAD", url)
        answer.drain()
        if answer.status in _UNKNOWN_METHOD:
            answer = self._ask("GET", url)
            answer.finish()
        if answer.status in (404, 410):
            return None
        self._check(answer, "HEAD", url)
        size = whole_number(answer.headers.get("content-length", ""))
        return Entry("", size, False, version_of(answer.headers), checksums_of(answer.headers))

    def announced(self, url: Url, algorithm: str) -> str:
        """Hexadecimal digits that the server tells if it is asked for a checksum; '' if it does
        not.  It may compute it first, so this is asked only for what is to be compared."""
        name = {"sha256": "sha-256"}.get(algorithm, algorithm)
        try:
            answer = self._ask("HEAD", url, {"Want-Digest": name})
        except Fault:
            return ""
        answer.drain()
        return checksums_of(answer.headers).get(algorithm, "") if answer.status == 200 else ""

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = url.path if url.path.endswith("/") else url.path + "/"
        waiting = [root]
        seen = {root}
        while waiting:
            directory = waiting.pop()
            for listed in self._inside(url._replace(path=directory)):
                relative = listed.path.removeprefix(root)
                if not listed.is_directory:
                    yield Entry(relative, listed.size, False, listed.version)
                elif deep and listed.path not in seen:
                    check_depth(relative, url)
                    seen.add(listed.path)
                    waiting.append(listed.path)

    def read(self, url: Url, offset: int) -> HttpReader:
        """See `Endpoint`."""
        ranged = {"Range": f"bytes={offset}-"} if offset else {}
        answer = self._ask("GET", url, ranged)
        if answer.status == 416:
            answer.drain()
            answer = self._ask("GET", url)
        if answer.status not in (200, 206):
            answer.drain()
            raise fault_of_status(answer.status, answer.headers, url, "GET")
        try:
            refuse_encoding(answer.headers, url)
            _refuse_index(answer, url)
            return HttpReader(answer, offset, url)
        except Fault:
            answer.finish()
            raise

    def write(self, url: Url, offset: int, size: int | None) -> HttpWriter | SmallWriter:
        """See `Endpoint`."""
        if self._is_dav:
            self._make_directories(url)
        if size is not None and size <= SMALL_BODY_BYTES:
            return SmallWriter(self, url)
        headers = (
            {"Transfer-Encoding": "chunked"} if size is None else {"Content-Length": f"{size}"}
        )
        headers["Expect"] = "100-continue"
        self._reach.begin()
        target = url
        for _ in range(MAX_REDIRECTS):
            connection = self._connection(target)
            connection.begin("PUT", _target(target, connection), self._headers(target, headers))
            answer = connection.early_answer("PUT", EXPECT_S) if "Expect" in headers else None
            if answer is None:
                return HttpWriter(connection, url, chunked=size is None)
            answer.finish()
            if answer.status == 417 and headers.pop("Expect", ""):
                continue  # it wants the body at once
            if answer.status not in _REDIRECTS:
                raise fault_of_status(answer.status, answer.headers, url, "PUT")
            self._reach.leads_on(connection.kind)
            target = self._redirected("PUT", target, answer)
        raise Fault(FaultKind.REFUSED, f"{url.server} redirects {url} too often")

    def put(self, url: Url, data: bytes) -> None:
        """Create or replace a file with few bytes, which may be sent again."""
        answer = self._ask("PUT", url, {"Content-Length": f"{len(data)}"}, data)
        answer.drain()
        self._check(answer, "PUT", url)

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`."""
        answer = self._ask("MOVE", url, {"Destination": _absolute(to), "Overwrite": "T"})
        answer.drain()
        if answer.status in (404, 410):  # done by a request whose answer was lost, or removed
            raise Fault(FaultKind.SERVER, f"{url.server} has lost {url}")
        self._check(answer, "MOVE", url)

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        answer = self._ask("DELETE", url)
        answer.drain()
        if answer.status not in (404, 410):
            self._check(answer, "DELETE", url)

    def copy(self, url: Url, to: Url) -> bool:
        """See `Endpoint`."""
        if not self.can_rename:
            return False
        if self._is_dav:
            self._make_directories(to)
        answer = self._ask("COPY", url, {"Destination": _absolute(to), "Overwrite": "T"})
        answer.drain()
        if answer.status in (*_UNKNOWN_METHOD, 400, 502):
            return False
        self._check(answer, "COPY", url)
        return True

    def close(self) -> None:
        """See `Endpoint`."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _inside(self, directory: Url) -> Iterator[Listed]:
        """What is directly in a directory."""
        if self._is_dav:
            found = self._list(directory, "1")
            if found is not None:
                yield from (one for one in found if one.path != directory.path)
            return
        answer = self._ask("GET", directory)
        if answer.status != 200:
            answer.drain()
            raise fault_of_status(answer.status, answer.headers, directory, "GET")
        yield from links_of(answer.blocks(), _absolute(directory), directory.path)

    def _list(self, url: Url, depth: str) -> Iterator[Listed] | None:
        headers = {"Depth": depth, "Content-Length": f"{len(PROPFIND_BODY)}"}
        answer = self._ask("PROPFIND", url, headers, PROPFIND_BODY)
        if answer.status in (404, 410):
            answer.drain()
            return None
        if answer.status != 207:
            answer.drain()
            raise fault_of_status(answer.status, answer.headers, url, "PROPFIND")
        return iter(entries_of(answer.blocks(), url.server))

    def _make_directories(self, url: Url) -> None:
        """Make the directories of a file that are missing, the outermost first."""
        missing = []
        parent = url.sibling("")
        while parent.path != "/" and not self._may_be(parent):
            missing.append(parent)
            parent = parent._replace(path=parent.path[:-1]).sibling("")
        for one in reversed(missing):
            answer = self._ask("MKCOL", one)
            answer.drain()
            if answer.status != 405:  # another placement has made it
                self._check(answer, "MKCOL", one)

    def _may_be(self, directory: Url) -> bool:
        """Whether a directory is there, or may be: not everybody who may write to it may look."""
        try:
            return self._list(directory, "0") is not None
        except Fault as fault:
            if fault.kind is FaultKind.DENIED:
                return True
            raise

    def _check(self, answer: Answer, method: str, url: Url) -> None:
        if answer.status not in _GOOD:
            raise fault_of_status(answer.status, answer.headers, url, method)

    def _ask(
        self, method: str, url: Url, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """The answer to a request; redirections are followed."""
        self._reach.begin()
        target = url
        for _ in range(MAX_REDIRECTS + 1):
            connection = self._connection(target)
            all_headers = self._headers(target, headers or {})
            answer = connection.request(method, _target(target, connection), all_headers, body)
            if answer.status not in _REDIRECTS:
                return answer
            answer.drain()
            self._reach.leads_on(connection.kind)
            target = self._redirected(method, target, answer)
        raise Fault(FaultKind.REFUSED, f"{url.server} redirects {url} too often")

    def _redirected(self, method: str, url: Url, answer: Answer) -> Url:
        """Where an answer points to; a password of the URL is for its own server only.

        Raises:
            Fault: a server may not send this request there.
        """
        target = _location(url, answer)
        if target.scheme == "http" and url.scheme in _TLS:
            raise Fault(
                FaultKind.DENIED,
                f"{url.server} redirects to {target.server}, which is not encrypted",
            )
        if method not in _READING:
            if answer.status == _SEE_OTHER:  # what is there can only be read
                raise fault_of_status(answer.status, answer.headers, url, method)
            if not self._may_change(target):
                raise Fault(
                    FaultKind.REFUSED,
                    f"{url.server} redirects {method} {url} to {target.server}, which the request"
                    f' does not allow: redirect_hosts = "{target.host}"',
                )
        return target

    def _may_change(self, target: Url) -> bool:
        """Whether files may be written where a server redirects to.

        Each port of this machine may be another user's.
        """
        allowed = self._surroundings.settings.redirect_hosts
        host = target.host.lower()
        if any(fnmatch.fnmatchcase(host, name.lower()) for name in allowed):
            return True
        same_port = _port(target) == _port(self._root)
        return host == self._root.host.lower() and (same_port or not self._reach.is_near)

    def _headers(self, url: Url, more: Mapping[str, str]) -> dict[str, str]:
        service = (url.scheme, *url[2:6])
        known = self._heads.get(service)
        if known is None:
            known = {
                "Host": url.server,
                "User-Agent": f"condor_pydagman/{__version__}",
                "Accept": "*/*",
                "Accept-Encoding": "identity",
            }
            value = self._authorization(url)
            if value:
                known["Authorization"] = value
            self._heads[service] = known
        return {**known, **more} if more else known

    def _authorization(self, url: Url) -> str:
        """Credentials are for the server that was named, not for where it redirects to."""
        if (url.host, _port(url)) != (self._root.host, _port(self._root)) and not url.user:
            return ""
        return authorization(url, self._surroundings.environment)

    def _connection(self, url: Url) -> Connection:
        place = self._place(url)
        connection = self._connections.get(place)
        if connection is None:
            while len(self._connections) >= MAX_CONNECTIONS:
                self._connections.pop(next(iter(self._connections))).close()
            settings = self._surroundings.settings
            connection = self._connections[place] = Connection(
                place, self._reach, settings.connect_timeout_s, settings.stall_timeout_s
            )
        return connection

    def _place(self, url: Url) -> Place:
        tls = url.scheme in _TLS
        port = _port(url)
        for place in self._connections:
            if (place.host, place.port, place.tls is not None) == (url.host, port, tls):
                return place
        environment = self._surroundings.environment
        context = tls_context(environment, self._x509) if tls else None
        return Place(url.host, port, context, _proxy(url, environment))


class HttpReader:
    """An open source; see `endpoint.Reader`."""

    def __init__(self, answer: Answer, offset: int, url: Url) -> None:
        self._answer = answer
        self.version = version_of(answer.headers)
        self.checksums = checksums_of(answer.headers)
        self.offset = 0
        self.size = answer.length
        self.readinto = answer.readinto
        if answer.status == 206:
            self.offset, self.size = range_of(answer.headers, offset, url)
            if self.size is None and answer.length is not None:  # "bytes 5-9/*"
                self.size = offset + answer.length

    def close(self) -> None:
        """See `endpoint.Reader`."""
        self._answer.finish()


class SmallWriter:
    """A destination of few bytes, which are sent at once; see `endpoint.Writer`.

    So a connection can be used again, and a server may send us elsewhere after it has seen them.
    """

    def __init__(self, files: HttpFiles, url: Url) -> None:
        self._files = files
        self._url = url
        self._data = bytearray()

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        self._data += data

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        self._files.put(self._url, bytes(self._data))

    def abort(self) -> None:
        """See `endpoint.Writer`."""


class HttpWriter:
    """An open destination; see `endpoint.Writer`."""

    def __init__(self, connection: Connection, url: Url, *, chunked: bool) -> None:
        self._connection = connection
        self._url = url
        self._chunked = chunked

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        try:
            if self._chunked:
                self._connection.send(f"{len(data):x}\r\n".encode())
            self._connection.send(data)
            if self._chunked:
                self._connection.send(b"\r\n")
        except Fault as fault:
            raise self._told(fault) from None

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        if self._chunked:
            self._connection.send(b"0\r\n\r\n")
        answer = self._connection.answer("PUT")
        answer.drain()
        if answer.status not in (200, 201, 202, 204):
            raise fault_of_status(answer.status, answer.headers, self._url, "PUT")

    def abort(self) -> None:
        """See `endpoint.Writer`."""
        self._connection.close()

    def _told(self, fault: Fault) -> Fault:
        """A server that has refused the body may have said why before it broke off."""
        try:
            answer = self._connection.early_answer("PUT", 0.1)
        except Fault:
            return fault
        if answer is None or answer.status < 300:
            return fault
        return fault_of_status(answer.status, answer.headers, self._url, "PUT")


def _location(url: Url, answer: Answer) -> Url:
    """Where a redirection leads to.

    Raises:
        Fault: nowhere, or to no http server.
    """
    location = answer.headers.get("location", "")
    if not location:
        raise Fault(FaultKind.REFUSED, f"{url.server} redirects {url}, and does not say where to")
    scheme = "https" if url.scheme in _TLS else "http"
    try:
        target = parse_url(urljoin(url._replace(scheme=scheme).with_secrets(), location))
    except ValueError as error:
        raise Fault(
            FaultKind.REFUSED, masked_text(f"{url.server} redirects to {location}: {error}")
        ) from None
    if target.scheme not in ("http", "https"):
        raise Fault(FaultKind.REFUSED, f"{url.server} redirects to {target.scheme}")
    return target


def _target(url: Url, connection: Connection) -> str:
    """The target of a request: the whole URL for a proxy that is not tunnelled through."""
    if connection.place.proxy is not None and connection.place.tls is None:
        return _absolute(url)
    path = url.encoded_path
    return f"{path}?{quote(url.query, safe=_QUERY_SAFE)}" if url.query else path


def _port(url: Url) -> int:
    return url.port or (443 if url.scheme in _TLS else 80)


def _refuse_index(answer: Answer, url: Url) -> None:
    """Refuse the page that a server shows for a directory, after it has added the `/`."""
    kind = answer.headers.get("content-type", "")
    if kind.startswith("text/html") and urlsplit(answer.target).path.endswith("/"):
        path = urlsplit(_absolute(url)).path
        if urlsplit(answer.target).path == path + "/":
            raise no_file(url)


def _absolute(url: Url) -> str:
    """The URL without user, encoded, as http servers know it."""
    scheme = "https" if url.scheme in _TLS else "http"
    query = quote(url.query, safe=_QUERY_SAFE)
    return url._replace(scheme=scheme, user="", password="", query=query).with_secrets()


def _proxy(url: Url, environment: Mapping[str, str]) -> Proxy | None:
    """The proxy to a server, by the variables that curl(1) knows.

    Raises:
        Fault: it is no http proxy.
    """
    # A web server tells its programs a header of the client as HTTP_PROXY: not to be believed.
    own = ("https_proxy", "HTTPS_PROXY") if url.scheme in _TLS else ("http_proxy",)
    names = (*own, "all_proxy", "ALL_PROXY")
    name = next((one for one in names if environment.get(one)), "")
    bypass = environment.get("no_proxy") or environment.get("NO_PROXY", "")
    if not name or _is_bypassed(url.host, _port(url), bypass):
        return None
    text = environment[name]
    try:
        proxy = parse_url(text if "://" in text else f"http://{text}")
    except ValueError as error:
        raise Fault(FaultKind.REQUEST, f"{name} is no URL: {error}") from None
    if proxy.scheme != "http":
        raise Fault(
            FaultKind.REQUEST,
            f"{name} names a proxy of the kind {proxy.scheme}, and only http:// is supported; if"
            f" {url.host} needs no proxy, add it to no_proxy",
        )
    return Proxy(proxy.host, proxy.port or _PROXY_PORT, basic(proxy) if proxy.user else "")


def _is_bypassed(host: str, port: int, bypass: str) -> bool:
    """Whether a server is one of `no_proxy`: names, ends of names, addresses, networks (CIDR), each
    perhaps with a port; or `*` alone, which is all."""
    if bypass.strip() == "*":
        return True
    return any(_is_meant(host, port, word) for word in bypass.lower().replace(",", " ").split())


def _is_meant(host: str, port: int, word: str) -> bool:
    name, _, number = word.rpartition(":")
    if name and number.isdigit() and (":" not in name or name.endswith("]")):
        return int(number) == port and _is_meant(host, port, name)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        name = word.lstrip(".")
        return bool(name) and f".{host.lower()}".endswith(f".{name}")
    try:
        return address in ipaddress.ip_network(word.strip("[]"), strict=False)
    except ValueError:
        return False


def _entry(listed: Listed | None) -> Entry | None:
    if listed is None:
        return None
    return Entry("", listed.size, listed.is_directory, listed.version)
