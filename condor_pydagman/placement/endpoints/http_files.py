"""Files of http and WebDAV servers (`dav` is WebDAV over http, `davs` over https).

Reading goes on at an offset where the server knows ranges, and if the file is still the same.
Writing replaces a whole file; where the server knows MOVE, under a temporary name.
"""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import quote, urljoin

import pycurl

from condor_pydagman import __version__
from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.urls import Url, masked_text, parse_url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.endpoints.endpoint import (
    EMPTY,
    Closing,
    Entry,
    SendAgain,
    check_count,
    check_depth,
    unless,
    whole_number,
)
from condor_pydagman.placement.endpoints.http_credentials import authorization, basic
from condor_pydagman.placement.endpoints.http_headers import (
    checksums_of,
    fault_of_status,
    fields_of,
    range_of,
    refuse_encoding,
    version_of,
)
from condor_pydagman.placement.endpoints.http_listing import (
    PROPFIND_BODY,
    entries_of,
    links_of,
)
from condor_pydagman.placement.endpoints.libcurl import Session, ascii_host, idna, tls_options
from condor_pydagman.placement.endpoints.proxies import proxy_options
from condor_pydagman.placement.endpoints.reach import Reach
from condor_pydagman.placement.way import Surroundings

MAX_REDIRECTS = 5
# A body that is sent from memory; of a larger one, libcurl asks first whether it is wanted.
SMALL_BODY_BYTES = 1 << 20
_READING = ("GET", "HEAD", "OPTIONS", "PROPFIND")
_SEE_OTHER = 303
_REDIRECTS = (301, 302, _SEE_OTHER, 307, 308)
_DAV = ("dav", "davs")
_TLS = ("https", "davs")
_GOOD = (200, 201, 202, 204, 206, 207)
_UNKNOWN_METHOD = (405, 501)
_NO_MOVE = (400, 404, *_UNKNOWN_METHOD)  # if what is to be moved is there
_ENDS_OF_PATHS = ";?#"  # for servers that decode a URL before they take it apart
_METHODS: Mapping[str, Mapping[int, Any]] = {"GET": {}, "HEAD": {pycurl.NOBODY: 1}}
_QUERY_SAFE = "!#$%&'()*+,/:;=?@[]~"  # what is not so is encoded: blanks, ends of lines


class Answer(NamedTuple):
    """What a server has answered, but the body."""

    status: int  # code
    headers: Mapping[str, str]  # by name in lower case
    target: Url  # where the request went in the end


class _Service(NamedTuple):
    """What all requests to a server have in common."""

    root: str  # scheme and server, as libcurl takes them
    host: str  # the same for the host alone
    lines: tuple[bytes, ...]  # headers
    options: Mapping[int, Any]  # of libcurl, by number
    is_proxied: bool  # whether a proxy leads there
    # the options of requests that have none of their own, by method
    plain: dict[str, Mapping[int, Any]]


_NO_SERVICE = _Service("", "", (), {}, False, {})


class _Elsewhere(NamedTuple):
    """Where a file is to be written that a server has sent on after it had seen the data."""

    url: Url  # of the file
    target: Url  # where it is to go
    hops: int  # redirections that led there
    kind: str  # of the address of the server that has sent it on


