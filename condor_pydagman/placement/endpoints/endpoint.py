"""What a service that holds files does for a transfer.

An endpoint belongs to one service (scheme, server, user) and is used by one thread at a time; it
may keep a connection open between files.  Every method raises `Fault`, with a reason without
secrets, and nothing else for what servers, networks and disks do.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, TypeVar

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple

MAX_DEPTH = 64  # of directories that a server lists
MAX_ENTRIES = 1_000_000  # of a directory that a server lists, and of directories that wait for it
MAX_DIGITS = 18  # of a number that a server tells
_WHOLE = re.compile(rf"[0-9]{{1,{MAX_DIGITS}}}")
# Why something in a directory is left out, at all services alike.
EMPTY = "an empty directory"
NO_FILE = "neither a file nor a link to one"

Itself = TypeVar("Itself")


class SendAgain(Fault):
    """The service wants a file that was written, or a part of it, anew: it takes it elsewhere.

    The next `Endpoint.write` of the same file goes there.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(FaultKind.SERVER, reason)


class Entry(NamedTuple):
    """A file or directory."""

    path: str  # relative to what was listed; '' of `Endpoint.look`
    size: int | None  # bytes; None if the service does not say
    is_directory: bool = False
    # changes when the content does, as far as the service tells (ETag, time of the last change); ''
    # if it tells nothing
    version: str = ""
    # algorithm ("md5", "adler32", "sha256") to hexadecimal digits, if the service knows them
    # without reading the file
    checksums: Mapping[str, str] = {}


@contextlib.contextmanager
def unless(kind: FaultKind) -> Iterator[None]:
    """Leave a `with` block as if nothing was wrong if it ends with a `Fault` of this kind."""
    try:
        yield
    except Fault as fault:
        if fault.kind is not kind:
            raise


class Reader(Protocol):
    """An open source."""

    offset: int  # bytes of the file that were skipped: as asked for, or 0 if the service can't
    version: str  # as of an `Entry`

    @property
    def size(self) -> int | None:
        """Bytes of the whole file, None if unknown."""

    @property
    def checksums(self) -> Mapping[str, str]:
        """As of an `Entry`."""

    def readinto(self, buffer: memoryview, /) -> int:
        """Fill the front of `buffer`; number of bytes, 0 at the end of the file.

        A connection that ends before `size` bytes is a transient `Fault`.
        """

    def close(self) -> None:
        """Free it; never raises."""


class Writer(Protocol):
    """An open destination."""

    def write(self, data: memoryview, /) -> None:
        """Append all of it."""

    def commit(self) -> None:
        """Everything is written: the file is there afterwards."""

    def abort(self) -> None:
        """Break off; what was written may stay if the service can append later.  Never raises."""


class Endpoint(Protocol):
    """A service."""

    can_list: bool  # whether `files_below` works
    can_append: bool  # whether `write` can go on at an offset
    appears_whole: bool  # whether no file is seen before `Writer.commit` (object stores)
    # is told what else `files_below` sees: a path as of an `Entry`, and what it is
    leaves_out: Callable[[str, str], None]

    @property
    def can_rename(self) -> bool:
        """Whether `rename` works; if not, `appears_whole` should be true."""

    def look(self, url: Url) -> Entry | None:
        """The file or directory, None if there is none."""

    def files_below(self, url: Url, *, deep: bool = True) -> Iterator[Entry]:
        """All files below a directory, and links to files, in no order.

        `deep`: also those in directories of it.
        """

    def read(self, url: Url, offset: int) -> Reader:
        """Open a file at an offset in bytes."""

    def write(self, url: Url, offset: int, size: int | None) -> Writer:
        """Create or replace a file, or append to it at `offset`, which is its size then.

        Missing directories are made.  `size`: of the whole file, if known.
        """

    def rename(self, url: Url, to: Url) -> None:
        """Give a file another name, replacing what has that name, in one step if possible."""

    def remove(self, url: Url) -> None:
        """Remove a file; no error if there is none."""

    def copy(self, url: Url, to: Url) -> bool:
        """Copy within the service without the data passing through here; False if it can't."""

    def close(self) -> None:
        """End its connections; never raises."""

    def __enter__(self) -> Endpoint: ...

    def __exit__(self, *error: object) -> None: ...


class Closing:
    """What every endpoint is as a context: it is closed at the end.  What most can't do."""

    leaves_out: Callable[[str, str], None] = staticmethod(lambda path, why: None)

    def copy(self, url: Url, to: Url) -> bool:
        """See `Endpoint`."""
        return False

    def close(self) -> None:
        """See `Endpoint`."""

    def __enter__(self: Itself) -> Itself:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def linked_file(endpoint: Endpoint, link: Url) -> Entry | None:
    """The file that a link leads to; None if it leads to none."""
    found = endpoint.look(link)
    return None if found is None or found.is_directory else found


def check_depth(relative: str, root: Url) -> None:
    """Refuse directories without end; `relative` is the path of one, with a `/` at its end.

    Raises:
        Fault: it is nested too deeply.
    """
    if relative.count("/") > MAX_DEPTH:
        reason = f"{root} has directories that are nested more than {MAX_DEPTH} deep"
        raise Fault(FaultKind.REFUSED, reason)


def check_count(count: int, server: str) -> None:
    """Refuse a list that needs too much memory.

    Raises:
        Fault: it has more than MAX_ENTRIES entries.
    """
    if count > MAX_ENTRIES:
        reason = f"{server}: a listing of more than {MAX_ENTRIES} files and directories"
        raise Fault(FaultKind.REFUSED, reason)


def whole_number(text: str) -> int | None:
    """What digits of a server's say; None if there is anything else, or there are too many."""
    return int(text) if _WHOLE.fullmatch(text) else None
