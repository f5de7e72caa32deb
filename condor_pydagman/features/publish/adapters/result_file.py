"""The file of PUBLISH: a small ClassAd or JSON object that a node has written, with literal values
only."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import classad2

from condor_pydagman.adapters.classad_values import MAX_VALUE_BYTES, literal
from condor_pydagman.adapters.descriptions import BINDINGS
from condor_pydagman.adapters.files import open_to_read
from condor_pydagman.vocabulary import CLASSAD_WORDS, PARENT_ATTRIBUTES

MAX_FILE_BYTES = 16_384  # of a file with what a node publishes

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,99}", re.ASCII)
_WORD = "|".join(CLASSAD_WORDS)
_NAMED_BY_WORD = re.compile(rf"(?:^|[;\[])\s*({_WORD})\s*=", re.IGNORECASE | re.MULTILINE)
# Texts, names, remarks; numbers with a fraction or an exponent; what else begins with a digit.
_DIGITS = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|//[^\n]*|/\*.*?\*/'
    r"|(\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\.\d+(?:e[-+]?\d+)?)|(\d\w*)",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
MAX_INTEGER = 2**63 - 1


class BadResult(Exception):
    """A file does not have what a node can publish; the text says why."""


def read_result(path: str) -> list[tuple[str, str]]:
    """Names and values of a file that a node has written: a ClassAd, `[ n = 3; s = "x" ]`, a line
    `name = value` for each, as HTCondor writes ads, or a JSON object, `{"n": 3, "s": "x"}`.

    Raises:
        BadResult: it can't be read, or has something else in it.
    """
    text = _text(path)
    if text.lstrip()[:1] == "{":
        try:
            return _sorted(_read_json(text))
        except RecursionError:
            raise BadResult("its values are nested too deep") from None
    if text.lstrip()[:1] != "[":
        lines = (line.strip() for line in text.splitlines())
        text = "[" + ";\n".join(line for line in lines if line[:1] not in ("", "#")) + "]"
    _check_numbers(text)
    try:
        ad = classad2.ClassAd(text)
        names = list(ad.keys())
    except (classad2.ClassAdException, *BINDINGS):
        word = _NAMED_BY_WORD.search(text)
        if word is not None:
            raise _no_name(word[1]) from None
        raise BadResult("it is not a ClassAd: expected [ name = value; ... ]") from None
    return _sorted([(name, ad[name]) for name in names])


def _sorted(pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(n, _value(n, value)) for n, value in sorted(pairs, key=lambda one: one[0].lower())]


def _read_json(text: str) -> list[tuple[str, Any]]:
    """Names and values of a JSON object; Python and others also write NaN and Infinity into it."""
    try:
        pairs: list[tuple[str, Any]]
        pairs = json.loads(text, object_pairs_hook=_Object, parse_int=_integer, parse_float=_real)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadResult(f"it begins with {{ but is not JSON: {place}: {error.msg}") from None
    for name, count in Counter(name.lower() for name, _ in pairs).items():
        if count > 1:
            raise BadResult(f"{name[:100]!r} is there twice; case does not count in ClassAds")
    return pairs


class _Object(list[Any]):
    """A JSON object: all its names with their values."""


def _has_object(value: Any) -> bool:
    return isinstance(value, _Object) or (isinstance(value, list) and any(map(_has_object, value)))


def _integer(digits: str) -> int:
    if len(digits) > 30 or abs(int(digits)) > MAX_INTEGER:
        raise BadResult(f"{digits[:40]} is not between -{MAX_INTEGER} and {MAX_INTEGER}")
    return int(digits)


def _real(digits: str) -> float:
    if math.isinf(float(digits)):
        raise BadResult(f"{digits[:40]} is out of the range of numbers: it would be infinite")
    return float(digits)


def _check_numbers(text: str) -> None:
    """Refuse integers that the ClassAd language takes for 0, and reals that it takes for infinite.

    Raises:
        BadResult: there is one.
    """
    for found in _DIGITS.finditer(text):
        _real(found[1] or "0")
        number = found[2] or "0"
        if not number.isdigit() or len(number) > 30 or int(number) > MAX_INTEGER:
            raise BadResult(
                f"{number[:40]} is not a decimal number up to {MAX_INTEGER}: write it as text, in"
                " quotes"
            )


def _no_name(name: str) -> BadResult:
    return BadResult(f"{name[:100]!r} can't be the name of a value")


def _text(path: str) -> str:
    try:
        fd = open_to_read(path)
        with os.fdopen(fd, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadResult(error.strerror or str(error)) from None
    if len(data) > MAX_FILE_BYTES:
        raise BadResult(f"it is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")  # editors write a byte order mark
    except UnicodeDecodeError:
        raise BadResult("it is no text in UTF-8") from None
    if "\0" in text:
        raise BadResult("it has a byte 0 in it")
    return text


def _value(name: str, value: Any) -> str:
    if not _NAME.fullmatch(name) or name.lower() in CLASSAD_WORDS:
        raise _no_name(name)
    if name.lower() in (own.lower() for own in PARENT_ATTRIBUTES):
        raise BadResult(
            f"{name} can't be published: every parent has {', '.join(PARENT_ATTRIBUTES)}"
        )
    if _has_object(value):
        raise BadResult(f"{name} has an object in it: give its values names of their own")
    written = literal(value)  # an expression has no form: it is not evaluated
    if written is None:
        raise BadResult(f"{name} is not a number, text, truth value, or list of these")
    try:
        size = len(written.encode())
    except UnicodeEncodeError:  # JSON's \ud800
        raise BadResult(f"{name} has half of a character in it") from None
    if size > MAX_VALUE_BYTES:
        raise BadResult(f"{name} is longer than {MAX_VALUE_BYTES} bytes")
    return written
