"""Remote files of libraries, and what the exceptions of these mean for a placement.

Libraries for remote files raise exceptions of their own, and none of them tells transient faults
from lasting ones.  What is known by its type, its number or its words is told apart; all else may
pass.
"""

from __future__ import annotations

import contextlib
import errno
import re
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.placement.endpoints.endpoint import Entry
from condor_pydagman.printable import message

Errors = Callable[[], contextlib.AbstractContextManager[None]]

_BY_ERRNO = {
    errno.ENOENT: FaultKind.MISSING,
    errno.ENOTDIR: FaultKind.MISSING,
    errno.EACCES: FaultKind.DENIED,
    errno.EPERM: FaultKind.DENIED,
    errno.ENOSPC: FaultKind.NO_SPACE,
    errno.EDQUOT: FaultKind.NO_SPACE,
    errno.EISDIR: FaultKind.DESTINATION,
    errno.EEXIST: FaultKind.DESTINATION,
    errno.EROFS: FaultKind.DESTINATION,
}
_BY_WORDS = (
    (FaultKind.MISSING, r"no such (file|key|bucket|object)|nosuchkey|nosuchbucket|not ?found|404"),
    (
        FaultKind.DENIED,
        r"access ?denied|permission denied|forbidden|unauthorized|authentication|not authorized"
        r"|invalidaccesskey|signaturedoesnotmatch|nocredentials|no credentials"
        r"|unable to locate credentials|expiredtoken|\b40[13]\b",
    ),
    (FaultKind.NO_SPACE, r"no space|quota|disk full|insufficient storage"),
)
_WORDS = tuple((kind, re.compile(words, re.IGNORECASE)) for kind, words in _BY_WORDS)


@contextlib.contextmanager
def mapped(url: Url, host: str) -> Iterator[None]:
    """Turn what a library raises in a `with` block into a `Fault`.

    Args:
        host: is rested if it may be the host's fault.
    """
    try:
        yield
    except Fault:
        raise
    except Exception as error:
        raise fault_of(error, url, host) from None


class LibraryReader(ABC):
    """An open source, a file of a library; see `endpoint.Reader`.

    Args:
        errors: gives the `with` block for what the library does.
    """

    def __init__(self, file: Any, entry: Entry, offset: int, errors: Errors) -> None:
        self._file = file
        self._errors = errors
        self.offset = self._at = offset  # where the next block begins
        self.size = entry.size
        self.version = entry.version
        self.checksums = entry.checksums
        self._rest = memoryview(b"")

    def readinto(self, buffer: memoryview) -> int:
        """See `endpoint.Reader`."""
        if not self._rest:
            self._rest = memoryview(b"")  # the last block is freed before the next one comes
            with self._errors():
                self._rest = memoryview(self._block())
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    @abstractmethod
    def _block(self) -> bytes:
        """The next bytes; none at the end."""

    def close(self) -> None:
        """See `endpoint.Reader`."""
        with contextlib.suppress(Exception):
            self._file.close()


class LibraryWriter:
    """An open destination, a file of a library; see `endpoint.Writer`."""

    def __init__(self, file: Any, errors: Errors) -> None:
        self._file = file
        self._errors = errors

    def write(self, data: memoryview) -> None:
        """See `endpoint.Writer`."""
        with self._errors():
            self._file.write(bytes(data))

    def commit(self) -> None:
        """See `endpoint.Writer`."""
        with self._errors():
            self._file.close()

    def abort(self) -> None:
        """See `endpoint.Writer`."""
        with contextlib.suppress(Exception):
            self._file.close()


def fault_of(error: Exception, url: Url, host: str) -> Fault:
    """The fault for an exception of a library."""
    text = message(masked_text(str(error).strip() or type(error).__name__))
    reason = f"{url}: {text}"
    if type(error).__name__ == "NoCredentialsError":
        reason += (
            ": set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have ~/.aws/credentials, whose"
            " section cred_name can choose"
        )
    kind = _kind(error, text)
    if kind is not None:
        return Fault(kind, reason, transient=False)
    return Fault(FaultKind.SERVER, reason, host=host)


def _kind(error: Exception, text: str) -> FaultKind | None:
    """The kind of a lasting fault; None for one that may pass."""
    if isinstance(error, (socket.timeout, TimeoutError, ConnectionError, EOFError)):
        return None
    if isinstance(error, UnicodeEncodeError):
        return FaultKind.REQUEST  # the name has bytes that are no UTF-8
    if isinstance(error, UnicodeDecodeError):
        return FaultKind.REFUSED  # as above, in a list of the server's
    if isinstance(error, FileNotFoundError):
        return FaultKind.MISSING
    if isinstance(error, PermissionError):
        return FaultKind.DENIED
    if isinstance(error, OSError) and error.errno in _BY_ERRNO:
        return _BY_ERRNO[error.errno]
    if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"):
        return FaultKind.DENIED
    return next((kind for kind, words in _WORDS if words.search(text)), None)
