"""Files of ftp servers, by Python's own client (RFC 959, 3659); `ftps` is ftp over TLS.

Lines are read as Latin-1, which takes every byte: names are UTF-8 as a rule, messages often are
not.  What a server makes as long as it likes has limits.
"""

from __future__ import annotations

import contextlib
import ftplib
import socket
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.transfer.endpoints.endpoint import (
    Closing,
    Entry,
    check_depth,
    no_file,
    whole_number,
)
from condor_pydagman.transfer.endpoints.http_credentials import tls_context
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Surroundings

MAX_LINES = 1000  # of an answer
MAX_LISTING_BYTES = 64 << 20
# Answers that mean something lasting; other 5xx as well, all 4xx may pass.
_KINDS = {
    "530": FaultKind.DENIED,
    "532": FaultKind.DENIED,
    "550": FaultKind.MISSING,
    "551": FaultKind.MISSING,
    "552": FaultKind.NO_SPACE,
    "553": FaultKind.DESTINATION,
    "452": FaultKind.NO_SPACE,
}
_OF_FILE = ("426", "450", "451")  # of the answers that may pass, these tell nothing of the server


class FtpFiles(Closing):
    """An `Endpoint` for one ftp server."""

    can_list = can_append = can_rename = True
    appears_whole = False

    def __init__(self, url: Url, surroundings: Surroundings) -> None:
        self._url = url
        self._surroundings = surroundings
        self._connection: ftplib.FTP | None = None

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        with self._errors(url):
            ftp = self._ftp()
            try:
                size = ftp.size(_word(url.path))
            except ftplib.error_perm as error:
                if not str(error).startswith(("550", "553", "501")):
                    raise
                return Entry("", None, True) if self._is_directory(url) else None
            return Entry("", size, False, self._changed(url))

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = url.path.rstrip("/")
        waiting = [""]
        while waiting:
            directory = waiting.pop()
            check_depth(directory, url)
            with self._errors(url):
                found = list(self._ftp().mlsd(_word(f"{root}/{directory}")))
            for text, facts in found:
                name = _decoded(text)
                if name in (".", "..") or facts.get("type") in ("cdir", "pdir"):
                    continue
                relative = f"{directory}{name}"
                if facts.get("type") == "dir":
                    waiting += [relative + "/"] * deep
                elif facts.get("type") == "file":
                    size = whole_number(facts.get("size", ""))
                    yield Entry(relative, size, False, facts.get("modify", ""))

    def read(self, url: Url, offset: int) -> FtpReader:
        """See `Endpoint`."""
        found = self.look(url)
        if found is None:
            raise Fault(FaultKind.MISSING, f"{url} is not there")
        if found.is_directory:
            raise no_file(url)
        with self._errors(url):
            data = self._ftp().transfercmd(f"RETR {_word(url.path)}", rest=offset or None)
            data.settimeout(self._surroundings.settings.stall_timeout_s)
        return FtpReader(self, data, found, offset, url)

    def write(self, url: Url, offset: int, size: int | None) -> FtpWriter:
        """See `Endpoint`."""
        with self._errors(url):
            self._make_directories(url)
            word = "APPE" if offset else "STOR"
            data = self._ftp().transfercmd(f"{word} {_word(url.path)}")
            data.settimeout(self._surroundings.settings.stall_timeout_s)
        return FtpWriter(self, data, url)

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`."""
        with self._errors(to):
            self._ftp().rename(_word(url.path), _word(to.path))

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        try:
            with self._errors(url):
                self._ftp().delete(_word(url.path))
        except Fault as fault:
            if fault.kind is not FaultKind.MISSING:
                raise

    def copy(self, url: Url, to: Url) -> bool:
        """See `Endpoint`; ftp can't."""
        return False

    def end_transfer(self, data: socket.socket, url: Url) -> None:
        """The data connection is at its end: what does the server say?"""
        with self._errors(url):
            data.close()
            self._ftp().voidresp()

    def break_off(self, data: socket.socket) -> None:
        """A transfer is given up; the connection is of no use any more."""
        with contextlib.suppress(OSError):
            data.close()
        self.close()

    def close(self) -> None:
        """See `Endpoint`."""
        if self._connection is not None:
            with contextlib.suppress(OSError, EOFError, *ftplib.all_errors):
                self._connection.close()
        self._connection = None

    def _ftp(self) -> ftplib.FTP:
        if self._connection is not None:
            return self._connection
        url, settings = self._url, self._surroundings.settings
        ftp: ftplib.FTP = _Bounded(timeout=settings.connect_timeout_s)
        if url.scheme == "ftps":
            context = tls_context(self._surroundings.environment)
            timeout = settings.connect_timeout_s
            ftp = _FtpTls(context=context, timeout=timeout)
        ftp.encoding = "latin-1"
        try:
            ftp.connect(url.host, url.port or 21)
            password = url.password or ("" if url.user else "anonymous@")
            ftp.login(_word(url.user or "anonymous"), _word(password))
            if isinstance(ftp, ftplib.FTP_TLS):
                ftp.prot_p()
            ftp.voidcmd("TYPE I")
            assert ftp.sock is not None
            ftp.sock.settimeout(settings.stall_timeout_s)
        except BaseException:
            ftp.close()
            raise
        self._connection = ftp
        return ftp

    def _is_directory(self, url: Url) -> bool:
        try:
            self._ftp().cwd(_word(url.path))
            self._ftp().cwd("/")
        except ftplib.error_perm:
            return False
        return True

    def _changed(self, url: Url) -> str:
        try:
            return self._ftp().voidcmd(f"MDTM {_word(url.path)}")[4:]
        except ftplib.error_perm:
            return ""

    def _make_directories(self, url: Url) -> None:
        parts = url.path.strip("/").split("/")[:-1]
        if not parts or self._is_directory(url.sibling("")):
            return
        path = ""
        for part in parts:
            path += f"/{part}"
            with contextlib.suppress(ftplib.error_perm):  # it is there
                self._ftp().mkd(_word(path))

    @contextlib.contextmanager
    def _errors(self, url: Url) -> Iterator[None]:
        try:
            yield
        except ftplib.Error as error:
            text = masked_text(_decoded(str(error), "replace"))
            code = text[:3]
            if not code.isdigit() or (code.startswith("4") and code != "452"):
                self.close()
                raise self._broken(url, text, is_of_file=code in _OF_FILE) from None
            kind = _KINDS.get(code, FaultKind.REFUSED)
            if kind is FaultKind.MISSING and "denied" in text.lower():
                kind = FaultKind.DENIED
            if kind is FaultKind.MISSING and "space" in text.lower():
                kind = FaultKind.NO_SPACE
            raise Fault(kind, f"{url}: {text}", transient=False) from None
        except (OSError, EOFError) as error:
            self.close()
            text = getattr(error, "strerror", None) or str(error) or "the connection was broken off"
            raise self._broken(url, str(text)) from None
        except ValueError:  # a number that is none
            self.close()
            raise self._broken(url, "it sends an answer that makes no sense") from None

    def _broken(self, url: Url, text: str, *, is_of_file: bool = False) -> Fault:
        host = "" if is_of_file else self._url.server
        return Fault(FaultKind.SERVER, f"{url}: {text}", host=host)


class FtpReader:
    """An open source; see `endpoint.Reader`."""

    def __init__(
        self, files: FtpFiles, data: socket.socket, entry: Entry, offset: int, url: Url
    ) -> None:
        self._files = files
        self._data: socket.socket | None = data
        self._url = url
        self.offset = offset
        self.size = entry.size
        self.version = entry.version
        self.checksums: dict[str, str] = {}
        self._left = None if entry.size is None else entry.size - offset

    def readinto(self, buffer: memoryview) -> int:
        """See `endpoint.Reader`."""
        if self._data is None:
            return 0
        with self._files._errors(self._url):
            count = self._data.recv_into(buffer)
        if self._left is not None:
            self._left -= count
        if not count:
            data, self._data = self._data, None
            self._files.end_transfer(data, self._url)
            if self._left:
                raise self._files._broken(self._url, f"{self._left} bytes are missing at the end")
        return count

    def close(self) -> None:
        """See `endpoint.Reader`."""
        if self._data is not None:
            self._files.break_off(self._data)
            self._data = None


class FtpWriter:
    """An open destination; see `endpoint.Writer`."""

    def __init__(self, files: FtpFiles, data: socket.socket, url: Url) -> None:
        self._files = files
        self._data = data
        self._url = url

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        with self._files._errors(self._url):
            self._data.sendall(data)

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        self._files.end_transfer(self._data, self._url)

    def abort(self) -> None:
        """See `endpoint.Writer`."""
        self._files.break_off(self._data)


class _Bounded(ftplib.FTP):
    """A client whose server does not decide how much is read."""

    _lines = 0

    def getresp(self) -> str:
        self._lines = 0
        return super().getresp()

    def getline(self) -> str:
        self._lines += 1
        if self._lines > MAX_LINES:
            raise ftplib.error_reply("it sends an answer without end")  # noqa: S321
        return super().getline()

    def retrlines(self, cmd: str, callback: Callable[[str], Any] | None = None) -> str:
        size = 0

        def bounded(line: str) -> None:
            nonlocal size
            size += len(line) + 2
            if size > MAX_LISTING_BYTES:
                reason = f"it sends a list of more than {MAX_LISTING_BYTES >> 20} MB"
                raise ftplib.error_reply(reason)  # noqa: S321
            if callback is not None:
                callback(line)

        return super().retrlines(cmd, bounded)


class _FtpTls(_Bounded, ftplib.FTP_TLS):
    pass


def _word(text: str) -> str:
    """A path, a user or a password in a command: a line of its own.

    Raises:
        Fault: it has an end of line, or characters that are no text.
    """
    if "\r" in text or "\n" in text:
        raise Fault(FaultKind.REQUEST, "ftp can't transfer a name with an end of line")
    try:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    except UnicodeEncodeError:
        raise Fault(FaultKind.REQUEST, "a name has characters that are no text") from None


def _decoded(text: str, errors: str = "surrogateescape") -> str:
    """What a server has sent; as a path of Python's, unless `errors` says otherwise."""
    return text.encode("latin-1", "replace").decode("utf-8", errors)
