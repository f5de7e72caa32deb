"""What the headers of an http answer tell of a file; a server may write anything into them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.endpoints.endpoint import whole_number

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
