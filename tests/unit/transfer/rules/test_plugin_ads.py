"""Ads of plugins: as HTCondor's own write them, in both notations, and hostile ones."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.transfer.rules import plugin_ads
from condor_pydagman.transfer.rules.plugin_ads import read_ads, read_lines

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
    text = "\n    [\n A = TRUE; \n B = undefined;\n ]\n[ 'c d' = -3; e = {}; ]\n[]"
    assert read_ads(text) == [{"a": True, "b": None}, {"c d": -3, "e": []}, {}]
    assert read_ads("") == []
    assert read_ads(r'[a="x\"\\\n\101\q"]') == [{"a": 'x"\\\nAq'}]


def test_lines() -> None:
    lines = ["MultipleFileSupport = true", 'SupportedMethods = "http,ftp"', "a warning", "= 3", ""]
    assert read_lines(lines) == {"multiplefilesupport": True, "supportedmethods": "http,ftp"}
    with pytest.raises(ValueError, match="not a ClassAd"):
        read_lines(["a = time()"])


@pytest.mark.parametrize(
    "text",
    ["[", "[a]", "[a=]", "[a=b]", "[a=1 b=2]", "a=1", '[a="x]', "[a=1;;]", "[a={1 2}]", "[a=1]x",
     "[a=0x1]", "[a='b']", "[a=f(1)]", "[a=1+1]", "[a=" + "1" * 50 + "]"],
)  # fmt: skip
def test_what_is_no_ad_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a ClassAd|too long"):
        read_ads(text)


def test_bounds() -> None:
    with pytest.raises(ValueError, match="deep"):
        read_ads("[a=" + "{" * 5000)
    with pytest.raises(ValueError, match="characters"):
        read_ads(" " * (plugin_ads.MAX_CHARACTERS + 1))


@given(st.text(st.characters(exclude_characters="\0"), max_size=50))
def test_what_is_printed_is_read_back(text: str) -> None:
    assert read_ads(plugin_ads.printed({"Url": text, "x": ""})) == [{"url": text, "x": ""}]
    assert "\n" not in plugin_ads.quoted(text)


def test_no_zero_bytes() -> None:
    with pytest.raises(ValueError, match="zero byte"):
        plugin_ads.quoted("a\0b")


@given(st.text('[]{};,="\\ab1.\n ', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        read_ads(text)
