"""Results of plugins: which kind of fault, and whether to try again."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.faults import FaultKind
from condor_pydagman.placement.plugin_ad_reader import read_ads
from condor_pydagman.placement.rules.plugin_results import (
    Ad,
    ability,
    fault_of_result,
    fault_of_text,
    printed,
    quoted,
)


def test_ability() -> None:
    curl: Ad = {
        "plugintype": "FileTransfer",
        "multiplefilesupport": True,
        "supportedmethods": "http, FTP,,",
    }
    assert ability(curl) == (frozenset(("http", "ftp")), True)
    assert not ability({**curl, "multiplefilesupport": None}).several
    for name in ("plugintype", "supportedmethods"):
        with pytest.raises(ValueError, match="does not call itself"):
            ability({**curl, name: None})


@pytest.mark.parametrize(
    ("ad", "kind", "transient"),
    [
        ("DeveloperData = [ TransferHTTPStatusCode = 404 ]", FaultKind.MISSING, False),
        ("TransferHTTPStatusCode = 403", FaultKind.DENIED, False),
        ("TransferHTTPStatusCode = 400", FaultKind.REFUSED, False),
        ("TransferHTTPStatusCode = 503", FaultKind.SERVER, True),
        ("TransferHTTPStatusCode = 429", FaultKind.SERVER, True),
        ("TransferHTTPStatusCode = 507", FaultKind.NO_SPACE, False),
        ('TransferError = "HTTP error 404"', FaultKind.MISSING, False),
        ('TransferError = "The requested URL returned error: 501"', FaultKind.REFUSED, False),
        ("DeveloperData = [ LibcurlReturnCode = 7 ]", FaultKind.SERVER, True),
        ("DeveloperData = [ LibcurlReturnCode = 60 ]", FaultKind.DENIED, False),
        ('LibcurlReturnCode = 23; TransferError = "No space left"', FaultKind.NO_SPACE, False),
        ("LibcurlReturnCode = 23", FaultKind.DESTINATION, False),
        ('TransferErrorData = { [ ErrorType = "Resolution" ] }', FaultKind.SERVER, True),
        ('TransferErrorData = { [ ErrorType = "Authorization" ] }', FaultKind.DENIED, False),
        ('TransferError = "FileNotFound: no such file"', FaultKind.MISSING, False),
        ('TransferError = "connection refused"', FaultKind.SERVER, True),
        ('TransferError = "strange"', FaultKind.MODULE, True),
        ('TransferError = "strange"; TransferRetryable = false', FaultKind.MODULE, False),
        ("TransferHTTPStatusCode = 404; TransferRetryable = true", FaultKind.MISSING, True),
        (
            "TransferErrorData = { [ DeveloperData = [ Retryable = false ] ] }",
            FaultKind.MODULE,
            False,
        ),
        ("TransferErrorData = 3; DeveloperData = {1}", FaultKind.MODULE, True),
    ],
)
def test_kinds(ad: str, kind: FaultKind, transient: bool) -> None:
    fault = fault_of_result(read_ads(f"[ TransferSuccess = false; {ad} ]")[0], "p", "h:1")
    assert fault is not None
    assert (fault.kind, fault.transient) == (kind, transient)
    assert fault.host == ("h:1" if kind is FaultKind.SERVER else "")


def test_success_and_words() -> None:
    assert fault_of_result({"transfersuccess": True}, "p", "h") is None
    fault = fault_of_result({}, "p", "h")
    assert fault is not None
    assert fault.reason == "p: it does not say why"
    assert fault_of_text("no http://u:pw@h/a\x1b", "p", "h").reason == "p: no http://***@h/a\\x1b"


def test_strings_are_quoted() -> None:
    text = printed({"Url": 'a"\\\n', "LocalFileName": "/caf\udce9"})
    assert text == '[ Url = "a\\"\\\\\\012"; LocalFileName = "/caf\udce9" ]'


def test_no_zero_bytes() -> None:
    with pytest.raises(ValueError, match="zero byte"):
        quoted("a\0b")
