"""Ads of plugins: as HTCondor's own write them, in both notations, and hostile ones."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.placement import plugin_ad_reader
from condor_pydagman.placement.plugin_ad_reader import read_ads
from condor_pydagman.placement.rules import plugin_results

# What curl_plugin of HTCondor 25 writes.
CURL = (
    '[ TransferUrl = "http://127.0.0.1/nope"; DeveloperData = [ TransferTries = 1;'
    " LibcurlReturnCode = 22; TransferHTTPStatusCode = 404 ];"
    ' TransferError = "The requested URL returned error: 404"; TransferSuccess = false;'
    ' TransferErrorData = { [ ErrorCode = 22; ErrorType = "Specification" ] };'
    " ConnectionTimeSeconds = 7.880000000000001E-04 ]"
)


def test_an_ad_as_curl_plugin_writes_it() -> None:
    (ad,) = read_ads(CURL)
    assert ad["transfersuccess"] is False
    assert ad["developerdata"] == {
        "transfertries": 1,
        "libcurlreturncode": 22,
        "transferhttpstatuscode": 404,
    }
    assert ad["transfererrordata"] == [{"errorcode": 22, "errortype": "Specification"}]
    assert ad["connectiontimeseconds"] == pytest.approx(7.88e-4)


def test_several_ads_and_odd_notation() -> None:
    text = "\n    [\n A = TRUE; \n B = undefined;\n ]\n[ 'c d' = -3; e = {}; ]\n"
    assert read_ads(text) == [{"a": True, "b": None}, {"c d": -3, "e": []}]
    assert read_ads("") == []


def test_lines() -> None:
    text = 'a warning\nMultipleFileSupport = true\n\nSupportedMethods = "http,ftp"\n= 3\n'
    assert read_ads(text) == [{"multiplefilesupport": True, "supportedmethods": "http,ftp"}]


def test_what_is_no_constant_is_not_evaluated() -> None:
    assert read_ads("[ a = time(); b = error; c = 1 + 1 ]") == [dict.fromkeys("abc")]


@pytest.mark.parametrize(
    "text", ["[", "[a=1 b=2]", "[a={1 2}]", "[a=" + "{" * 5000 + "}" * 5000 + "]"]
)
def test_what_is_no_ad_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it is not a ClassAd"):
        read_ads(text)


def test_bounds() -> None:
    most = plugin_ad_reader.MAX_CHARACTERS
    assert read_ads("[a=" + "1+" * (most // 2 - 3) + "1]") == [{"a": None}]
    with pytest.raises(ValueError, match="characters"):
        read_ads(" " * (most + 1))


def test_without_the_bindings_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        if name == "classad2":
            raise ImportError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match="pip install htcondor"):
        read_ads("[]")


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=50))
def test_what_is_printed_is_read_back(text: str) -> None:
    assert read_ads(plugin_results.printed({"Url": text, "x": ""})) == [{"url": text, "x": ""}]


@given(st.text('[]{};,="\\ab1.\n ', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        read_ads(text)
