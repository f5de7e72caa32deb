"""What the headers of an http answer tell of a file; a server may write anything into them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping

from condor_pydagman.data_requests.urls import Url
from condor_pydagman.transfer.endpoints.endpoint import whole_number
from condor_pydagman.transfer.rules.faults import Fault, FaultKind

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
    coding = headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", "") and not url.path.endswith(_ENDINGS.get(coding, ("\0",))):
        raise Fault(FaultKind.REFUSED, f"{url.server} sends {url} only as {coding}")


def range_of(headers: Mapping[str, str], offset: int, url: Url) -> tuple[int, int | None]:
    """Offset and whole size that Content-Range tells.

    Raises:
        Fault: it is not the range that was asked for.
    """
    words = headers.get("content-range", "").removeprefix("bytes ").partition("/")
    begin = words[0].partition("-")[0]
    if begin != str(offset):
        raise Fault(
            FaultKind.SERVER,
            f"{url.server} sends {url} from byte {begin or '?'} instead of {offset}",
        )
    return offset, whole_number(words[2])


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
