"""Files of ssh servers, by paramiko.

The host must be in known_hosts: a key that nobody has seen is never accepted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.placement.endpoints.endpoint import (
    EMPTY,
    NO_FILE,
    Closing,
    Entry,
    check_depth,
    linked_file,
    unless,
)
from condor_pydagman.placement.endpoints.library_faults import (
    LibraryReader,
    LibraryWriter,
    fault_of,
)
from condor_pydagman.placement.way import Surroundings

INSTALL = "pip install 'condor_pydagman[transfer]'"
BLOCK_BYTES = 32768  # of one request; more is not answered by all servers
WINDOW_BYTES = 8 << 20  # that are asked for at once
WAIT_S = 1.0  # at most, between looks at whether the worker is to stop
SYSTEM_HOSTS = "/etc/ssh/ssh_known_hosts"


def why_unusable() -> str:
    """Why there is no sftp, and what to do about it; '' if there is."""
    try:
        import paramiko  # noqa: F401
    except ImportError as error:
        return f"for sftp, paramiko is needed ({error}): {INSTALL}"
    return ""


class SftpFiles(Closing):
    """An `Endpoint` for one ssh server."""

    can_list = can_append = can_rename = True
    appears_whole = False

    def __init__(self, url: Url, surroundings: Surroundings, credential: str) -> None:
        self._url = url
        self._surroundings = surroundings
        self._credential = credential
        self._client: Any = None
        self._sftp_client: Any = None

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        with unless(FaultKind.MISSING), self._errors(url):
            return _entry("", self._sftp().stat(url.path))
        return None

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = url.path.rstrip("/")
        waiting = [""]
        while waiting:
            directory = waiting.pop()
            check_depth(directory, url)
            with self._errors(url):
                found = self._sftp().listdir_attr(f"{root}/{directory}")
            if not found:
                self.leaves_out(directory, EMPTY)
            for one in found:
                relative = f"{directory}{one.filename}"
                mode = one.st_mode or 0
                if stat.S_ISDIR(mode):
                    waiting += [relative + "/"] * deep
                elif stat.S_ISREG(mode):
                    yield _entry(relative, one)
                elif stat.S_ISLNK(mode) and (target := linked_file(self, url.child(relative))):
                    yield target._replace(path=relative)
                else:
                    self.leaves_out(relative, NO_FILE)

    def read(self, url: Url, offset: int) -> SftpReader:
        """See `Endpoint`."""
        with self._errors(url):
            file = self._sftp().open(url.path, "rb")
            entry = _entry("", file.stat())
            if entry.is_directory:
                file.close()
                raise no_file(url)
            file.seek(offset)
        return SftpReader(file, entry, offset, lambda: self._errors(url))

    def write(self, url: Url, offset: int, size: int | None) -> LibraryWriter:
        """See `Endpoint`."""
        with self._errors(url):
            self._make_directories(url)
            file = self._sftp().open(url.path, "ab" if offset else "wb")
            file.set_pipelined(True)
        return LibraryWriter(file, lambda: self._errors(url))

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`; in one step, by an extension that OpenSSH has."""
        with self._errors(to):
            try:
                self._sftp().posix_rename(url.path, to.path)
            except OSError as error:
                if "nsupported" not in str(error):
                    raise
                with contextlib.suppress(OSError):
                    self._sftp().remove(to.path)
                self._sftp().rename(url.path, to.path)

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        with unless(FaultKind.MISSING), self._errors(url):
            self._sftp().remove(url.path)

    def close(self) -> None:
        """See `Endpoint`."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.close()
        self._client = self._sftp_client = None

    def _sftp(self) -> Any:
        if self._sftp_client is None:
            import paramiko

            settings = self._surroundings.settings
            client = paramiko.SSHClient()
            home = self._surroundings.environment.get("HOME") or os.path.expanduser("~")
            for path in (SYSTEM_HOSTS, f"{home}/.ssh/known_hosts"):
                with contextlib.suppress(OSError):
                    client.load_system_host_keys(path)
            client.set_missing_host_key_policy(paramiko.RejectPolicy())
            self._client = client
            client.connect(
                self._url.host,
                self._url.port or 22,
                self._url.user or self._surroundings.environment.get("USER") or None,
                self._url.password or None,
                key_filename=self._keys(home),
                timeout=settings.connect_timeout_s,
                banner_timeout=settings.connect_timeout_s,
                auth_timeout=settings.connect_timeout_s,
                look_for_keys=False,
                allow_agent=not self._url.password,
            )
            self._sftp_client = client.open_sftp()
            self._sftp_client.sock = _Channel(self._sftp_client.get_channel(), self._surroundings)
        return self._sftp_client

    def _keys(self, home: str) -> list[str]:
        """Files of keys: that of `cred_name`, or the usual ones."""
        if self._credential:
            return [self._credential]
        names = ("id_ed25519", "id_ecdsa", "id_rsa")
        return [path for path in (f"{home}/.ssh/{name}" for name in names) if os.path.exists(path)]

    def _make_directories(self, url: Url) -> None:
        parent = url.sibling("").path.rstrip("/")
        missing = []
        while parent and self.look(url._replace(path=parent)) is None:
            missing.append(parent)
            parent = parent.rpartition("/")[0]
        for path in reversed(missing):
            with contextlib.suppress(OSError):  # another placement has made it
                self._sftp().mkdir(path)

    @contextlib.contextmanager
    def _errors(self, url: Url) -> Iterator[None]:
        try:
            yield
        except Fault:
            raise
        except Exception as error:
            fault = self._fault(error, url)
            if fault.transient or fault.kind is FaultKind.DENIED:
                self.close()
            raise fault from None

    def _fault(self, error: Exception, url: Url) -> Fault:
        import paramiko

        server = self._url.server
        text = masked_text(str(error))
        if isinstance(error, (paramiko.BadHostKeyException, paramiko.AuthenticationException)):
            return Fault(FaultKind.DENIED, f"{server}: {text}")
        if isinstance(error, paramiko.SSHException) and "known_hosts" in text:
            advice = (
                f"compare its key and add it: ssh-keyscan {self._url.host} >> ~/.ssh/known_hosts"
            )
            return Fault(FaultKind.DENIED, f"{server}: its key is not known; {advice}")
        if isinstance(error, paramiko.PasswordRequiredException):
            return Fault(FaultKind.DENIED, f"{server}: the key has a passphrase; use an agent")
        if isinstance(error, socket.timeout):
            return Fault(FaultKind.SERVER, f"{server}: no data for long", host=server)
        if isinstance(error, OSError) and error.errno is None and text == "Failure":
            # All that the protocol (version 3) says of a full disk, and of much else.
            return Fault(FaultKind.DESTINATION, f"{url}: the server says: failure", transient=True)
        if isinstance(error, OSError) and error.errno == errno.EACCES:
            return Fault(FaultKind.DENIED, f"{url}: {text}")
        return fault_of(error, url, server)


class _Channel:
    """What paramiko sends and receives by, without waiting for longer than a server may stall, nor
    for long if the worker is to stop."""

    def __init__(self, channel: Any, surroundings: Surroundings) -> None:
        self._channel = channel
        self._surroundings = surroundings
        channel.settimeout(min(WAIT_S, surroundings.settings.stall_timeout_s))

    def recv(self, size: int) -> bytes:
        """Some bytes; none at the end."""
        return bytes(self._patiently(self._channel.recv, size))

    def send(self, data: bytes) -> int:
        """Send a part; how much it was."""
        return int(self._patiently(self._channel.send, data))

    def _patiently(self, do: Callable[[Any], Any], what: Any) -> Any:
        end = time.monotonic() + self._surroundings.settings.stall_timeout_s
        while True:
            try:
                return do(what)
            except socket.timeout:
                self._surroundings.check_stop()
                if time.monotonic() >= end:
                    raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)


class SftpReader(LibraryReader):
    """Asks for many blocks at once."""

    _blocks: Iterator[bytes] = iter(())

    def _block(self) -> bytes:
        """Not by `prefetch`, which sleeps when it may ask for no more: 5 MB/s (measured)."""
        block = next(self._blocks, b"")
        if block:
            return block
        end = min(self._at + WINDOW_BYTES, self.size or 0)
        if self._at >= end:
            self._file.seek(self._at)
            return bytes(self._file.read(BLOCK_BYTES))
        places = [(at, min(BLOCK_BYTES, end - at)) for at in range(self._at, end, BLOCK_BYTES)]
        self._at = end
        self._blocks = iter(self._file.readv(places))
        return next(self._blocks)


def _entry(path: str, found: Any) -> Entry:
    version = f"{found.st_mtime}.{found.st_size}"
    return Entry(path, found.st_size, stat.S_ISDIR(found.st_mode or 0), version)
