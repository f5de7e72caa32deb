"""What gfal2 knows, and what its errors mean: texts and numbers are those of gfal2 2.21."""

from __future__ import annotations

import errno

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.rules import gfal_results

RUN = "Error on XrdCl::CopyProcess::Run(): "


def fault(code: int, text: str, end: str = "") -> Fault:
    source, destination = parse_url("root://a:1//x"), parse_url("root://b:2//y")
    return gfal_results.fault_of(end, code, text, source, destination)


def test_schemes_by_plugins() -> None:
    assert gfal_results.schemes(["xrootd-2.21.3", "srm-2.21.3", "mock-2.21.3"]) == {
        *("root", "roots", "xroot", "xroots", "srm")
    }
    assert gfal_results.schemes([]) == frozenset()


def test_who_copies_to_whom() -> None:
    assert gfal_results.copies_between("root", "roots")
    assert gfal_results.copies_between("https", "davs")
    assert gfal_results.copies_between("srm", "gsiftp")
    assert not gfal_results.copies_between("root", "davs")
    assert not gfal_results.copies_between("gsiftp", "https")


@pytest.mark.parametrize(
    ("code", "text", "kind", "host"),
    [
        (errno.ENOENT, "Failed to stat file (No such file or directory)", FaultKind.MISSING, ""),
        (errno.EACCES, "Result HTTP 401 : Authentication Error", FaultKind.DENIED, ""),
        (errno.EILSEQ, f"{RUN}[ERROR] CheckSum error", FaultKind.MISMATCH, ""),
        (errno.EIO, "SOURCE CHECKSUM MISMATCH Source and user-defined ADLER32 do not match",
         FaultKind.MISMATCH, ""),
        (errno.EFAULT, f"{RUN}[3012] sha256 checksum not supported.\\x00 (destination)",
         FaultKind.REFUSED, ""),
        (errno.ENOTSUP, "[3013] Unable to open /b; tpc not supported", FaultKind.REFUSED, ""),
        (errno.EPROTONOSUPPORT, "No plugin supports a transfer", FaultKind.REFUSED, ""),
        (errno.EHOSTDOWN, "Copy failed (3rd pull, 3rd push). Last attempt: copy HTTP 400",
         FaultKind.REFUSED, ""),
        (errno.EEXIST, "[3018] Unable to create /b; file exists (destination)",
         FaultKind.DESTINATION, ""),
        (errno.EIO, "No space left on device", FaultKind.NO_SPACE, ""),
        (errno.ECOMM, f"{RUN}[FATAL] Connection error: (destination)", FaultKind.SERVER, "b:2"),
        (errno.ECOMM, "[FATAL] Connection error: (source)", FaultKind.SERVER, "a:1"),
        (errno.EHOSTDOWN, "DESTINATION OVERWRITE Result Could not connect to server",
         FaultKind.SERVER, "b:2"),
        (errno.ETIMEDOUT, "", FaultKind.SERVER, ""),
    ],
)  # fmt: skip
def test_kinds(code: int, text: str, kind: FaultKind, host: str) -> None:
    found = fault(code, text)
    assert (found.kind, found.host) == (kind, host)
    assert found.transient is kind.transient
    assert "\\x00" not in found.reason


def test_which_end() -> None:
    assert fault(errno.ENOENT, "no such file", "destination").kind is FaultKind.DESTINATION
    assert fault(errno.EISDIR, "a directory", "source").kind is FaultKind.REQUEST
    assert fault(errno.ETIMEDOUT, "", "source").host == "a:1"
    assert fault(errno.ETIMEDOUT, "").reason == "gfal2: ETIMEDOUT"


def test_no_secrets() -> None:
    assert "pw" not in fault(errno.EIO, "https://me:pw@h/x?authz=pw").reason
