"""What the status of an http answer means for a placement (RFC 9110, RFC 4918)."""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.endpoints.endpoint import whole_number

_KINDS = {
    400: FaultKind.REFUSED,
    401: FaultKind.DENIED,
    403: FaultKind.DENIED,
    404: FaultKind.MISSING,
    410: FaultKind.MISSING,
    413: FaultKind.NO_SPACE,
    507: FaultKind.NO_SPACE,
    501: FaultKind.REFUSED,
    505: FaultKind.REFUSED,
}
# What an answer means to a request that makes a file or a directory: where that is to be is not.
_KINDS_OF_MAKING = {
    404: FaultKind.DESTINATION,
    409: FaultKind.DESTINATION,
    410: FaultKind.DESTINATION,
}
_MAKING = ("PUT", "MKCOL", "MOVE", "COPY")
_LOCKED = 423
_PASSING = (408, _LOCKED, 425, 429)
_WORDS = {
    401: "it wants credentials",
    403: "it forbids this",
    404: "it has no such file",
    410: "the file is gone",
    429: "it has too many requests",
    503: "it is overloaded",
    507: "it has no space",
}
_NO_PLACE = "it has no such directory or bucket"
_WORDS_OF_MAKING = dict.fromkeys(_KINDS_OF_MAKING, _NO_PLACE)


def fault_of_status(status: int, headers: Mapping[str, str], url: Url, doing: str) -> Fault:
    """The fault of an answer that is no success.

    Args:
        doing: the method.
    """
    kinds, meanings = _KINDS, _WORDS
    if doing in _MAKING:
        kinds, meanings = {**_KINDS, **_KINDS_OF_MAKING}, {**_WORDS, **_WORDS_OF_MAKING}
    kind = kinds.get(status, FaultKind.REFUSED)
    transient = status in _PASSING or (status >= 500 and status not in _KINDS)
    if transient:
        kind = FaultKind.SERVER
    words = f" ({meanings[status]})" if status in meanings else ""
    reason = f"{url.server} answers {status}{words} to {doing} {url}"
    if not transient:
        return Fault(kind, reason, transient=False)
    wait = _retry_after_s(headers.get("retry-after", ""))
    host = "" if status == _LOCKED else url.server  # the file is, and nothing else
    return Fault(kind, reason, host=host, retry_after_s=wait)


def _retry_after_s(text: str) -> float:
    """Seconds of a Retry-After header, which may be a number or a date."""
    seconds = whole_number(text)
    if seconds is not None:
        return float(seconds)
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, IndexError, OverflowError):
        return 0.0