class HttpFiles(Closing):
    """An `Endpoint` for one server."""

    can_list = True
    can_append = False
    appears_whole = False

    def __init__(self, url: Url, surroundings: Surroundings, proxy: str = "") -> None:
        self._is_dav = url.scheme in _DAV
        self._surroundings = surroundings
        self._x509 = proxy
        self._reach = Reach(ascii_host(url))
        self._session = Session(surroundings, self._check_address)
        self._services: dict[tuple[object, ...], _Service] = {}
        self._kinds: dict[str, set[str]] = {}  # of addresses that there may be connections to
        self._target = self._root = url._replace(path="/", query="")
        self._of_target = _NO_SERVICE
        self._moves: bool | None = None
        self._reached = "", ""  # host and address of the last answer
        self._kind = ""  # of that address
        self._elsewhere: _Elsewhere | None = None

    @property
    def can_rename(self) -> bool:
        """See `Endpoint`; a server is asked once whether it knows MOVE."""
        if self._moves is None:
            allowed = self._allowed()
            # WebDAV may begin further below: then this tells nothing of it, and MOVE is tried.
            self._moves = "MOVE" in allowed or (self._is_dav and "PUT" not in allowed)
        return self._moves

    def _allowed(self) -> str:
        """Methods that are known at the root of the server; '' if WebDAV's is not to be had."""
        try:
            return self._ask_all("OPTIONS", self._root).headers.get("allow", "").upper()
        except Fault as fault:
            if not self._is_dav or fault.kind is FaultKind.STOPPED:
                raise
            return ""

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        if self._is_dav:
            found = next(self._list(url, "0") or iter(()), None)
            return None if found is None else found._replace(path="")
        answer = self._ask_all("HEAD", url)
        if answer.status in _UNKNOWN_METHOD:
            answer = self._ask("GET", url)
            self._session.end()
        if answer.status in (404, 410):
            return None
        _check(answer, "HEAD", url)
        size = whole_number(answer.headers.get("content-length", ""))
        return Entry("", size, False, version_of(answer.headers), checksums_of(answer.headers))

    def announced(self, url: Url, algorithm: str) -> str:
        """Hexadecimal digits that the server tells if it is asked for a checksum; '' if it does
        not.  It may compute it first, so this is asked only for what is to be compared."""
        name = {"sha256": "sha-256"}.get(algorithm, algorithm)
        try:
            answer = self._ask_all("HEAD", url, {"Want-Digest": name})
        except Fault:
            return ""
        return checksums_of(answer.headers).get(algorithm, "") if answer.status == 200 else ""

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = url.path if url.path.endswith("/") else url.path + "/"
        waiting = [root]
        seen = {root}
        while waiting:
            directory = waiting.pop()
            is_empty = True
            for listed in self._inside(url._replace(path=directory)):
                is_empty = False
                relative = listed.path.removeprefix(root)
                if not listed.is_directory:
                    yield listed._replace(path=relative)
                elif deep and listed.path not in seen:
                    check_depth(relative, url)
                    seen.add(listed.path)
                    check_count(len(seen), url.server)
                    waiting.append(listed.path)
            if is_empty:
                self.leaves_out(directory.removeprefix(root), EMPTY)

    def read(self, url: Url, offset: int) -> HttpReader:
        """See `Endpoint`; the whole file, if the server does not give the rest of it alone."""
        for begin in dict.fromkeys((offset, 0)):
            answer = self._ask("GET", url, {"Range": f"bytes={begin}-"} if begin else {})
            if answer.status == 200:
                return self._reader(answer, url, 0, _length(answer.headers, url), 0)
            given = range_of(answer.headers, begin) if answer.status == 206 else None
            if given is not None:
                return self._reader(answer, url, begin, given.size, begin - given.begin)
            if answer.status not in (206, 416):
                self._session.drain()
                raise fault_of_status(answer.status, answer.headers, url, "GET")
            self._session.end()
        raise Fault(FaultKind.SERVER, f"{url.server} sends only a part of {url}")

    def write(self, url: Url, offset: int, size: int | None) -> HttpWriter | SmallWriter:
        """See `Endpoint`."""
        elsewhere, self._elsewhere = self._elsewhere, None
        if self._is_dav:
            self._make_directories(url)
        if size is not None and size <= SMALL_BODY_BYTES:
            return SmallWriter(self, url)
        self._reach.begin()
        target, hops = url, 0
        if elsewhere is not None and elsewhere.url == url:
            target, hops = elsewhere.target, elsewhere.hops
            self._reach.leads_on(elsewhere.kind)
        headers = {"Transfer-Encoding": "chunked"} if size is None else {}
        options: dict[int, Any] = {pycurl.UPLOAD: 1, pycurl.FRESH_CONNECT: 1}
        if size is not None:
            options[pycurl.INFILESIZE_LARGE] = size
        while True:
            self._begin("PUT", target, headers, options)
            if self._session.wait_for_wish():
                return HttpWriter(self, self._session, url, hops)
            answer = self._answer()
            if answer.status == 417 and "Expect" not in headers:
                headers["Expect"] = ""  # it wants the body at once
                continue
            if answer.status not in _REDIRECTS:
                raise fault_of_status(answer.status, answer.headers, url, "PUT")
            target, hops = self._follow("PUT", url, answer, hops), hops + 1

    def put(self, url: Url, data: bytes) -> None:
        """Create or replace a file with few bytes, which may be sent again."""
        headers = {"Content-Type": "", "Expect": ""}
        answer = self._ask_all("PUT", url, headers, {pycurl.POSTFIELDS: data})
        _check(answer, "PUT", url)

    def end_of_put(self, url: Url, hops: int) -> None:
        """The server has answered to a body.

        Raises:
            Fault: it has not taken it, or wants it sent elsewhere.
        """
        answer = self._answer()
        self._session.drain()
        if answer.status in _REDIRECTS and answer.status != _SEE_OTHER:
            kind = self._kind
            target = self._follow("PUT", url, answer, hops)
            self._elsewhere = _Elsewhere(url, target, hops + 1, kind)
            raise SendAgain(f"{url.server} redirects {url} to {target.server}")
        _check(answer, "PUT", url)

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`."""
        answer = self._give_name("MOVE", url, to)
        if answer.status in _NO_MOVE and self._seen(url) is not None:
            self._moves = False
            self._surroundings.say(
                f"{url.server} can't rename: files have their final names at once"
            )
            with contextlib.suppress(Fault):
                self.remove(url)
            raise SendAgain(f"{url.server} can't rename {url}")
        if answer.status in (404, 410):  # done by a request whose answer was lost, or removed
            raise Fault(FaultKind.SERVER, f"{url.server} has lost {url}")
        _check(answer, "MOVE", url)

    def _give_name(self, method: str, url: Url, to: Url) -> Answer:
        """Move or copy within the server.

        Raises:
            Fault: the server has given the file another name, which it would do again.
        """
        cut = [to.at(to.path.partition(end)[0]) for end in _ENDS_OF_PATHS if end in to.path]
        before = [self._seen(one) for one in cut]
        headers = {"Destination": self._absolute(to), "Overwrite": "T"}
        answer = self._ask_all(method, url, headers)
        if cut and answer.status in _GOOD and self._seen(to) is None:
            for one, old in zip(cut, before):
                if self._seen(one) not in (None, old):
                    reason = f"{to.server} made {one} of {to}: give the file a name without ; ? #"
                    raise Fault(FaultKind.DESTINATION, reason, transient=False)
        return answer

    def _seen(self, url: Url) -> Entry | None:
        """What we may see of a file."""
        with unless(FaultKind.DENIED):
            return self.look(url)
        return None

    def wrong_after_move(self, to: Url, size: int | None) -> str:
        """What is wrong with a file after it was renamed; '' if nothing.

        Some servers say that they have moved what they have not.
        """
        found = self.look(to)
        if found is not None and (None in (size, found.size) or size == found.size):
            return ""
        there = "is not there" if found is None else f"has {found.size} bytes"
        return f"{to.server} says that it has moved a file to {to}, which {there}"

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        answer = self._ask_all("DELETE", url)
        if answer.status not in (404, 410):
            _check(answer, "DELETE", url)

    def copy(self, url: Url, to: Url) -> bool:
        """See `Endpoint`."""
        if not self.can_rename:
            return False
        if self._is_dav:
            self._make_directories(to)
        answer = self._give_name("COPY", url, to)
        if answer.status in (*_UNKNOWN_METHOD, 400, 502):
            return False
        _check(answer, "COPY", url)
        return True

    def close(self) -> None:
        """See `Endpoint`."""
        self._session.close()

    def _reader(
        self, answer: Answer, url: Url, begin: int, size: int | None, skip: int
    ) -> HttpReader:
        try:
            refuse_encoding(answer.headers, url)
            # the page that a server shows for a directory, after it has added the `/`
            kind = answer.headers.get("content-type", "")
            if kind.startswith("text/html") and answer.target.path == url.path + "/":
                raise no_file(url)
        except Fault:
            self._session.end()
            raise
        return HttpReader(self._session, answer.headers, begin, size, skip)

    def _inside(self, directory: Url) -> Iterator[Entry]:
        """What is directly in a directory."""
        if self._is_dav:
            found = self._list(directory, "1")
            if found is None:  # what its server has listed just before is not left out
                raise Fault(FaultKind.MISSING, f"{directory} is not there")
            yield from (one for one in found if one.path != directory.path)
            return
        answer = self._ask("GET", directory)
        if answer.status != 200:
            self._session.drain()
            raise fault_of_status(answer.status, answer.headers, directory, "GET")
        try:
            refuse_encoding(answer.headers, directory)
            _refuse_no_page(answer, directory)
        except Fault:
            self._session.end()
            raise
        page = self._absolute(answer.target)  # which its links are relative to
        yield from links_of(self._session.blocks(), page, directory.path)

    def _list(self, url: Url, depth: str) -> Iterator[Entry] | None:
        headers = {"Depth": depth, "Content-Type": "application/xml", "Expect": ""}
        answer = self._ask("PROPFIND", url, headers, {pycurl.POSTFIELDS: PROPFIND_BODY})
        if answer.status == 207:
            return iter(entries_of(self._session.blocks(), url.server))
        self._session.drain()
        if answer.status in (404, 410):
            return None
        raise fault_of_status(answer.status, answer.headers, url, "PROPFIND")

    def _make_directories(self, url: Url) -> None:
        """Make the directories of a file that are missing, the outermost first."""
        missing = []
        parent = url.sibling("")
        while parent.path != "/" and not self._may_be(parent):
            missing.append(parent)
            parent = parent._replace(path=parent.path[:-1]).sibling("")
        for one in reversed(missing):
            answer = self._ask_all("MKCOL", one)
            if answer.status != 405:  # another placement has made it
                _check(answer, "MKCOL", one)

    def _may_be(self, directory: Url) -> bool:
        """Whether a directory is there, or may be: not everybody who may write to it may look."""
        with unless(FaultKind.DENIED):
            return self._list(directory, "0") is not None
        return True

    def _ask_all(
        self,
        method: str,
        url: Url,
        headers: Mapping[str, str] = {},
        options: Mapping[int, Any] = {},
    ) -> Answer:
        """As `_ask`, of an answer whose body is not wanted."""
        answer = self._ask(method, url, headers, options)
        self._session.drain()
        return answer

    def _ask(
        self,
        method: str,
        url: Url,
        headers: Mapping[str, str] = {},
        options: Mapping[int, Any] = {},
    ) -> Answer:
        """The answer to a request; redirections are followed."""
        self._elsewhere = None
        self._reach.begin()
        target, hops = url, 0
        while True:
            self._begin(method, target, headers, options)
            self._session.wait_for_head()
            answer = self._answer()
            if answer.status not in _REDIRECTS:
                return answer
            target, hops = self._follow(method, url, answer, hops), hops + 1

    def _follow(self, method: str, url: Url, answer: Answer, hops: int) -> Url:
        """Where a redirected request is to go, after so many redirections.

        Raises:
            Fault: nowhere.
        """
        self._session.drain()
        if hops >= MAX_REDIRECTS:
            raise Fault(FaultKind.REFUSED, f"{url.server} redirects {url} too often")
        self._reach.leads_on(self._kind)
        return self._redirected(method, answer.target, answer)

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
        host = ascii_host(target)
        if any(fnmatch.fnmatchcase(host, idna(name)) for name in allowed):
            return True
        same_port = _port(target) == _port(self._root)
        return host == ascii_host(self._root) and (same_port or not self._reach.is_near)

    def _begin(
        self, method: str, url: Url, headers: Mapping[str, str], options: Mapping[int, Any]
    ) -> None:
        """Begin a request; what libcurl finds open is not used if it must not lead there now."""
        service = self._service(url)
        for kind in self._kinds.get(service.host, ()):
            self._reach.check_kind(service.host, kind)
        if service.is_proxied:
            self._reach.check(service.host, service.host)
        self._target, self._of_target = url, service
        all_options = None if headers or options else service.plain.get(method)
        if all_options is None:
            lines = [*service.lines, *(_line(name, value) for name, value in headers.items())]
            of_method = _METHODS.get(method, {pycurl.CUSTOMREQUEST: method})
            all_options = {**service.options, **of_method, **options, pycurl.HTTPHEADER: lines}
            if not headers and not options:
                service.plain[method] = all_options
        self._session.begin(_absolute(url, service), url.server, all_options)

    def _answer(self) -> Answer:
        target, session = self._target, self._session
        if not session.has_head:
            reason = f"{target.server} broke off in the middle of its answer"
            raise Fault(FaultKind.SERVER, reason, host=target.server)
        service = self._of_target
        host = service.host
        address = host if service.is_proxied else session.known(pycurl.PRIMARY_IP)
        if (host, address) != self._reached:
            self._kind = self._reach.reached(address)
            self._kinds.setdefault(host, set()).add(self._kind)
            self._reached = host, address
        return Answer(session.status, fields_of(session.head), target)

    def _check_address(self, address: str) -> None:
        """Whether there may be a connection to an address, for the present request."""
        service = self._of_target
        if not service.is_proxied:
            self._reach.check(service.host, address)

    def _service(self, url: Url) -> _Service:
        key = (url.scheme, *url[2:6])
        service = self._services.get(key)
        if service is None:
            environment = self._surroundings.environment
            is_tls = url.scheme in _TLS
            scheme = "https" if is_tls else "http"
            proxy = proxy_options(url, scheme, environment)
            tls = tls_options(environment, self._x509) if is_tls else {}
            lines = [_line("Accept-Encoding", "identity")]
            value = self._authorization(url)
            if value:
                lines.append(_line("Authorization", value))
            host, port = ascii_host(url), f":{url.port}" * bool(url.port)
            service = self._services[key] = _Service(
                f"{scheme}://{host}{port}",
                host,
                tuple(lines),
                {pycurl.USERAGENT: f"condor_pydagman/{__version__}", **proxy, **tls},
                bool(proxy),
                {},
            )
        return service

    def _authorization(self, url: Url) -> str:
        """Credentials are for the server that was named, not for where it redirects to; those of
        its URL also if it redirects to itself."""
        root = self._root
        if not url.user:
            if (url.host, _port(url)) != (root.host, _port(root)):
                return ""
            if root.user:
                is_same = (url.scheme in _TLS) == (root.scheme in _TLS)
                return basic(root) if is_same else ""
        return authorization(url, self._surroundings.environment)

    def _absolute(self, url: Url) -> str:
        return _absolute(url, self._service(url))


class HttpReader:
    """An open source; see `endpoint.Reader`.

    Args:
        skip: bytes that come before the offset.
    """

    def __init__(
        self,
        session: Session,
        headers: Mapping[str, str],
        offset: int,
        size: int | None,
        skip: int = 0,
    ) -> None:
        self._session = session
        self._number = session.number
        self._skip = skip
        self.version = version_of(headers)
        self.checksums = checksums_of(headers)
        self.offset = offset
        self.size = size

    def readinto(self, buffer: memoryview) -> int:
        """See `endpoint.Reader`."""
        while self._skip:
            count = self._session.readinto(buffer[: self._skip])
            if not count:
                return 0
            self._skip -= count
        return self._session.readinto(buffer)

    def close(self) -> None:
        """See `endpoint.Reader`."""
        if self._session.number == self._number:
            self._session.end()


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
    """An open destination, whose server wants the data; see `endpoint.Writer`.

    Args:
        hops: redirections that led there.
    """

    def __init__(self, files: HttpFiles, session: Session, url: Url, hops: int) -> None:
        self._files = files
        self._session = session
        self._url = url
        self._hops = hops
        self._has_answer = False

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        if self._has_answer:
            self._raise_early()
        try:
            self._has_answer = not self._session.send(data)
        except Fault:
            self._has_answer = self._session.status >= 300  # said before it broke off
            if not self._has_answer:
                raise
        if self._has_answer:
            self._files.end_of_put(self._url, self._hops)
            if self._session.is_early:
                self._raise_early()

    def _raise_early(self) -> NoReturn:
        """The server says that it has the file while we have more of it.

        Raises:
            Fault: this.
        """
        url, status = self._url, self._session.status
        raise Fault(FaultKind.SERVER, f"{url.server} answers {status} before it has all of {url}")

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        if not self._has_answer:
            self._session.finish()
            self._files.end_of_put(self._url, self._hops)

    def abort(self) -> None:
        """See `endpoint.Writer`."""
        self._session.end()


def _absolute(url: Url, service: _Service) -> str:
    """The URL without user, encoded, as http servers know it."""
    query = f"?{quote(url.query, safe=_QUERY_SAFE)}" if url.query else ""
    return f"{service.root}{url.encoded_path}{query}"


def _line(name: str, value: str) -> bytes:
    """A header as libcurl takes it; one without a value is one that libcurl is not to send."""
    if "\n" in value or "\r" in value or "\0" in value:
        raise Fault(FaultKind.REQUEST, "a URL or a token has an end of line in it")
    return f"{name}: {value}".rstrip().encode("latin-1", "replace")


def _check(answer: Answer, method: str, url: Url) -> None:
    if answer.status not in _GOOD:
        raise fault_of_status(answer.status, answer.headers, url, method)


def _length(headers: Mapping[str, str], url: Url) -> int | None:
    """Bytes of a body; None if that is not known.

    Raises:
        Fault: it is no number; libcurl takes one that is too large for none.
    """
    if headers.get("transfer-encoding", "identity").lower() != "identity":
        return None
    length = whole_number(headers.get("content-length", ""))
    if length is None and "content-length" in headers:
        raise Fault(FaultKind.SERVER, f"{url.server} sends a length that makes no sense")
    return length


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


def _port(url: Url) -> int:
    return url.port or (443 if url.scheme in _TLS else 80)


def _refuse_no_page(answer: Answer, directory: Url) -> None:
    """Refuse as a list what can't have links: it would be taken for an empty directory."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", "text/html", "application/xhtml+xml"):
        reason = f"{directory.server} gives no list of {directory}, but {kind}"
        raise Fault(FaultKind.REFUSED, reason)
