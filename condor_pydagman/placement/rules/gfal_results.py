"""What gfal2 knows, by the names of its plugins, and what its errors mean."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url, masked_text
from condor_pydagman.printable import message

# Schemes of gfal2's plugins, as far as it needs no more for them than URLs.
_SCHEMES = {
    "http": ("http", "https", "dav", "davs"),
    "gridftp": ("gsiftp",),
    "srm": ("srm",),
    "xrootd": ("root", "roots", "xroot", "xroots"),
    "file": ("file",),
}
_WORDS = (
    (re.compile(r"checksum.*(mismatch|match|error)"), FaultKind.MISMATCH),
    (re.compile(r"no space|quota|disk full|insufficient storage|http 507"), FaultKind.NO_SPACE),
    (re.compile(r"not support|unsupported|streaming is disabled|http (400|405|501)"),
     FaultKind.REFUSED),
)  # fmt: skip
_CODES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM), FaultKind.DENIED),
    **dict.fromkeys((errno.EEXIST, errno.EISDIR, errno.ENOTDIR, errno.EROFS),
                    FaultKind.DESTINATION),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), FaultKind.NO_SPACE),
    **dict.fromkeys((errno.EPROTONOSUPPORT, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL),
                    FaultKind.REFUSED),
    errno.EILSEQ: FaultKind.MISMATCH,
}  # fmt: skip


def schemes(plugins: Iterable[str]) -> frozenset[str]:
    """What can be copied with these plugins: `http-2.21.3` and the like."""
    names = (plugin.partition("-")[0].lower() for plugin in plugins)
    return frozenset(scheme for name in names for scheme in _SCHEMES.get(name, ()))


def copies_between(source: str, destination: str) -> bool:
    """Whether servers of these schemes may copy to each other: those of one plugin, and those of
    srm, which name another scheme in the end."""
    return "srm" in (source, destination) or any(
        {source, destination} <= set(group) for group in _SCHEMES.values()
    )


def fault_of(end: str, code: int, text: str, source: Url, destination: Url) -> Fault:
    """The fault for an error of gfal2's.

    Args:
        end: "source" or "destination" if it is known to be there, else ''.
        code: a number of errno(3), 0 if gfal2 has failed itself.
        text: of gfal2 or the server; secrets are masked.
    """
    lower = text.lower()
    end = end or ("source" if "(source)" in lower or lower.startswith("source") else
                  "destination" if "destination" in lower else "")  # fmt: skip
    kind = next((kind for words, kind in _WORDS if words.search(lower)), None) or _CODES.get(code)
    if kind is None and code == errno.ENOENT:
        kind = FaultKind.DESTINATION if end == "destination" else FaultKind.MISSING
    if kind is None:
        kind = FaultKind.SERVER if code else FaultKind.MODULE
    if kind is FaultKind.DESTINATION and end == "source":
        kind = FaultKind.REQUEST  # a directory
    host = {"source": source.server, "destination": destination.server}.get(end, "")
    said = message(masked_text(" ".join(text.replace("\\x00", "").split())))
    return Fault(
        kind, f"gfal2: {said or errno.errorcode.get(code, code)}",
        host=host if kind is FaultKind.SERVER else "",
    )  # fmt: skip
