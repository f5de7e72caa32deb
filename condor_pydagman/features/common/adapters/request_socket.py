"""The local socket on which a running DAGMan takes requests of its own user and root: lines of
JSON.

It is in Linux's abstract namespace (unix(7)): there is no file to be left behind, planted, too
long a path, or on NFS.  Its name follows from the user and the DAG file, so clients find it.  Each
side asks the kernel who the other one is (SO_PEERCRED): DAGMan talks to its own user and root, a
client to its own user, and root to the owner of the DAG's `.dagman.out`.  If somebody else has the
name, the next of MAX_NAMES is taken, and if he has them all, one with an end that nobody can
foresee; then clients look for it among the kernel's sockets.

Nothing blocks: data are read when the kernel reports them, and requests are given out, one of each
client in turn, for at most SERVE_SLICE_S seconds per pass of the loop; a client that does not read
its answers is dropped.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import socket
import stat
import struct
import time
import zlib
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.adapters.files import OVERFLOW_UID
from condor_pydagman.timers import CONNECT_RETRY_S, SERVE_SLICE_S

VERSION = 1  # of the protocol
MAX_NAMES = 4
_RANDOM_BYTES = 16  # of a name that nobody can foresee
_ALL_SOCKETS = "/proc/net/unix"
MAX_CLIENTS = 64
MAX_ACCEPTS = 16  # in one pass
MAX_LINE_BYTES = 4 << 20  # some 100,000 names
MAX_UNREAD_BYTES = 4 << 20  # of answers that a client has not read
_READ_BYTES = 65536
_ROOT = 0
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


def answer_line(identity: str | int | None, fields: Mapping[str, Any]) -> bytes:
    """An answer to the request with that id."""
    return json.dumps({"version": VERSION, "id": identity, **fields}).encode("ascii") + b"\n"


def addresses(dag_file: str, uid: int) -> Iterator[bytes]:
    """The names of the socket of a DAG, in the order in which they are tried.

    `dag_file`: as it was submitted; links are resolved.
    """
    beginning = _beginning(dag_file, uid)
    for number in range(MAX_NAMES):
        yield beginning + str(number).encode()


def _beginning(dag_file: str, uid: int) -> bytes:
    path = os.fsencode(os.path.realpath(dag_file))
    place = f"{zlib.crc32(path):08x}{zlib.crc32(path[::-1], 1):08x}"
    return f"\0condor_pydagman/{uid}/{place}/".encode()


def existing(dag_file: str, uid: int) -> set[bytes]:
    """The names of the DAG's socket that anybody has, those with an unforeseeable end among
    them."""
    beginning = _beginning(dag_file, uid)
    wanted = b" @" + beginning[1:]
    names = set()
    with contextlib.suppress(OSError), open(_ALL_SOCKETS, "rb") as file:
        for line in file:
            _, found, end = line.rstrip(b"\n").partition(wanted)
            if found:
                names.add(beginning + end)
    return names


def peer_uid(connection: socket.socket) -> int:
    """The user of the process at the other end, when it connected or listened; -1 if that can't be
    told (user_namespaces(7), "Unmapped user and group IDs")."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    uid = int(_CREDENTIALS.unpack(raw)[1])
    return -1 if uid == OVERFLOW_UID and not _has_all_users() else uid


def _has_all_users() -> bool:
    """Whether every user has a number in this process's user namespace."""
    with open("/proc/self/uid_map", "rb") as file:
        return file.read().split() == [b"0", b"0", b"4294967295"]


