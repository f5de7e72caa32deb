"""What HTCondor's file-transfer plugins read and write, as plain values: the ads that they are
given, what one says of itself, and what its result means.

Plugins tell of a failure in words, and newer ones with an error type, a code of libcurl's, the
status of HTTP, or whether to try again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Union

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

Value = Union[str, int, float, bool, None, "list[Value]", "dict[str, Value]"]
Ad = dict[str, Value]  # names of attributes in lower case

_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f]')


def printed(ad: Mapping[str, str]) -> str:
    """An ad of strings: `[ Name = "value"; ... ]`."""
    pairs = "; ".join(f"{name} = {quoted(value)}" for name, value in ad.items())
    return f"[ {pairs} ]"


def quoted(text: str) -> str:
    """A string as ClassAds have it; the bindings would refuse a name that is no UTF-8.

    Raises:
        ValueError: it has a zero byte.
    """
    if "\0" in text:
        raise ValueError("a ClassAd can't hold a zero byte")
    return f'"{_UNSAFE.sub(_escaped, text)}"'


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return f"\\{character}" if character in '"\\' else f"\\{ord(character):03o}"


_TRANSIENT_STATUS = frozenset((408, 421, 425, 429))
_STATUS = {
    **dict.fromkeys((404, 410), FaultKind.MISSING),
    **dict.fromkeys((401, 403, 407), FaultKind.DENIED),
    **dict.fromkeys((501, 505), FaultKind.REFUSED),
    507: FaultKind.NO_SPACE,
}
# Codes of libcurl's (libcurl-errors(3)) that do not just mean that the server fails.
_CURL = {
    **dict.fromkeys((1, 3, 4, 43, 63), FaultKind.REFUSED),
    **dict.fromkeys((9, 51, 58, 59, 60, 67, 77, 83, 90, 91), FaultKind.DENIED),
    **dict.fromkeys((37, 78), FaultKind.MISSING),
    23: FaultKind.DESTINATION,
    70: FaultKind.NO_SPACE,
}
_CURL_SERVER = frozenset((5, 6, 7, 8, 16, 18, 28, 35, 45, 47, 52, 55, 56, 92, 95))
# Types of HTCondor's TransferErrorData.
_TYPES = {
    "parameter": FaultKind.REFUSED,
    "resolution": FaultKind.SERVER,
    "contact": FaultKind.SERVER,
    "authorization": FaultKind.DENIED,
    "specification": FaultKind.MISSING,
    "transfer": FaultKind.SERVER,
}
_WORDS = (
    (re.compile(r"no space|quota|disk full|insufficient storage"), FaultKind.NO_SPACE),
    (
        re.compile(r"refused|timed out|timeout|reset by|unreachable|resolve host|broken pipe"),
        FaultKind.SERVER,
    ),
    (re.compile(r"not found|no such file|no such bucket|does not exist"), FaultKind.MISSING),
    (re.compile(r"denied|forbidden|unauthori[sz]ed|certificate|permission"), FaultKind.DENIED),
)
_STATUS_IN_TEXT = re.compile(r"(?:error|status|code|http)\D{0,12}\b([45]\d\d)\b", re.IGNORECASE)


class Ability(NamedTuple):
    """What a plugin says of itself."""

    schemes: frozenset[str]  # it knows, in lower case
    several: bool  # whether it reads its transfers from a file (`-infile`)


def ability(ad: Ad) -> Ability:
    """By what `-classad` has printed.

    Raises:
        ValueError: that is no ad of a file-transfer plugin.
    """
    methods = ad.get("supportedmethods")
    if str(ad.get("plugintype", "")).lower() != "filetransfer" or not isinstance(methods, str):
        raise ValueError("it does not call itself a file-transfer plugin")
    schemes = (word.strip().lower() for word in methods.split(","))
    return Ability(frozenset(filter(None, schemes)), ad.get("multiplefilesupport") is True)


def fault_of_result(result: Ad, plugin: str, server: str) -> Fault | None:
    """What is wrong with a transfer, by its result; None if it succeeded.

    Args:
        result: the ad that the plugin wrote.
        plugin: its name.
        server: that it worked with; its fault if the kind is SERVER.
    """
    if result.get("transfersuccess") is True:
        return None
    text = result.get("transfererror")
    said = text if isinstance(text, str) and text else "it does not say why"
    details = _details(result)
    kind, transient = _kind(said, details)
    retryable = details.get("transferretryable", details.get("retryable"))
    if isinstance(retryable, bool):
        transient = retryable
    return Fault(
        kind,
        f"{plugin}: {message(masked_text(said))}",
        transient=transient,
        host=server if kind is FaultKind.SERVER else "",
    )


def fault_of_text(text: str, plugin: str, server: str) -> Fault:
    """As `fault_of_result`, for a plugin that has written no result; `text` is its last line."""
    found = fault_of_result({"transfererror": text}, plugin, server)
    assert found is not None
    return found


def _details(result: Ad) -> Ad:
    """The result, with what newer plugins put into ads within it; the outermost counts."""
    found: Ad = {}
    errors = result.get("transfererrordata")
    inner: list[Value] = errors[-1:] if isinstance(errors, list) else []
    for ad in (*inner, result.get("developerdata")):
        if isinstance(ad, dict):
            more = ad.get("developerdata")
            found = {**found, **(more if isinstance(more, dict) else {}), **ad}
    return {**found, **result}


def _kind(text: str, details: Ad) -> tuple[FaultKind, bool]:
    """Kind of fault and whether it is transient: by status, libcurl's code, words, type."""
    status = details.get("transferhttpstatuscode")
    if not isinstance(status, int) or status < 400:
        in_text = _STATUS_IN_TEXT.search(text)
        status = int(in_text[1]) if in_text else 0
    if status in _STATUS:
        return _STATUS[status], False
    if status >= 500 or status in _TRANSIENT_STATUS:
        return _by_words(text) or (FaultKind.SERVER, status != 550)
    if status >= 400:
        return FaultKind.REFUSED, False
    code = details.get("libcurlreturncode")
    if isinstance(code, int) and code in _CURL:
        return _by_words(text) or (_CURL[code], False)
    if isinstance(code, int) and code in _CURL_SERVER:
        return FaultKind.SERVER, True
    by_type = _TYPES.get(str(details.get("errortype", "")).lower())
    if by_type:
        return by_type, by_type.transient
    return _by_words(text) or (FaultKind.MODULE, True)


def _by_words(text: str) -> tuple[FaultKind, bool] | None:
    lower = text.lower()
    for words, kind in _WORDS:
        if words.search(lower):
            return kind, kind.transient
    return None
