"""What the exceptions of libraries mean for a placement.

Libraries for remote files raise exceptions of their own, and none of them tells transient faults
from lasting ones.  What is known by its type, its number or its words is told apart; all else may
pass.
"""

from __future__ import annotations

import errno
import re
import socket
from types import TracebackType

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.printable import message

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


class Mapped:
    """Turns what a library raises in a `with` block into a `Fault`; may be used again and again.

    Args:
        host: is rested if it may be the host's fault.
    """

    def __init__(self, url: Url, host: str) -> None:
        self._url = url
        self._host = host

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, Fault):
            raise fault_of(error, self._url, self._host) from None


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
