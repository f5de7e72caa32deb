"""The command socket: where `htcondor dag halt`, `resume` and `throttle` reach a running DAGMan.

It never blocks: data of clients are read when the kernel reports them, for at most SERVE_SLICE_S
seconds per pass of the loop.  A client that has not finished is dropped after CLIENT_TIMEOUT_S, and
after BUSY_CLIENT_TIMEOUT_S while there are MAX_CLIENTS clients, unless it waits for its reply.

It listens where stock's DaemonCore would (NETWORK_INTERFACE, BIND_ALL_INTERFACES, ENABLE_IPV4 and
ENABLE_IPV6, LOWPORT to HIGHPORT or IN_LOWPORT to IN_HIGHPORT, TCP_FORWARDING_HOST), by TCP only.
"""

from __future__ import annotations

import binascii
import contextlib
import enum
import errno
import os
import re
import select
import socket
import stat
import time
from collections.abc import Callable, Collection, Sequence

import htcondor2

from condor_pydagman.adapters import cedar
from condor_pydagman.adapters.cedar import Ad, CedarError, Channel, KeyPair, MessageReader, Value
from condor_pydagman.adapters.knobs import lookup, truth
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message
from condor_pydagman.timers import (
    ACCEPT_RETRY_S,
    BUSY_CLIENT_TIMEOUT_S,
    CLIENT_TIMEOUT_S,
    REPORT_INTERVAL_S,
    SERVE_SLICE_S,
)

# The server side of a connection with one client, up to the ClassAd with its command.
#
# HTCondor's clients begin with DC_AUTHENTICATE: a ClassAd of what they support and require.  The
# reply says what will be done.  As stock DAGMan, the server requires nothing itself (the command is
# registered at ALLOW, and the secret in it is checked) and does what the client asks for:
#
# - encryption and integrity with AES for clients that support it, which all do since 9.0; -
# authentication only if the client requires it, by FS: it makes a directory, whose owner is
# checked; - a session is offered, but never resumed: the client is told to start a new one.
#
# A client that is configured not to negotiate sends its command at once, in the clear.

# HTCondor's numbers of commands
DC_AUTHENTICATE = 60010
DAGMAN_GENERIC = 61500  # a ClassAd each way
_DC_NOP = 60011
_REQUIRED = "REQUIRED"
MAX_TRIES = 4  # to authenticate; then the client is dropped
FS_METHOD = 4  # bit of the authentication method FS

_KEY_LABELS = ("htcondor", "keygen")  # salt and purpose of a session's key
_OFFERED = re.compile(r"[,\s]+")
_ENDPOINT = re.compile(r"[A-Za-z0-9\[\]:._-]{1,100}")


class _Step(enum.Enum):
    COMMAND = "what the client wants"
    METHODS = "which ways to authenticate the client knows"
    DIRECTORY = "the directory that the client has made"
    REQUEST = "the ClassAd"
    REPLY = "our answer"
    OVER = "nothing"


class Server(NamedTuple):
    """What all conversations have in common."""

    version: str  # HTCondor's version string, `$CondorVersion: ... $`.
    domain: str  # the pool's trust domain
    hosts: Collection[str]  # the server's addresses, as in DAG_Address
    port: int  # of the socket
    # returns a path that does not exist, at which a client makes a directory; the client adds the
    # address that it has connected to
    new_directory: Callable[[], str]
    is_proof: Callable[[str], bool]  # whether the client has made that directory
    new_key: Callable[[], KeyPair] = cedar.key_pair  # makes the key pair of one connection


