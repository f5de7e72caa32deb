"""What the status of an http answer means for a placement (RFC 9110, RFC 4918), and what its
headers tell of a file; a server may write anything into them.
"""

from __future__ import annotations

import base64
import binascii
import email.utils
import re
import time
from collections.abc import Mapping

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
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


_DIGEST_BYTES = {"md5": 16, "sha256": 32}
# Some servers say of a compressed file that it is an encoding of another one.
_ENDINGS = {
    "gzip": (".gz", ".tgz"),
    "x-gzip": (".gz", ".tgz"),
    "compress": (".Z",),
    "x-compress": (".Z",),
    "bzip2": (".bz2",),
    "x-bzip2": (".bz2",),
    "br": (".br",),
    "zstd": (".zst",),
}


_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.ASCII)


class Range(NamedTuple):
    """A part of a file, up to its end."""

    begin: int  # of the part, in bytes
    size: int  # of the whole file


def version_of(headers: Mapping[str, str]) -> str:
    """What changes with the content: a strong ETag, or else the time of the last change."""
    tag = headers.get("etag", "")
    return tag if tag and not tag.startswith("W/") else headers.get("last-modified", "")


def checksums_of(headers: Mapping[str, str]) -> dict[str, str]:
    """Hexadecimal digits by algorithm: of Digest (RFC 3230) and Repr-Digest (RFC 9530)."""
    found = {}
    for header in ("repr-digest", "digest"):
        if header not in headers:
            continue
        for part in headers[header].split(","):
            name, _, value = part.strip().partition("=")
            algorithm = name.lower().replace("-", "")
            digits = _digits(algorithm, value.strip(":"))
            if digits:
                found[algorithm] = digits
    return found


def refuse_encoding(headers: Mapping[str, str], url: Url) -> None:
    """Refuse a body that is not the file itself."""
    if headers.get("transfer-encoding", "chunked").lower() not in ("chunked", "identity"):
        raise Fault(FaultKind.SERVER, f"{url.server} sends an encoding that was not asked for")
    coding = headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", "") and not url.path.endswith(_ENDINGS.get(coding, ("\0",))):
        raise Fault(FaultKind.REFUSED, f"{url.server} sends {url} only as {coding}")


def range_of(headers: Mapping[str, str], offset: int) -> Range | None:
    """The part that an answer has; None if it is of no use to who wants all from an offset on."""
    found = _RANGE.fullmatch(headers.get("content-range", ""))
    numbers = [whole_number(text) for text in found.groups()] if found is not None else []
    if None in numbers or not numbers:
        return None
    begin, end, size = (number or 0 for number in numbers)
    length = headers.get("content-length", str(end - begin + 1))
    if begin > offset or end != size - 1 or whole_number(length) != end - begin + 1:
        return None
    return Range(begin, size)


def fields_of(head: bytes) -> dict[str, str]:
    """Fields of the head of an answer, by name in lower case; of several of a name the first one
    counts."""
    fields: dict[str, str] = {}
    for line in head.decode("latin-1").split("\n")[1:]:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    return fields


def _digits(algorithm: str, value: str) -> str:
    """Hexadecimal digits of a value; '' if it makes no sense.

    Base64 is the rule, adler32 and what some servers do are the exceptions.
    """
    if algorithm == "adler32":
        return value.lower() if re.fullmatch(r"[0-9A-Fa-f]{1,8}", value) else ""
    length = _DIGEST_BYTES.get(algorithm)
    if length is None:
        return ""
    if re.fullmatch(rf"[0-9A-Fa-f]{{{2 * length}}}", value):
        return value.lower()
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return data.hex() if len(data) == length else ""
