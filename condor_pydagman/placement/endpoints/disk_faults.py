"""What the errors of a local disk mean for a placement."""

from __future__ import annotations

import errno
import re

from condor_pydagman.data_requests.faults import Fault, FaultKind

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM)
# Of the machine; they may pass.
_PASSING = (
    *(errno.EIO, errno.ESTALE, errno.EAGAIN, errno.EBUSY, errno.ETXTBSY),
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM),
)


_PART = re.compile(r"\.([^/]+)\.[0-9a-f]{8}\.[0-9a-f]{8}\.part\b")


class _Guard:
    """A context in which errors of the disk become a `Fault`; a small file has ten of them, so
    this is no generator."""

    __slots__ = ("_path",)
    _verb = ""
    _usual = FaultKind.MISSING

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise _fault(error, f"can't {self._verb} {self._path}", self._usual) from None


class reading(_Guard):  # used like a function
    """Errors of a file that is read are a `Fault` of the source."""

    __slots__ = ()
    _verb = "read"
    _usual = FaultKind.MISSING


class writing(_Guard):
    """Errors of a file that is written are a `Fault` of the destination."""

    __slots__ = ()
    _verb = "write"
    _usual = FaultKind.DESTINATION


def _fault(error: OSError, what: str, usual: FaultKind) -> Fault:
    # Of a file that is being made, its directory matters, and the name that it will have.
    what = _PART.sub(r"\1", what)
    reason = f"{what}: {error.strerror or error}"
    if error.errno in FULL:
        return Fault(FaultKind.NO_SPACE, reason)
    if error.errno in _DENIED:
        return Fault(FaultKind.DENIED, reason)
    if error.errno in _PASSING:
        return Fault(usual, reason, transient=True)
    return Fault(usual, reason)