class Client:
    """One connection, of the user `uid`."""

    def __init__(self, connection: socket.socket, uid: int) -> None:
        self.connection, self.uid = connection, uid
        self.closed = False  # whether it is over; answers to it are dropped
        self.lines: deque[bytes] = deque()  # whole ones that have come
        self._received = bytearray()
        self._unsent = bytearray()

    def receive(self) -> None:
        """Read lines; sets `closed` at the end, or if a line is too long."""
        try:
            data = self.connection.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return
        self._received += data
        if b"\n" not in data:
            self.closed = len(self._received) > MAX_LINE_BYTES
            return
        *lines, rest = bytes(self._received).split(b"\n")
        self._received = bytearray(rest)
        self.lines.extend(line for line in lines if line.strip())

    def send(self, data: bytes) -> None:
        """Send as much as goes out at once; the rest when the client has read."""
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Send what goes out now."""
        try:
            while self._unsent:
                count = self.connection.send(self._unsent)
                del self._unsent[:count]
        except BlockingIOError:
            self.closed |= len(self._unsent) > MAX_UNREAD_BYTES
        except OSError:
            self.closed = True

    @property
    def waits(self) -> bool:
        """Whether something is still to be sent."""
        return bool(self._unsent) and not self.closed


class RequestSocket:
    """Listens, and reads lines.

    Args:
        dag_file: of the DAG.
        listener: descriptor of a socket that listens there already; -1: none does.

    Raises:
        OSError: there can be no socket.
    """

    def __init__(self, dag_file: str, listener: int = -1) -> None:
        self._uid = os.geteuid()
        self._clients: dict[int, Client] = {}
        there = listener >= 0
        self.listener = socket.socket(fileno=listener) if there else _listening(dag_file, self._uid)
        self._epoll = select.epoll()
        self._epoll.register(self.listener, select.EPOLLIN)
        self._ready: deque[Client] = deque()  # lines of theirs wait

    def fileno(self) -> int:
        """Readable when `work` is to be called."""
        return self._epoll.fileno()

    @property
    def rests(self) -> bool:
        """Whether nobody is connected."""
        return not self._clients

    @property
    def ready(self) -> bool:
        """Whether lines wait."""
        return bool(self._ready)

    def work(self) -> None:
        """Read what clients have sent; not of those whose lines wait already."""
        until = time.monotonic() + SERVE_SLICE_S
        for fd, events in self._epoll.poll(0):
            if fd == self.listener.fileno():
                self._accept()
                continue
            client = self._clients[fd]
            if events & select.EPOLLOUT:
                client.flush()
            if events & ~select.EPOLLOUT and not client.lines:
                client.receive()
                if client.lines:
                    self._ready.append(client)
            self._settle(fd, client)
            if time.monotonic() > until:
                break  # the kernel reports the others again

    def lines(self) -> Iterator[tuple[Client, bytes]]:
        """Lines of clients, one of each in turn, until their time is over; at least one."""
        until = time.monotonic() + SERVE_SLICE_S
        while self._ready:
            client = self._ready.popleft()
            line = client.lines.popleft()
            if client.lines:
                self._ready.append(client)
            yield client, line
            if time.monotonic() > until:
                return

    def answer(self, client: Client, data: bytes) -> None:
        """Send an answer, unless the client has gone."""
        if not client.closed:
            client.send(data)
            self._settle(client.connection.fileno(), client)

    def hand_over(self, client: Client) -> socket.socket | None:
        """Give a client's connection away; None if it has gone, or has not read its answers."""
        if client.closed or client.waits:
            return None
        client.closed = True
        fd = client.connection.fileno()
        del self._clients[fd]
        self._epoll.unregister(fd)
        return client.connection

    def close(self) -> None:
        """End all connections."""
        for client in self._clients.values():
            client.closed = True
            client.connection.close()
        self._clients.clear()
        self.listener.close()
        self._epoll.close()

    def _accept(self) -> None:
        for _ in range(MAX_ACCEPTS):
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            uid = peer_uid(connection)
            if uid not in (self._uid, _ROOT) or len(self._clients) >= MAX_CLIENTS:
                connection.close()
                continue
            connection.setblocking(False)
            self._clients[connection.fileno()] = Client(connection, uid)
            self._epoll.register(connection, select.EPOLLIN)

    def _settle(self, fd: int, client: Client) -> None:
        """Watch for what the client is waited for; end it if it is over."""
        if not client.closed:
            wanted = select.EPOLLIN | (select.EPOLLOUT if client.waits else 0)
            self._epoll.modify(fd, wanted)
        elif self._clients.pop(fd, None) is not None:
            self._epoll.unregister(fd)
            client.connection.close()


def _listening(dag_file: str, uid: int) -> socket.socket:
    random = _beginning(dag_file, uid) + os.urandom(_RANDOM_BYTES).hex().encode()
    for address in (*addresses(dag_file, uid), random):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            made.bind(address)
            made.listen(MAX_CLIENTS)
            made.setblocking(False)
            return made
        except OSError as error:
            made.close()
            if error.errno != errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRINUSE, "somebody else has all names of it")


def connected(dag_file: str, timeout_s: float) -> socket.socket | None:
    """A connection to the DAGMan of a DAG that is the caller's own, or of any user's for root; None
    if there is none.

    `timeout_s`: how long to wait while too many others wait for a connection, and later for data.
    """
    uid, until = _user_of(dag_file), time.monotonic() + timeout_s
    while True:
        are_waiting = False
        for name in _names(dag_file, uid):
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.settimeout(timeout_s)
            try:
                made.connect(name)
                if peer_uid(made) == uid:
                    return made
            except OSError as error:
                are_waiting |= error.errno == errno.EAGAIN
            made.close()
        if not are_waiting or time.monotonic() > until:
            return None
        time.sleep(CONNECT_RETRY_S)


def _user_of(dag_file: str) -> int:
    """Whose DAGMan a client talks to.  Links may be another user's, to files of a third one."""
    uid = os.geteuid()
    for name in (f"{dag_file}.dagman.out", dag_file) if uid == _ROOT else ():
        with contextlib.suppress(OSError):
            found = os.lstat(name)
            if stat.S_ISREG(found.st_mode):
                return found.st_uid
    return uid


def _names(dag_file: str, uid: int) -> Iterator[bytes]:
    """The usual names, then those with an end that nobody can foresee."""
    yield from addresses(dag_file, uid)
    yield from existing(dag_file, uid).difference(addresses(dag_file, uid))