class Conversation:
    """The protocol with one client: takes received bytes, gives bytes to send and the request."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._channel = Channel()
        self._step = _Step.COMMAND
        self._key = b""
        self._directory = ""
        self._tries = 0
        self._steps: dict[_Step, Callable[[MessageReader], Ad | None]] = {
            _Step.COMMAND: self._read_command,
            _Step.METHODS: self._choose_method,
            _Step.DIRECTORY: self._check_directory,
            _Step.REQUEST: self._read_request,
        }

    @property
    def out(self) -> bytearray:
        """Bytes to be sent; the sender removes those that it has sent."""
        return self._channel.out

    @property
    def over(self) -> bool:
        """Whether nothing more will be sent after `out`."""
        return self._step is _Step.OVER

    def feed(self, data: bytes) -> Ad | None:
        """Process received bytes; returns the client's request when it is complete.

        Raises:
            CedarError: the client is not valid, or can't be served.
        """
        self._channel.feed(data)
        while self._step in self._steps:
            message = self._channel.message()
            if message is None:
                return None
            request = self._steps[self._step](message)
            if request is not None:
                return request
        return None

    def reply(self, attributes: dict[str, Value]) -> None:
        """Answer the request."""
        self._channel.send(cedar.encode_ad(attributes, self._channel.encrypted))
        self._step = _Step.OVER

    def _read_command(self, message: MessageReader) -> Ad | None:
        command = message.integer()
        if command == DAGMAN_GENERIC:
            return self._read_request(message)
        if command != DC_AUTHENTICATE:
            raise CedarError(f"command {command} is not known here")
        wanted = message.ad()
        message.end()
        if cedar.value(wanted, "Command") != DAGMAN_GENERIC:
            raise CedarError(f"command {cedar.value(wanted, 'Command')} is not known here")
        if cedar.value(wanted, "UseSession") == "YES":
            self._refuse_session(wanted)
        else:
            self._negotiate(wanted)
        return None

    def _refuse_session(self, wanted: Ad) -> None:
        if cedar.value(wanted, "ResumeResponse") is not True:
            raise CedarError("a client resumes a session that we don't have")
        self._send_ad({"ReturnCode": "SID_NOT_FOUND", "RemoteVersion": self._server.version})
        self._step = _Step.OVER

    def _negotiate(self, wanted: Ad) -> None:
        policy: dict[str, Value] = {"Enact": "YES"}
        pair = self._agree_on_key(wanted)
        authenticate = _client_policy(wanted, "Authentication", pair is not None) == _REQUIRED
        for what in ("Integrity", "Encryption"):
            client_policy = _client_policy(wanted, what)
            if client_policy == _REQUIRED and pair is None:
                raise CedarError(f"a client insists on {what.lower()}, but offers no AES")
            wanted_so = client_policy in (_REQUIRED, "PREFERRED") or authenticate
            policy[what] = "YES" if pair is not None and wanted_so else "NO"
        if authenticate and "FS" not in _offered(wanted, "AuthMethods"):
            raise CedarError("a client insists on authentication, but not by FS, all we have")
        policy["TrustDomain"] = self._server.domain
        policy["RemoteVersion"] = self._server.version
        policy["Authentication"] = "YES" if authenticate else "NO"
        policy["AuthMethods"] = policy["AuthMethodsList"] = "FS"
        policy["SessionDuration"] = "60"
        policy["NegotiatedSession"] = True
        if pair is not None:
            policy["CryptoMethods"] = policy["CryptoMethodsList"] = "AES"
            policy["ECDHPublicKey"] = binascii.b2a_base64(pair.public, newline=False).decode()
        self._send_ad(policy)
        if authenticate:
            self._step = _Step.METHODS
        else:
            self._open_session("unauthenticated@unmapped")

    def _agree_on_key(self, wanted: Ad) -> KeyPair | None:
        import base64  # late: most DAGMans never have a client

        public = cedar.value(wanted, "ECDHPublicKey")
        if "AES" not in _offered(wanted, "CryptoMethods") or not isinstance(public, str):
            return None
        try:
            pair = self._server.new_key()
        except cedar.CryptoError as error:  # in the clear the secret would be visible
            raise CedarError(f"no encryption, since {error}") from None
        try:
            point = base64.b64decode(public, validate=True)
            secret = cedar.shared_secret(pair.private, point)
        except (binascii.Error, ValueError, cedar.CryptoError):
            raise CedarError("a client with a key that is none") from None
        salt, purpose = (word.encode("ascii") for word in _KEY_LABELS)
        self._key = cedar.hkdf(secret, salt, purpose)
        return pair

    def _choose_method(self, message: MessageReader) -> None:
        methods = message.integer()
        message.end()
        self._tries += 1
        if self._tries > MAX_TRIES:
            raise CedarError("a client that tries to authenticate again and again")
        if not methods & FS_METHOD:
            self._channel.send(cedar.encode_integer(0))
            self._step = _Step.OVER
            return
        self._channel.send(cedar.encode_integer(FS_METHOD))
        self._directory = self._server.new_directory()
        self._channel.send(cedar.encode_string(self._directory))
        self._step = _Step.DIRECTORY

    def _check_directory(self, message: MessageReader) -> None:
        failed, endpoint = message.integer(), message.string()
        message.end()
        ours = self._is_ours(endpoint)
        proven = not failed and ours and self._server.is_proof(self._directory + endpoint)
        self._channel.send(cedar.encode_integer(0 if proven else -1))
        if proven:
            self._channel.send(cedar.encode_integer(0))  # FS gives no key of its own
            self._open_session(f"dagman@{self._server.domain}")
        else:
            self._step = _Step.METHODS  # it may try another one

    def _is_ours(self, endpoint: str) -> bool:
        """Whether the client has connected to an address of this server, with nobody in between."""
        if not _ENDPOINT.fullmatch(endpoint):
            return False
        host, _, port = endpoint.rpartition(":")
        plain = host.strip("[]").replace("-", ":") if ":" in host or "[" in host else host
        return port == str(self._server.port) and (plain in self._server.hosts)

    def _open_session(self, user: str) -> None:
        """Encrypt from now on, if agreed, and let the client send its request."""
        if self._key:
            self._channel.encrypt(self._key)
        session: dict[str, Value] = {
            "Sid": f"dagman:{os.urandom(8).hex()}",
            "User": user,
            "ReturnCode": "AUTHORIZED",
            # Without DAGMAN_GENERIC, so that the session is not resumed.
            "ValidCommands": str(_DC_NOP),
        }
        self._send_ad(session)
        self._step = _Step.REQUEST

    def _send_ad(self, attributes: dict[str, Value]) -> None:
        self._channel.send(cedar.encode_ad(attributes, self._channel.encrypted))

    def _read_request(self, message: MessageReader) -> Ad:
        request = message.ad()
        message.end()
        self._step = _Step.REPLY
        return request


def _client_policy(wanted: Ad, what: str, has_key: bool = False) -> Value | None:
    """With a key, `AuthenticationNew` has precedence over `Authentication`, if the client sends
    it."""
    new = cedar.value(wanted, what + "New") if has_key else None
    return cedar.value(wanted, what) if new is None else new


def _offered(wanted: Ad, what: str) -> list[str]:
    listed = cedar.value(wanted, what)
    return _OFFERED.split(listed.upper()) if isinstance(listed, str) else []


MAX_CLIENTS = 64  # at a time
MAX_ACCEPTS = 16  # in one pass
_READ_BYTES = 8192  # at a time
_BACKLOG = 128


class Settings(NamedTuple):
    """Where to listen."""

    hosts: tuple[str, ...]  # the host's addresses, the primary one first
    everywhere: bool = False  # listen on all interfaces, not only on these
    ports: tuple[int, int] = (0, 0)  # lowest and highest to choose from; zeros: any
    alias: str = ""  # the host's name, '' if none
    forwarding: str = ""  # address in DAG_Address instead of the host's, '' if none
    directory: str = "/tmp"  # in which clients make directories to authenticate by FS


def settings(port: int | None = None) -> Settings:
    """The settings of the configuration; `port`: that of the command line (`-p`)."""
    low, high = _number("IN_LOWPORT"), _number("IN_HIGHPORT")
    if not (low and high):
        low, high = _number("LOWPORT"), _number("HIGHPORT")
    return Settings(
        hosts=_hosts(),
        everywhere=truth("BIND_ALL_INTERFACES") is not False,
        ports=(port, port) if port else (low, high) if 0 < low <= high else (0, 0),
        alias=_knob("NETWORK_HOSTNAME") or _knob("FULL_HOSTNAME"),
        forwarding=_forwarding(_knob("TCP_FORWARDING_HOST")),
        directory=_knob("FS_LOCAL_DIR") or "/tmp",
    )


def _hosts() -> tuple[str, ...]:
    """The host's addresses of both families; of one if NETWORK_INTERFACE is an address."""
    interface = _knob("NETWORK_INTERFACE")
    hosts = []
    for family, shape in ((4, r"[\d.]+"), (6, r"\[?[\da-fA-F:]*:[\da-fA-F:]*\]?")):
        off = truth(f"ENABLE_IPV{family}") is False
        other = re.fullmatch(r"[\da-fA-F:.\[\]]+", interface) and not re.fullmatch(shape, interface)
        address = _knob(f"IPV{family}_ADDRESS").strip("[]")
        if address and not off and not other:
            hosts.append(address)
    return tuple(hosts)


