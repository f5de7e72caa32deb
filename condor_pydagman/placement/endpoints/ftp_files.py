"""Files of ftp servers, by libcurl (RFC 959, 3659); `ftps` is ftp over TLS (RFC 4217).

Paths are absolute, and commands have the whole of them, but where a file is written: there libcurl
goes from directory to directory, as it makes those that are missing.

Directories are listed by MLSD (RFC 3659), or by LIST, which no standard describes: it is read as
curl does, as `ls -l` and Windows write it.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pycurl

from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.placement.endpoints.endpoint import (
    EMPTY,
    NO_FILE,
    Closing,
    Entry,
    check_count,
    check_depth,
    linked_file,
    unless,
    whole_number,
)
from condor_pydagman.placement.endpoints.libcurl import Session, ascii_host, tls_options
from condor_pydagman.placement.endpoints.proxies import proxy_options
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.printable import message, printable

# mode; links, owner and group, of which servers leave some out; size; two of three: month, day,
# year or time; name
_UNIX = re.compile(
    r"([-a-z])[-rwxsStTlL]{9}[.+@]?\s+(?:\S+\s+){0,6}?(\d+)\s+"
    r"(?:[^\W\d]{3,5}\.?\s+\d{1,2}|\d{1,2}\.?\s+[^\W\d]{3,5}|\d{4}-\d\d-\d\d)\s+"
    r"(?:\d{4}|\d{1,2}:\d\d(?::\d\d)?)\s(.+)",
    re.DOTALL,
)
_WINDOWS = re.compile(
    r"\d\d-\d\d-(?:\d\d){1,2}\s+\d\d:\d\d(?:[AP]M)?\s+(?:<(\w+)>\s+|(\d+)\s)(.+)", re.DOTALL
)
_NO_ENTRY = re.compile(r"total \d+")
_TYPES = {"-": "file", "d": "dir", "l": "link"}
Facts = Mapping[str, str]  # by name: "type", "size", "modify"


def facts_of_mlsd(line: str) -> tuple[str, Facts] | None:
    """Name and facts of a line of MLSD; None if it is of the directory itself, or its parent."""
    told, _, name = line.partition(" ")
    words = (fact.partition("=") for fact in told.rstrip(";").split(";"))
    facts = {key.lower(): value for key, _, value in words}
    return None if facts.get("type", "").lower() in ("cdir", "pdir") else (name, facts)


def facts_of_list(line: str, directory: object) -> tuple[str, Facts] | None:
    """Name and facts of a line of LIST; None if it is of no file.

    Raises:
        Fault: it can't be read.
    """
    if found := _UNIX.fullmatch(line):
        kind, size, name = _TYPES.get(found[1], "other"), found[2], found[3]
        return (name.partition(" -> ")[0] if kind == "link" else name), {"type": kind, "size": size}
    if found := _WINDOWS.fullmatch(line):
        kind = {None: "file", "DIR": "dir"}.get(found[1], "link")
        return found[3], {"type": kind, "size": found[2] or ""}
    if _NO_ENTRY.fullmatch(line):
        return None
    reason = f"{directory}: no MLSD, and a line of LIST that can't be read: {printable(line)}"
    raise Fault(FaultKind.REFUSED, reason)


def entries_of(
    listing: bytearray, facts_of: Callable[[str], tuple[str, Facts] | None]
) -> Iterator[tuple[str, Facts]]:
    """Names and facts of what is in a directory; the text is decoded line by line."""
    begin = 0
    while begin < len(listing):
        end = listing.find(b"\n", begin)
        end = end if end >= 0 else len(listing)
        line = bytes(listing[begin:end]).rstrip(b"\r")
        found = facts_of(line.decode("utf-8", "surrogateescape")) if line else None
        if found is not None and found[0] not in (".", ".."):
            yield found
        begin = end + 1


# Answers that mean something lasting; other 5xx as well, all 4xx may pass.
_KINDS = {
    530: FaultKind.DENIED,
    532: FaultKind.DENIED,
    550: FaultKind.MISSING,
    551: FaultKind.MISSING,
    552: FaultKind.NO_SPACE,
    553: FaultKind.DESTINATION,
    452: FaultKind.NO_SPACE,
}
# Some servers' answer to a path that is not there; to other commands it means what it says.
_BAD_PARAMETER = 501
_UNKNOWN_COMMAND = (500, 502)
_OF_FILE = (426, 450, 451)  # of the answers that may pass, these tell nothing of the server
# The newer of the two is missing in older releases, and newer ones warn of the older.
_LENGTH = getattr(pycurl, "CONTENT_LENGTH_DOWNLOAD_T", pycurl.CONTENT_LENGTH_DOWNLOAD)
MAX_LINE_BYTES = 65536
_LOOK = {pycurl.NOBODY: 1, pycurl.OPT_FILETIME: 1}
_MAKE_DIRECTORIES = {
    pycurl.FTP_FILEMETHOD: pycurl.FTPMETHOD_MULTICWD,
    pycurl.FTP_CREATE_MISSING_DIRS: 2,  # also if another placement makes them meanwhile
}


class FtpFiles(Closing):
    """An `Endpoint` for one ftp server."""

    can_list = can_append = can_rename = True
    appears_whole = False

    def __init__(self, url: Url, surroundings: Surroundings) -> None:
        environment = surroundings.environment
        is_tls = url.scheme == "ftps"
        self._session = Session(surroundings)
        self._server = url.server
        self._has_mlsd = True  # as far as known
        port = f":{url.port}" * bool(url.port)
        self._root = f"ftp://{ascii_host(url)}{port}/%2F"
        self._options: dict[int, Any] = {
            pycurl.FTP_FILEMETHOD: pycurl.FTPMETHOD_NOCWD,
            pycurl.FTP_SKIP_PASV_IP: 1,  # older releases go wherever the server says
            **proxy_options(url, "ftp", environment),
            **({pycurl.USE_SSL: pycurl.USESSL_ALL, **tls_options(environment)} if is_tls else {}),
        }
        if url.user:
            self._options |= {
                pycurl.USERNAME: _word(url.user),
                pycurl.PASSWORD: _word(url.password),
            }

    def look(self, url: Url) -> Entry | None:
        """See `Endpoint`."""
        try:
            self._ask(url, _LOOK)
            if self._size() is None:
                self._refuse_unsized(url)
        except Fault as fault:
            if fault.kind not in (FaultKind.MISSING, FaultKind.DESTINATION):
                raise  # 550 and 553 are told of directories, too
            return Entry("", None, True) if self._is_directory(url) else None
        return Entry("", self._size(), False, self._version())

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """See `Endpoint`."""
        root = url.path.rstrip("/")
        waiting = [""]
        while waiting:
            directory = waiting.pop()
            check_depth(directory, url)
            is_empty = True
            for name, facts in self._list(url, url.at(f"{root}/{directory}")):
                is_empty, relative = False, f"{directory}{name}"
                kind = facts.get("type", "").lower()
                if kind == "dir":
                    waiting += [relative + "/"] * deep
                    check_count(len(waiting), self._server)
                elif kind == "file":
                    size = whole_number(facts.get("size", ""))
                    yield Entry(relative, size, False, facts.get("modify", ""))
                elif "link" in kind and (target := linked_file(self, url.child(relative))):
                    yield target._replace(path=relative)
                else:
                    self.leaves_out(relative, NO_FILE)
            if is_empty:
                self.leaves_out(directory, EMPTY)

    def read(self, url: Url, offset: int) -> FtpReader:
        """See `Endpoint`."""
        try:
            with self.errors(url, of_path=not offset):
                self._begin(url, {pycurl.RESUME_FROM_LARGE: offset, pycurl.OPT_FILETIME: 1})
                self._session.wait_for_head()
        except Fault as fault:
            if fault.kind is FaultKind.MISSING and self._is_directory(url):
                raise no_file(url) from None
            raise
        left = self._size()
        size = None if left is None else offset + left
        return FtpReader(self, self._session, url, offset, size, self._version())

    def write(self, url: Url, offset: int, size: int | None) -> FtpWriter:
        """See `Endpoint`."""
        options = {pycurl.UPLOAD: 1, pycurl.APPEND: int(offset > 0), **_MAKE_DIRECTORIES}
        with self.errors(url, is_made=True, of_path=True):
            self._begin(url, options)
            self._session.wait_for_wish()
        return FtpWriter(self, self._session, url)

    def rename(self, url: Url, to: Url) -> None:
        """See `Endpoint`."""
        self._command(to, b"RNFR " + _word(url.path), b"RNTO " + _word(to.path))

    def remove(self, url: Url) -> None:
        """See `Endpoint`."""
        with unless(FaultKind.MISSING):
            self._command(url, b"DELE " + _word(url.path))

    def close(self) -> None:
        """See `Endpoint`."""
        self._session.close()

    @contextlib.contextmanager
    def errors(self, url: Url, *, is_made: bool = False, of_path: bool = False) -> Iterator[None]:
        """Turn what the server has answered into a `Fault` of its own.

        Args:
            is_made: whether the URL is of a file that is made.
            of_path: whether it can only be the path that the server does not like.
        """
        try:
            yield
        except Fault as fault:
            code = self._session.status
            if code < 400 or fault.kind in (FaultKind.REQUEST, FaultKind.STOPPED):
                raise
            if code == _BAD_PARAMETER and of_path:
                code = 550
            last = self._session.head.splitlines()[-1]
            raise _fault_of_answer(code, last, url, is_made=is_made) from None

    def _begin(self, url: Url, options: Mapping[int, Any]) -> None:
        _word(url.path)
        path = url.encoded_path[1:].replace(";", "%3B")  # `;type=a` would be libcurl's
        address = self._root + path
        self._session.begin(address, self._server, {**self._options, **options})

    def _ask(self, url: Url, options: Mapping[int, Any]) -> None:
        """Make a request that moves no data."""
        with self.errors(url, of_path=True):
            self._begin(url, options)
            self._session.finish()

    def _command(self, url: Url, *commands: bytes) -> None:
        with self.errors(url):
            options = {**self._options, pycurl.NOBODY: 1, pycurl.QUOTE: list(commands)}
            self._session.begin(self._root, self._server, options)
            self._session.finish()

    def _list(self, url: Url, directory: Url) -> Iterator[tuple[str, Facts]]:
        """Names and facts of what is in a directory."""
        if self._has_mlsd:
            try:
                return entries_of(self._listing(url, directory, "MLSD"), facts_of_mlsd)
            except Fault:
                self._has_mlsd = self._session.status not in _UNKNOWN_COMMAND
                if self._has_mlsd:
                    raise
        listing = self._listing(url, directory, "LIST")
        return entries_of(listing, lambda line: facts_of_list(line, directory))

    def _listing(self, url: Url, directory: Url, command: str) -> bytearray:
        with self.errors(url, of_path=True):
            self._begin(directory, {pycurl.CUSTOMREQUEST: command})
            return self._whole(self._session.blocks())

    def _whole(self, blocks: Iterator[bytes]) -> bytearray:
        """A listing, as the server has sent it: nothing needs less memory.

        It is read at once, since a server does not wait while files are transferred.
        """
        listing, begin = bytearray(), 0
        for block in blocks:
            listing += block
            begin = listing.rfind(b"\n", begin) + 1 or begin
            if len(listing) - begin > MAX_LINE_BYTES:
                self._session.end()
                reason = f"{self._server}: a line of a listing of more than {MAX_LINE_BYTES} bytes"
                raise Fault(FaultKind.REFUSED, reason)
        return listing

    def _is_directory(self, url: Url) -> bool:
        """Whether the server goes there."""
        options = {pycurl.NOBODY: 1, pycurl.FTP_FILEMETHOD: pycurl.FTPMETHOD_SINGLECWD}
        try:
            self._ask(url.at(url.path.rstrip("/") + "/"), options)
        except Fault as fault:
            if fault.transient:
                raise
            return False
        return True

    def _refuse_unsized(self, url: Url) -> None:
        """libcurl takes an answer that may pass, or a path that is not there, for one that tells no
        size."""
        for line in self._session.head.splitlines():
            if line[:1] == b"4" and line[:3].isdigit():
                raise _fault_of_answer(int(line[:3]), line, url, is_made=False)
            if line.startswith(b"%d " % _BAD_PARAMETER):
                raise _fault_of_answer(550, line, url, is_made=False)

    def _size(self) -> int | None:
        """Bytes of a file, or of its rest, if the server has told."""
        size = int(self._session.known(_LENGTH))
        return size if size >= 0 else None

    def _version(self) -> str:
        """Time of the last change, as servers tell it; '' if it does not."""
        changed = self._session.known(pycurl.INFO_FILETIME)
        return time.strftime("%Y%m%d%H%M%S", time.gmtime(changed)) if changed >= 0 else ""


class FtpReader:
    """An open source; see `endpoint.Reader`."""

    def __init__(
        self,
        files: FtpFiles,
        session: Session,
        url: Url,
        offset: int,
        size: int | None,
        version: str,
    ) -> None:
        self._files = files
        self._session = session
        self._number = session.number
        self._url = url
        self.offset = offset
        self.size = size
        self.version = version
        self.checksums: dict[str, str] = {}

    def readinto(self, buffer: memoryview) -> int:
        """See `endpoint.Reader`."""
        with self._files.errors(self._url):
            return self._session.readinto(buffer)

    def close(self) -> None:
        """See `endpoint.Reader`."""
        if self._session.number == self._number:
            self._session.end()


class FtpWriter:
    """An open destination; see `endpoint.Writer`."""

    def __init__(self, files: FtpFiles, session: Session, url: Url) -> None:
        self._files = files
        self._session = session
        self._url = url

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        with self._files.errors(self._url, is_made=True):
            self._session.send(data)

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        with self._files.errors(self._url, is_made=True):
            self._session.finish()

    def abort(self) -> None:
        """See `endpoint.Writer`."""
        self._session.end()


def _fault_of_answer(code: int, line: bytes, url: Url, *, is_made: bool) -> Fault:
    """What an answer means that is no success."""
    text = message(masked_text(line.decode("utf-8", "replace").strip()))
    if code < 500 and code not in _KINDS:
        host = "" if code in _OF_FILE else url.server
        return Fault(FaultKind.SERVER, f"{url}: {text}", host=host)
    kind = _KINDS.get(code, FaultKind.REFUSED)
    if kind is FaultKind.MISSING:
        if "denied" in text.lower():
            kind = FaultKind.DENIED
        elif "space" in text.lower():
            kind = FaultKind.NO_SPACE
        elif is_made:
            kind = FaultKind.DESTINATION
    return Fault(kind, f"{url}: {text}", transient=False)


def _word(text: str) -> bytes:
    """A path, a user or a password in a command: a line of its own.

    Raises:
        Fault: it has an end of line, or characters that are no text.
    """
    if "\r" in text or "\n" in text:
        raise Fault(FaultKind.REQUEST, "ftp can't transfer a name with an end of line")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise Fault(FaultKind.REQUEST, "a name has characters that are no text") from None
