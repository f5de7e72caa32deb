"""One connection to an http server: requests out, status, headers and bodies in (RFC 9112).

Written for transfers: bodies go straight into the caller's buffer, and a small file takes few
steps.  Python's http.client parses headers as those of an e-mail, which takes longer than all else
for a small file (measured: benchmarks/placements.py).  Every size that a server determines has a
limit.
"""

from __future__ import annotations

import contextlib
import re
import select
import socket
import ssl
import time
from collections.abc import Iterator, Mapping

from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.transfer.endpoints.endpoint import whole_number
from condor_pydagman.transfer.endpoints.reach import Reach
from condor_pydagman.transfer.rules.faults import Fault, FaultKind

MAX_HEAD_BYTES = 65536
MAX_INTERIM = 20  # answers before the one to a request
MAX_CHUNK_LINE_BYTES = 4096
MAX_TRAILERS = 100
DRAIN_S = 1.0  # for the rest of a body that nobody wants
MAX_BODY_BYTES = 64 << 20  # of an answer that is read as a whole: listings
BUFFER_BYTES = 65536
_BROKEN_OFF = (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
_CHUNK_LENGTH = re.compile(rb"[0-9a-fA-F]{1,16}")
_FIELD = re.compile(r"^([^:\r\n]*):([^\r\n]*)", re.MULTILINE)
DRIP_BYTES = 1024  # fewer bytes in the time of a stall count as none


class Proxy(NamedTuple):
    """A proxy; `authorization` is the value of a header, '' for none."""

    host: str
    port: int
    authorization: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """What it wants to see."""
        return {"Proxy-Authorization": self.authorization} if self.authorization else {}


class Place(NamedTuple):
    """Where to connect.

    Attributes:
        proxy: that leads there, None for none.
        tls: of a connection that is to be encrypted.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    proxy: Proxy | None = None

    @property
    def server(self) -> str:
        """Name for messages, and of the host that is given a rest."""
        usual = 443 if self.tls is not None else 80
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == usual else f"{host}:{self.port}"


class Connection:
    """A connection, which is made when it is first used, and again after an error.

    Args:
        reach: where it may lead.
        connect_s, stall_s: seconds until a connection that is not made, or moves no data, fails.

    Attributes:
        kind: of address that it leads to, see `reach`.
    """

    def __init__(self, place: Place, reach: Reach, connect_s: float, stall_s: float) -> None:
        self.place = place
        self._reach = reach
        self._connect_s = connect_s
        self._stall_s = stall_s
        self._socket: socket.socket | None = None
        self._buffer = bytearray(BUFFER_BYTES)
        self._begin = self._end = 0  # what of the buffer has not been taken yet
        self._used = False
        self.kind = ""
        self._has_answered = False
        self._window_at = self._window_bytes = 0.0
        self._errors = _Errors(self)

    def close(self) -> None:
        """End it; never raises."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
        self._socket = None
        self._begin = self._end = 0
        self._used = False

    def request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Answer:
        """Send a request without a body, or with a small one, and read the head of the answer.

        A connection that the server has closed meanwhile is made anew, once.
        """
        data = self._head(method, target, headers) + body
        if self._socket is not None:
            self._reach.check_kind(self.place.host, self.kind)
        self._window_at, self._has_answered = 0.0, False
        while True:
            was_used = self._used
            try:
                self.send(data)
                answer = self.answer(method)
                answer.target = target
                return answer
            except Fault as fault:
                self.close()
                if not (was_used and isinstance(fault, _Closed)):
                    raise

    def begin(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Send the head of a request whose body follows by `send`."""
        self.close()  # a body can't be sent twice, so no connection is used that may be closed
        self._window_at, self._has_answered = 0.0, False
        self.send(self._head(method, target, headers))

    def send(self, data: bytes | memoryview) -> None:
        """Send all of it; the time of a stall counts anew when something has gone out."""
        view = memoryview(data)
        with self._errors:
            made = self._connected()
            while view:
                count = made.send(view)
                view = view[count:]
                self._watch_drip(count)

    def answer(self, method: str) -> Answer:
        """Read the head of the answer to a request of that method; interim answers are skipped."""
        self._window_at = 0.0
        for _ in range(MAX_INTERIM + 1):
            self._used = True
            line, _, fields = self._read_head().partition("\r\n")
            version, status = _status(line, self.place.server)
            headers = _headers(fields)
            if headers.get("transfer-encoding", "chunked").lower() not in ("chunked", "identity"):
                raise self._broken("it sends an encoding that it was not asked for")
            if status >= 200 or status == 101:
                self._has_answered = True
                return Answer(self, method, version, status, headers)
        raise self._broken("it sends interim answers without end")

    def early_answer(self, method: str, wait_s: float) -> Answer | None:
        """The answer to a request of which the server has seen only the head (Expect:
        100-continue); None if it wants the body, or says nothing for so long."""
        with self._errors:
            made = self._connected()
        if isinstance(made, ssl.SSLSocket) and made.pending():
            wait_s = 0.0
        if wait_s and not select.select([made], [], [], wait_s)[0]:
            return None
        self._used = True
        line, _, fields = self._read_head().partition("\r\n")
        version, status = _status(line, self.place.server)
        if status < 200:
            return None
        self._has_answered = True
        return Answer(self, method, version, status, _headers(fields))

    def receive_into(self, view: memoryview) -> int:
        """Up to so many bytes; 0 at the end of the connection."""
        if self._begin < self._end:
            count = min(len(view), self._end - self._begin)
            view[:count] = memoryview(self._buffer)[self._begin : self._begin + count]
            self._begin += count
            return count
        return self._receive(view)

    def read_line(self, limit: int) -> bytes:
        """A line without its end."""
        line = self.read_until(b"\n", limit)
        return line[:-1].removesuffix(b"\r")

    def read_until(self, mark: bytes, limit: int) -> bytes:
        """All up to a mark, which is included."""
        taken = b""
        while True:
            at = self._buffer.find(mark, self._begin, self._end)
            if at >= 0:
                taken += bytes(self._buffer[self._begin : at + len(mark)])
                self._begin = at + len(mark)
                return taken
            if self._end - self._begin + len(taken) > limit:
                raise self._broken("it sends no end of a line")
            self._fill()

    def _head(self, method: str, target: str, headers: Mapping[str, str]) -> bytes:
        place = self.place
        if place.proxy is not None and place.tls is None:
            headers = {**headers, **place.proxy.headers}
        return _head(method, target, headers)

    def _read_head(self) -> str:
        return self.read_until(b"\r\n\r\n", MAX_HEAD_BYTES)[:-4].decode("latin-1")

    def _fill(self) -> None:
        if self._begin:
            rest = self._buffer[self._begin : self._end]
            self._buffer[: len(rest)] = rest
            self._begin, self._end = 0, len(rest)
        if self._end == len(self._buffer):
            raise self._broken("it sends a line without end")
        count = self._receive(memoryview(self._buffer)[self._end :])
        if not count:
            raise self.closed("it closed the connection")
        self._end += count

    def _receive(self, view: memoryview) -> int:
        with self._errors:
            count = self._connected().recv_into(view)
        self._watch_drip(count)
        return count

    def _watch_drip(self, count: int) -> None:
        now = time.monotonic()
        if not self._window_at:
            self._window_at, self._window_bytes = now, 0
        self._window_bytes += count
        if now - self._window_at > self._stall_s:
            if self._window_bytes < DRIP_BYTES:
                raise self._broken(f"{self._window_bytes:.0f} bytes in {self._stall_s:g} s")
            self._window_at, self._window_bytes = now, 0

    def _connected(self) -> socket.socket:
        if self._socket is None:
            place = self.place
            end = place.proxy or place
            if place.proxy is not None:
                self._reach.check(place.host, place.host)
                made = socket.create_connection((end.host, end.port), self._connect_s)
                self.kind = self._reach.reached(place.host)
            else:
                made = self._directly()
            try:
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if place.tls is not None:
                    if place.proxy is not None:
                        _open_tunnel(made, place, place.proxy)
                    made = place.tls.wrap_socket(made, server_hostname=place.host)
                made.settimeout(self._stall_s)
            except BaseException:
                made.close()
                raise
            self._socket = made
        return self._socket

    def _directly(self) -> socket.socket:
        """A connection to the first address that answers, if it may lead there.

        Addresses are looked at before anything is sent: a connection alone tells whether a port of
        this machine is open.
        """
        place = self.place
        error: OSError | None = None
        for family, kind, protocol, _, address in socket.getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM
        ):
            self._reach.check(place.host, str(address[0]))
            made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(self._connect_s)
                made.connect(address)
                self.kind = self._reach.reached(str(address[0]))
                return made
            except OSError as one:
                made.close()
                error = error or one
        assert error is not None  # no name has no address
        raise error

    def fault_of(self, error: OSError | UnicodeError) -> Fault:
        """What an error of the network means."""
        server = self.place.server
        if isinstance(error, ssl.SSLCertVerificationError):
            reason = f"{server}: its certificate is refused: {error.verify_message}"
            return Fault(FaultKind.DENIED, reason)
        if isinstance(error, socket.timeout):  # Python 3.9 has no other name for it
            what = "no connection" if self._socket is None else "no data"
            seconds = self._connect_s if self._socket is None else self._stall_s
            return self._broken(f"{what} for {seconds:g} s")
        if isinstance(error, _BROKEN_OFF):
            return self.closed("it broke the connection off")
        if isinstance(error, socket.gaierror):
            return self._broken(f"its address is not known: {error.strerror}")
        if isinstance(error, UnicodeError):
            return Fault(FaultKind.REQUEST, f"{server}: there can be no host of that name")
        return self._broken(str(error.strerror or error))

    def closed(self, reason: str) -> Fault:
        """The server has ended the connection; that is a matter of this file if it has answered."""
        return _Closed(
            self.place.server, reason, host="" if self._has_answered else self.place.server
        )

    def _broken(self, reason: str) -> Fault:
        server = self.place.server
        return Fault(FaultKind.SERVER, masked_text(f"{server}: {reason}"), host=server)


class _Errors:
    """A context in which errors of the network become a `Fault`; made once for a connection, since
    a small file needs it several times."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (OSError, UnicodeError)):
            raise self._connection.fault_of(error) from None


class _Closed(Fault):
    """The server has closed the connection."""

    def __init__(self, server: str, reason: str, *, host: str) -> None:
        super().__init__(FaultKind.SERVER, f"{server}: {reason}", host=host)


class Answer:
    """The answer to a request; its body is read by `readinto`, or `read_all`.

    Attributes:
        status: code.
        headers: by name in lower case.
        length: bytes of the body, None if that is not known.
        target: of the request.
    """

    def __init__(
        self, connection: Connection, method: str, version: str, status: int,
        headers: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._connection = connection
        self.status = status
        self.headers = headers
        self.target = ""
        self._chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        self.length = None if self._chunked else self._announced_length()
        if method == "HEAD" or status in (204, 304):
            self.length, self._chunked = 0, False
        self._left = self.length
        self._ended = self.length == 0
        wish = headers.get("connection", "").lower()
        self._stays = "close" not in wish and (version == "HTTP/1.1" or "keep-alive" in wish)
        if self.length is None and not self._chunked:
            self._stays = False

    def readinto(self, buffer: memoryview) -> int:
        """Fill the front of `buffer`; 0 at the end of the body."""
        if self._ended:
            return 0
        if self._chunked and not self._left:
            self._left = self._next_chunk()
            if self._ended:
                return 0
        wanted = buffer if self._left is None else buffer[: min(len(buffer), self._left)]
        count = self._connection.receive_into(wanted)
        if count and self._left is not None:
            self._left -= count
            if not self._left and not self._chunked:
                self._ended = True
            elif not self._left and self._connection.read_line(MAX_CHUNK_LINE_BYTES):
                raise self._connection.closed("a chunk is longer than it says")
        elif not count:
            if self._left is not None:
                raise self._connection.closed(f"it broke off {self._left} bytes before the end")
            self._ended = True
        return count

    def blocks(self) -> Iterator[bytes]:
        """The body in pieces, at most MAX_BODY_BYTES."""
        buffer = memoryview(bytearray(BUFFER_BYTES))
        size = 0
        try:
            while count := self.readinto(buffer):
                size += count
                if size > MAX_BODY_BYTES:
                    raise Fault(
                        FaultKind.REFUSED,
                        f"{self._connection.place.server}: a listing of more than"
                        f" {MAX_BODY_BYTES >> 20} MB",
                    )
                yield bytes(buffer[:count])
        finally:
            self.finish()

    def finish(self) -> None:
        """The rest of the body is not wanted: the connection is kept if there is none."""
        if not self._ended or not self._stays:
            self._connection.close()

    def drain(self) -> None:
        """Read a short rest of the body, so that the connection can be kept."""
        if self.length is not None and self.length < BUFFER_BYTES:
            buffer = memoryview(bytearray(BUFFER_BYTES))
            until = time.monotonic() + DRAIN_S
            with contextlib.suppress(Fault):
                while self.readinto(buffer) and time.monotonic() < until:
                    pass
        self.finish()

    def _announced_length(self) -> int | None:
        text = self.headers.get("content-length")
        size = None if text is None else whole_number(text)
        if size is None and text is not None:
            raise self._connection.closed("it sends a length that makes no sense")
        return size

    def _next_chunk(self) -> int:
        line = self._connection.read_line(MAX_CHUNK_LINE_BYTES).split(b";")[0].strip()
        if not _CHUNK_LENGTH.fullmatch(line):
            raise self._connection.closed("a chunk has no length")
        size = int(line, 16)
        if not size:
            for _ in range(MAX_TRAILERS + 1):
                if not self._connection.read_line(MAX_CHUNK_LINE_BYTES):
                    self._ended = True
                    return 0
            raise self._connection.closed("it sends trailers without end")
        return size


def _head(method: str, target: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    text = "\r\n".join(lines)
    if text.count("\r\n") != len(lines) - 1 or "\n" in text.replace("\r\n", ""):
        raise Fault(FaultKind.REQUEST, "a URL or a token has an end of line in it")
    return (text + "\r\n\r\n").encode("latin-1", "replace")


def _status(line: str, server: str) -> tuple[str, int]:
    words = line.split(" ", 2)
    status = whole_number(words[1]) if len(words) > 1 else None
    if not words[0].startswith("HTTP/1.") or status is None:
        raise Fault(FaultKind.SERVER, f"{server} does not speak http", host=server)
    return words[0], status


def _headers(fields: str) -> dict[str, str]:
    """Fields by name in lower case; of several of a name the first one counts."""
    found = _FIELD.findall(fields)
    return {name.strip().lower(): value.strip() for name, value in reversed(found)}


def _open_tunnel(made: socket.socket, place: Place, proxy: Proxy) -> None:
    """Ask a proxy for a connection to the server."""
    host = f"[{place.host}]" if ":" in place.host else place.host
    name = f"{host}:{place.port}"
    made.sendall(_head("CONNECT", name, {"Host": name, **proxy.headers}))
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MAX_HEAD_BYTES:
        data = made.recv(4096)
        if not data:
            break
        head += data
    words = head.split(b"\r\n", 1)[0].split(b" ")
    if words[1:2] != [b"200"]:
        why = ": it wants credentials" if words[1:2] == [b"407"] else ""
        raise ConnectionError(f"the proxy {proxy.host} refuses the connection{why}")