def _knob(name: str) -> str:
    value = lookup(name)
    return "" if value is None else value.strip()


def _number(name: str) -> int:
    text = _knob(name)
    return int(text) if text.isdigit() else 0


def _forwarding(name: str) -> str:
    try:
        return socket.gethostbyname(name) if name else ""
    except OSError:
        return name


def sinful(where: Settings, port: int) -> str:
    """The address for clients (DAG_Address): `<host:port?addrs=...&alias=...&noUDP>`."""
    hosts = (where.forwarding,) if where.forwarding else where.hosts
    bracketed = [f"[{host}]" if ":" in host else host for host in hosts]
    addresses = "+".join(f"{host.replace(':', '-')}-{port}" for host in bracketed)
    alias = f"&alias={where.alias}" if re.fullmatch(r"[\w.-]+", where.alias) else ""
    return f"<{bracketed[0]}:{port}?addrs={addresses}{alias}&noUDP>"


class Request:
    """A request of a client: its ClassAd `ad`, and `reply`, which answers it."""

    def __init__(self, ad: Ad, reply: Callable[[dict[str, Value]], None]) -> None:
        self.ad = ad
        self.reply = reply


class _Client:
    """One connection."""

    def __init__(self, connection: socket.socket, peer: str, server: Server) -> None:
        self.connection = connection
        self.peer = peer
        self.conversation = Conversation(server)
        self.accepted_at = time.monotonic()
        self.asked = False
        self.mask = 0


