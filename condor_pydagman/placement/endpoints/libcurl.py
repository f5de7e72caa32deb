"""Requests by libcurl (pycurl): http, https, WebDAV, ftp and ftps.

libcurl makes, keeps and checks connections, speaks to proxies, and notices who stalls.  It calls us
with what comes; its multi interface makes that a body that is read, or written, in steps of the
caller's: so any service can be copied to any other, without threads and without a whole file in
memory.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pycurl

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url, is_host, masked_text
from condor_pydagman.placement.endpoints.curl_names import NAMES
from condor_pydagman.placement.endpoints.http_credentials import proxy_file
from condor_pydagman.placement.way import STOPPED, Surroundings
from condor_pydagman.printable import message

MAX_HEAD_BYTES = 100_000  # of all that a server says before and behind a body
MAX_BODY_BYTES = 64 << 20  # of an answer that is read as a whole: listings
MAX_UNWANTED_BYTES = 65536  # of a body that is read only to keep the connection
MAX_UNWANTED_S = 1.0  # the same
DRIP_BYTES = 1024  # fewer bytes in the time of a stall count as none
BUFFER_BYTES = 256 << 10
WAIT_S = 1.0  # at most, between looks at what libcurl has to do
RESOLVE_S = 0.005  # the same while it looks up a name, for which it has nothing to wait for
# Options that older releases of pycurl, or all, have no name for.
_PATH_AS_IS = 234
_SUPPRESS_CONNECT_HEADERS = 265
_UPLOAD_BUFFERSIZE = 280
_QUICK_EXIT = 322  # not to wait for the thread that looks up a name
# The newer of the two is missing in older releases, and newer ones warn of the older.
_SENT = getattr(pycurl, "SIZE_UPLOAD_T", pycurl.SIZE_UPLOAD)
_TO_SEND = getattr(pycurl, "CONTENT_LENGTH_UPLOAD_T", pycurl.CONTENT_LENGTH_UPLOAD)
MAX_BLOCKS = 4  # of 16 kB each, that are kept until they are wanted
_NOTHING = memoryview(bytearray())
_FINAL = re.compile(rb"HTTP/\S+ [^1]")
_BLANK_LINE = re.compile(rb"\n\r?\n")

# A libcurl that was built without ftp, proxies or directories of authorities does without these.
_DISPENSABLE = (
    *(pycurl.FTP_RESPONSE_TIMEOUT, pycurl.CAPATH, pycurl.PROXY_CAPATH, pycurl.BUFFERSIZE),
    *(_SUPPRESS_CONNECT_HEADERS, _UPLOAD_BUFFERSIZE),
)

_KINDS = {
    pycurl.E_URL_MALFORMAT: FaultKind.REQUEST,
    pycurl.E_LOGIN_DENIED: FaultKind.DENIED,
    pycurl.E_PEER_FAILED_VERIFICATION: FaultKind.DENIED,
    pycurl.E_SSL_CACERT_BADFILE: FaultKind.DENIED,
    pycurl.E_SSL_CERTPROBLEM: FaultKind.DENIED,
}
_WORDS = {
    pycurl.E_PEER_FAILED_VERIFICATION: "its certificate is refused: ",
    pycurl.E_SSL_CACERT_BADFILE: "a certificate can't be used: ",
    pycurl.E_SSL_CERTPROBLEM: "a certificate can't be used: ",
    pycurl.E_PARTIAL_FILE: "it broke off: ",
}
_STALLED = "Operation too slow"  # libcurl's words


# Where systems keep the authorities that they trust: the libcurl of a wheel knows no place.
_AUTHORITIES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def authorities(environment: Mapping[str, str]) -> dict[str, str]:
    """Whom to trust: CAINFO and CAPATH of libcurl, as far as they are known.

    As with curl(1), the variables of OpenSSL count only without CURL_CA_BUNDLE.
    """
    bundle = environment.get("CURL_CA_BUNDLE", "")
    usual = next(filter(os.path.isfile, _AUTHORITIES), "")
    file = bundle or environment.get("SSL_CERT_FILE") or usual
    names = ("X509_CERT_DIR", "SSL_CERT_DIR")[: 1 if bundle else 2]
    named = (environment.get(name, "") for name in names)
    directory = next(filter(os.path.isdir, named), "")
    return {name: path for name, path in (("CAINFO", file), ("CAPATH", directory)) if path}


def tls_options(environment: Mapping[str, str], proxy: str = "") -> dict[int, Any]:
    """Options of libcurl: how servers are checked, and the user's certificate if there is one.

    Args:
        proxy: path of an X.509 proxy that the request names; "default" or '' for the usual one.

    Raises:
        Fault: the certificate is not there, or can't be read.
    """
    options = {getattr(pycurl, what): path for what, path in authorities(environment).items()}
    certificate = proxy_file(environment, proxy)
    key = certificate or environment.get("X509_USER_KEY", "")
    certificate = certificate or environment.get("X509_USER_CERT", "")
    if certificate:
        try:  # not every TLS library tells this from a server's fault
            open(certificate, "rb").close()
        except OSError as error:
            reason = f"a certificate can't be used: {certificate}: {error.strerror}"
            raise Fault(FaultKind.DENIED, reason) from None
        options |= {pycurl.SSLCERT: certificate, pycurl.SSLKEY: key or certificate}
    return options


def ascii_host(url: Url) -> str:
    """The host of a URL as names are looked up, in brackets if it is an address with colons.

    Raises:
        Fault: no host can have that name.
    """
    if ":" in url.host:
        return f"[{url.host}]"
    with contextlib.suppress(UnicodeError):
        host = url.host.encode("idna").decode()
        if is_host(host):
            return host
    reason = f"{url.server}: there can be no host of that name"
    raise Fault(FaultKind.REQUEST, reason)


def idna(name: str) -> str:
    """A name of a host, or of a pattern of hosts, as they are compared: in ASCII and lower case."""
    try:
        return name.lower().encode("idna").decode()
    except UnicodeError:
        return name.lower()


def _set_option(easy: Any, number: int, value: Any) -> None:
    """Set an option of libcurl.

    Raises:
        Fault: this libcurl was built without it, and there is no doing without it.
    """
    try:
        easy.setopt(number, value)
    except pycurl.error as error:
        code = error.args[0] if error.args else 0
        if code not in (pycurl.E_NOT_BUILT_IN, pycurl.E_UNKNOWN_OPTION):
            raise
        if number in _DISPENSABLE or value == "":
            return
        known = vars(pycurl).items()
        name = next((n for n, v in known if v == number and n in NAMES), f"option {number}")
        reason = f"the libcurl of pycurl was built without {name} ({pycurl.version})"
        raise Fault(FaultKind.NO_WAY, reason) from None


class Session:
    """Requests, one at a time; connections are kept from one to the next.

    Args:
        surroundings: settings, and whether the worker is to stop.
        check: is asked before a connection to an address is made; raises a `Fault` if none may be.
    """

    def __init__(
        self, surroundings: Surroundings, check: Callable[[str], None] | None = None
    ) -> None:
        self._easy = pycurl.Curl()
        self._multi = pycurl.CurlMulti()
        self._surroundings = surroundings
        self._settings = surroundings.settings
        self._check = check
        self._options: Mapping[int, Any] | None = None
        self._blocks: deque[bytes] = deque()
        self._into = _NOTHING
        self._output: memoryview | None = None
        self._wants_output = self._has_sent = False
        self._is_paused = self._is_open = False
        self._server = ""
        self._fault: Fault | None = None
        self._refusal: Fault | None = None
        self._said = bytearray()  # lines of the server's, before and behind a body
        self._seen = 0  # bytes of them
        self._head = slice(0)  # the last answer in them
        self.has_head = self.is_early = False  # whether the head of an http answer is whole
        self._lent: list[socket.socket] = []
        self.number = 0  # of the present request, from 1

    @property
    def status(self) -> int:
        """Code of the last answer; 0 if there is none."""
        return int(self._easy.getinfo(pycurl.RESPONSE_CODE)) if self._said else 0

    @property
    def head(self) -> bytes:
        """The answer so far: the head of an http answer, or all that an ftp server has said."""
        return bytes(self._said[self._head])

    def begin(self, url: str, server: str, options: Mapping[int, Any]) -> None:
        """Begin a request.

        Args:
            server: for messages, and to be rested if it fails.
            options: of libcurl, by number.
        """
        self.end()
        if options is not self._options and options != self._options:
            self._set(options)
        self._easy.setopt(pycurl.URL, url)
        self._server, self._fault, self._refusal = server, None, None
        self._forget_head()
        # whether an http server has answered before all that it was to get was sent
        self.is_early = False
        self._output, self._wants_output, self._has_sent = _NOTHING, False, False
        self._is_paused = False
        self.number += 1
        self._multi.add_handle(self._easy)
        self._is_open = True

    def wait_for_head(self) -> None:
        """Wait for the head of an http answer, or for the first bytes of a file.

        Raises:
            Fault: there is none.
        """
        self._run(lambda: self.has_head or bool(self._blocks))
        if not self.has_head and not self._blocks:
            self._raise_fault()

    def wait_for_wish(self) -> bool:
        """Wait until the server wants a body; False if it has answered without."""
        self._run(lambda: self._wants_output or bool(self._blocks) or self._answers_early())
        if self._answers_early():  # libcurl would send the rest to it
            self.is_early = True
            self.end()
            return False
        if self._blocks:
            self.drain()
        self._raise_fault()
        return self._is_open

    def readinto(self, buffer: memoryview) -> int:
        """Fill the front of `buffer`; 0 at the end of the body.

        Raises:
            Fault: it broke off.
        """
        room = len(buffer)
        self._into = buffer
        while self._blocks and self._into:
            block = self._blocks.popleft()
            count = self._fill(block)
            if count < len(block):
                self._blocks.appendleft(block[count:])
        if self._is_open and len(self._into) == room:
            self._run(lambda: len(self._into) < room)
        left = room
        while self._is_open and 0 < len(self._into) < left:  # large pieces are written faster
            left = len(self._into)
            self._work()
        filled = room - len(self._into)
        self._into = _NOTHING
        if not filled:
            self._raise_fault()
        return filled

    def blocks(self) -> Iterator[bytes]:
        """The body in pieces, at most MAX_BODY_BYTES."""
        size = 0
        while True:
            self._run(lambda: bool(self._blocks))
            if not self._blocks:
                break
            block = self._blocks.popleft()
            size += len(block)
            if size > MAX_BODY_BYTES:
                self.end()
                reason = f"{self._server}: a listing of more than {MAX_BODY_BYTES >> 20} MB"
                raise Fault(FaultKind.REFUSED, reason)
            yield block
        self._raise_fault()

    def send(self, data: memoryview) -> bool:
        """Send a part of the body; False if the server has answered and wants no more.

        Raises:
            Fault: it can't be sent.
        """
        self._output, self._wants_output = data, False
        self._go_on()
        return self.wait_for_wish()

    def finish(self) -> None:
        """The body that is sent is whole: wait for the end of the request.

        Raises:
            Fault: it failed.
        """
        self._output = None
        self._go_on()
        self.drain()
        self._raise_fault()

    def drain(self) -> None:
        """Read a short rest of a body that nobody wants, so that the connection can be kept."""
        self._run(lambda: self.has_head or bool(self._blocks))
        unwanted, end = 0, time.monotonic() + MAX_UNWANTED_S
        while self._is_open and unwanted <= MAX_UNWANTED_BYTES and not self._is_late(end):
            self._run(lambda: bool(self._blocks) or self._is_late(end))
            unwanted += sum(map(len, self._blocks))
            self._blocks.clear()
        self.end()

    def _answers_early(self) -> bool:
        """Whether there is an answer to a body of which more is to come."""
        if not (self.has_head and self._has_sent):
            return False
        expected = self.known(_TO_SEND)
        return bool(expected < 0 or self.known(_SENT) < expected)

    def _is_late(self, end: float) -> bool:
        """Whether it is later, and only the rest of an answer is missing."""
        if not self.has_head or time.monotonic() < end:
            return False
        return bool(self.known(_SENT) >= max(self.known(_TO_SEND), 0))

    def end(self) -> None:
        """End the request; a connection that is in the middle of something is closed."""
        if self._is_open:
            self._multi.remove_handle(self._easy)
            self._is_open = False
        self._blocks.clear()

    def close(self) -> None:
        """End all connections."""
        self.end()
        self._multi.close()
        self._easy.close()

    def known(self, what: int) -> Any:
        """What libcurl knows of the present request."""
        return self._easy.getinfo(what)

    def _set(self, options: Mapping[int, Any]) -> None:
        self._options = None
        self._easy.reset()
        stall_s = max(math.ceil(self._settings.stall_timeout_s), 1)
        connect_s = self._settings.connect_timeout_s
        common = {
            pycurl.NOSIGNAL: 1,
            pycurl.CONNECTTIMEOUT_MS: max(round(connect_s * 1000), 1),
            pycurl.LOW_SPEED_TIME: stall_s,
            pycurl.LOW_SPEED_LIMIT: math.ceil(DRIP_BYTES / stall_s),
            pycurl.FTP_RESPONSE_TIMEOUT: stall_s,
            pycurl.BUFFERSIZE: BUFFER_BYTES,
            _UPLOAD_BUFFERSIZE: BUFFER_BYTES,
            _PATH_AS_IS: 1,
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            # What the caller does not say is not taken from this process's environment.
            pycurl.PROXY: "",
            pycurl.NOPROXY: "",
            _SUPPRESS_CONNECT_HEADERS: 1,
            pycurl.HEADERFUNCTION: self._said.extend,
            pycurl.WRITEFUNCTION: self._on_write,
            pycurl.READFUNCTION: self._on_read,
            pycurl.SEEKFUNCTION: self._on_seek,
            pycurl.OPENSOCKETFUNCTION: self._on_socket,
        }
        for number, value in {**common, **options}.items():
            _set_option(self._easy, number, value)
        self._options = options

    def _run(self, is_enough: Callable[[], bool]) -> None:
        """Let libcurl work until there is enough, or the request has ended.

        Raises:
            Fault: the worker is to stop, and there would be something to wait for.
        """
        while self._is_open and not is_enough():
            self._work()
            if self._is_open and not is_enough():
                if self._surroundings.must_stop():
                    with contextlib.suppress(pycurl.error):  # before 7.87 there is no such option
                        self._easy.setopt(_QUICK_EXIT, 1)
                    self.end()
                    raise Fault(FaultKind.STOPPED, STOPPED)
                self._wait()

    def _work(self) -> None:
        """Let libcurl do what it can without waiting."""
        if self._is_paused:
            self._is_paused = False
            self._go_on()
        _, running = self._multi.perform()
        while self._lent:
            self._lent.pop().close()  # libcurl has its own descriptor
        if len(self._said) != self._seen:
            self._look_at_head()
        if self._is_open and not running:
            self._take_result()

    def _wait(self) -> None:
        milliseconds = self._multi.timeout()
        seconds = WAIT_S if milliseconds < 0 else min(milliseconds / 1000, WAIT_S)
        reads, writes, others = self._multi.fdset()
        if reads or writes or others:
            select.select(reads, writes, others, seconds)
        else:
            time.sleep(min(seconds, RESOLVE_S))

    def _take_result(self) -> None:
        _, _, failed = self._multi.info_read()
        if failed and self._fault is None:
            _, number, text = failed[0]
            self._fault = self._refusal or self._fault_of(number, text)
        self._multi.remove_handle(self._easy)
        self._is_open = False

    def _raise_fault(self) -> None:
        if self._fault is not None and not self._is_open:
            raise self._fault

    def _go_on(self) -> None:
        if self._is_open:
            with contextlib.suppress(pycurl.error):  # it is told at the end of the request
                self._easy.pause(pycurl.PAUSE_CONT)

    def _fault_of(self, number: int, text: str) -> Fault:
        """What an error of libcurl's means; that of a server that has answered is of this file."""
        text = text or self._easy.errstr() or f"libcurl's error {number}"
        if text.startswith("Unsupported proxy"):  # what follows may be a password
            text = "the variable that names its proxy is no URL of a kind that libcurl knows"
        if number == pycurl.E_OPERATION_TIMEDOUT and text.startswith(_STALLED):
            text = f"hardly any data for {self._settings.stall_timeout_s:g} s"
        text = message(masked_text(text))
        if number == pycurl.E_SSL_CERTPROBLEM and self._said:
            number = pycurl.E_RECV_ERROR
        reason = f"{self._server}: {_WORDS.get(number, '')}{text}"
        kind = _KINDS.get(number)
        if kind is not None:
            return Fault(kind, reason)
        if self._easy.getinfo(pycurl.HTTP_CONNECTCODE) == 407:
            reason += ": the proxy wants credentials"
        is_of_file = bool(self._said) and number != pycurl.E_OPERATION_TIMEDOUT
        return Fault(FaultKind.SERVER, reason, host="" if is_of_file else self._server)

    def _look_at_head(self) -> None:
        """There are more lines of the server's."""
        said = self._said
        self._seen = len(said)
        if self._seen > MAX_HEAD_BYTES:
            reason = f"{self._server}: it sends an answer without end"
            self._fault = Fault(FaultKind.SERVER, reason, host=self._server)
            self.end()
            return
        begin = said.rfind(b"\nHTTP/") + 1
        blank = _BLANK_LINE.search(said, begin) if _FINAL.match(said, begin) else None
        self.has_head = blank is not None
        self._head = slice(begin, blank.start() if blank is not None else None)

    def _forget_head(self) -> None:
        self._said.clear()
        self._seen, self.has_head = 0, False

    def _on_write(self, data: bytes) -> int:
        """A part of a body.  What is kept stays small: to get memory from the system, and to give
        it back, takes longer than to copy the data."""
        if not self._into and len(self._blocks) >= MAX_BLOCKS:
            self._is_paused = True
            return int(pycurl.WRITEFUNC_PAUSE)
        count = self._fill(data) if self._into else 0
        if count < len(data):
            self._blocks.append(data[count:] if count else data)
        return len(data)

    def _fill(self, data: bytes) -> int:
        """Put a part of a body where it is wanted; how many bytes there was room for."""
        count = min(len(data), len(self._into))
        self._into[:count] = data[:count]
        self._into = self._into[count:]
        return count

    def _on_read(self, size: int) -> bytes | int:
        """Up to so many bytes of the body that is sent; none at its end."""
        if self._output is None:
            return b""
        if not self._output:
            self._wants_output = True
            if not self._has_sent:  # what it has said before was not its last word
                self._forget_head()
            return int(pycurl.READFUNC_PAUSE)
        data = bytes(self._output[:size])
        self._has_sent = True
        self._output = self._output[size:]
        return data

    def _on_seek(self, offset: int, origin: int) -> int:
        """A server wants the body anew; it can be had if nothing of it has gone."""
        is_possible = not offset and not self._has_sent
        return int(pycurl.SEEKFUNC_OK if is_possible else pycurl.SEEKFUNC_CANTSEEK)

    def _on_socket(self, purpose: int, address: Any) -> Any:
        """A socket for a connection to an address, if it may lead there."""
        try:
            if self._check is not None:
                self._check(str(address.addr[0]))
            made = socket.socket(address.family, address.socktype, address.protocol)
            self._lent.append(made)
            return made
        except Fault as fault:
            self._refusal = fault
        except OSError as error:
            reason = f"{self._server}: {error.strerror or error}"
            self._refusal = Fault(FaultKind.SERVER, reason, host=self._server)
        return pycurl.SOCKET_BAD
