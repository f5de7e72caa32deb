"""What exceptions of libraries mean."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.faults import FaultKind
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.endpoints.library_faults import fault_of


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), FaultKind.REQUEST),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), FaultKind.REFUSED),
    ],
)
def test_a_name_that_is_no_text_gives_no_host_a_rest(error: Exception, kind: FaultKind) -> None:
    fault = fault_of(error, parse_url("sftp://h/a"), "h")
    assert (fault.kind, fault.transient, fault.host) == (kind, False, "")


def test_what_is_not_known_may_pass() -> None:
    fault = fault_of(ValueError("?"), parse_url("sftp://h/a"), "h")
    assert (fault.kind, fault.transient, fault.host) == (FaultKind.SERVER, True, "h")