class ControlSocket:
    """Accepts clients and returns their requests.

    Args:
        listeners: descriptors of sockets that listen there already.

    Raises:
        OSError: no port can be bound.
    """

    def __init__(self, where: Settings, listeners: Sequence[int] = ()) -> None:
        self.where = where
        self._listeners = [socket.socket(fileno=fd) for fd in listeners] or _listen(where)
        port = self._listeners[0].getsockname()[1]
        self.address = sinful(where, port)  # the address for clients (DAG_Address)
        self._directory = where.directory
        self._server = Server(
            version=htcondor2.version(),
            domain=_knob("TRUST_DOMAIN") or _knob("UID_DOMAIN"),
            hosts=frozenset(filter(None, (*where.hosts, where.forwarding))),
            port=port,
            new_directory=lambda: _new_directory(where, port),
            is_proof=_is_proof,
        )
        self._clients: dict[int, _Client] = {}  # the oldest first
        self._poll = select.epoll()
        self._by_fd = {listener.fileno(): listener for listener in self._listeners}
        for descriptor in self._by_fd:
            self._poll.register(descriptor, select.EPOLLIN)
        self._accept_again_at = 0.0
        self._is_accepting = True
        self._refused = 0
        self._next_report_at = 0.0

    def fileno(self) -> int:
        """Readable when a client has connected or sent data."""
        return self._poll.fileno()

    @property
    def rests(self) -> bool:
        """Whether nobody is connected."""
        return self._is_accepting and not self._clients

    def descriptors(self) -> tuple[int, ...]:
        """Those of the sockets that listen."""
        return tuple(listener.fileno() for listener in self._listeners)

    def next_deadline(self) -> float | None:
        """When `work` is to be called even if nothing is readable (monotonic clock)."""
        times = [] if self._is_accepting or not self._accept_again_at else [self._accept_again_at]
        return min((*times, *map(self._overdue_at, self._clients.values())), default=None)

    def work(self, refused: Callable[[str], None] = lambda line: None) -> list[Request]:
        """Serve clients for at most SERVE_SLICE_S; returns their requests.

        `refused` is called with a line about invalid clients, at most every REPORT_INTERVAL_S.
        """
        begun, requests = time.monotonic(), []
        for client in list(self._clients.values()):
            if begun >= self._overdue_at(client):
                self._drop(client)
        for descriptor, _ in self._poll.poll(0):
            listener = self._by_fd.get(descriptor)
            if listener is not None:
                self._accept(listener)
            elif descriptor in self._clients:
                request = self._serve(self._clients[descriptor], refused)
                requests += [request] if request else []
            if time.monotonic() >= begun + SERVE_SLICE_S:
                break
        self._update_listening()
        return requests

    def close(self) -> None:
        """Close all connections; clients that wait for a reply get none."""
        for client in list(self._clients.values()):
            self._drop(client)
        for listener in self._listeners:
            listener.close()
        self._poll.close()

    def _overdue_at(self, client: _Client) -> float:
        is_busy = len(self._clients) >= MAX_CLIENTS and not client.asked
        return client.accepted_at + (BUSY_CLIENT_TIMEOUT_S if is_busy else CLIENT_TIMEOUT_S)

    def _update_listening(self) -> None:
        now = time.monotonic()
        if now >= self._accept_again_at:
            self._accept_again_at = 0.0
        accepting = len(self._clients) < MAX_CLIENTS and not self._accept_again_at
        if accepting != self._is_accepting:
            self._is_accepting = accepting
            for descriptor in self._by_fd:
                self._poll.modify(descriptor, select.EPOLLIN if accepting else 0)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(min(MAX_ACCEPTS, MAX_CLIENTS - len(self._clients))):
            try:
                connection, peer = listener.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    self._accept_again_at = time.monotonic() + ACCEPT_RETRY_S
                return
            connection.setblocking(False)
            client = _Client(connection, str(peer[0]), self._server)
            self._clients[connection.fileno()] = client
            client.mask = select.EPOLLIN
            self._poll.register(connection.fileno(), client.mask)

    def _serve(self, client: _Client, refused: Callable[[str], None]) -> Request | None:
        ad = None
        try:
            if not client.asked:
                data = client.connection.recv(_READ_BYTES)
                if not data:
                    self._drop(client)
                    return None
                ad = client.conversation.feed(data)
            elif not client.conversation.out:  # the kernel says that the client has gone
                self._drop(client)
                return None
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return None
        except Exception as error:  # whatever it is, no stranger may end the DAG with it
            reason = str(error) if isinstance(error, CedarError) else f"a bug of ours: {error!r}"
            self._report(client.peer, reason, refused)
            self._drop(client)
            return None
        client.asked = client.asked or ad is not None
        self._send(client)
        return None if ad is None else Request(ad, lambda answer: self._reply(client, answer))

    def _reply(self, client: _Client, answer: dict[str, Value]) -> None:
        if self._clients.get(client.connection.fileno()) is client:
            client.conversation.reply(answer)
            self._send(client)

    def _send(self, client: _Client) -> None:
        """Send as much as the kernel accepts; then wait for more, or close the connection."""
        out = client.conversation.out
        try:
            while out:
                del out[: client.connection.send(out)]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return
        if client.conversation.over and not out:
            self._drop(client)
            return
        mask = select.EPOLLOUT if out else 0 if client.asked else select.EPOLLIN
        if mask != client.mask:
            client.mask = mask
            self._poll.modify(client.connection.fileno(), mask)

    def _drop(self, client: _Client) -> None:
        if self._clients.pop(client.connection.fileno(), None) is not None:
            client.connection.close()  # which takes it out of the poll as well

    def _report(self, peer: str, reason: str, refused: Callable[[str], None]) -> None:
        now = time.monotonic()
        self._refused += 1
        if now >= self._next_report_at:
            more = f" (and {self._refused - 1} other times)" if self._refused > 1 else ""
            said = message(reason)  # not trusted: it must not add lines to the log
            refused(f"Warning: the command socket refused a client at {peer}: {said}{more}")
            self._refused, self._next_report_at = 0, now + REPORT_INTERVAL_S


def _listen(where: Settings) -> list[socket.socket]:
    """A socket for each address family, all with the same port."""
    low, high = where.ports
    start = low + int.from_bytes(os.urandom(8), "big") % (high - low + 1)
    ports = [*range(start, high + 1), *range(low, start)] if low else [0] * 16
    error: OSError = OSError(errno.EADDRNOTAVAIL, "no address to listen at")
    for port in ports:
        try:
            return _bound(where, port)
        except OSError as problem:
            error = problem
    raise error


def _bound(where: Settings, port: int) -> list[socket.socket]:
    with contextlib.ExitStack() as stack:
        listeners: list[socket.socket] = []
        for host in where.hosts:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.socket(family, socket.SOCK_STREAM)
            stack.callback(listener.close)
            listener.setblocking(False)
            if port:  # connections of an earlier DAGMan may be in TIME_WAIT
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            every = "::" if family == socket.AF_INET6 else "0.0.0.0"
            listener.bind((every if where.everywhere else host, port))
            port = listener.getsockname()[1]
            listeners.append(listener)
        for listener in listeners:
            listener.listen(_BACKLOG)
        if not listeners:
            raise OSError(errno.EADDRNOTAVAIL, "no address to listen at")
        stack.pop_all()
        return listeners


def _new_directory(where: Settings, port: int) -> str:
    host = where.hosts[0].replace(":", "-")
    return os.path.join(where.directory, f"FS_{host}_{port}_XXX{os.urandom(8).hex()}_")


def _is_proof(path: str) -> bool:
    """Whether the path is a directory that only its owner can use: stock's rule."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    private = stat.S_IMODE(found.st_mode) == 0o700
    return stat.S_ISDIR(found.st_mode) and private and found.st_nlink in (1, 2)
