"""The file of PUBLISH: a small ClassAd that a node has written, with literal values only."""

from __future__ import annotations

import os
import re
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
# Texts, names, remarks, numbers with a fraction or an exponent; and what else begins with a digit.
_DIGITS = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[A-Za-z_]\w*|//[^\n]*|/\*.*?\*/'
    r"|\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|\.\d+(?:e[-+]?\d+)?|(\d\w*)",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
MAX_INTEGER = 2**63 - 1


class BadResult(Exception):
    """A file does not have what a node can publish; the text says why."""


def read_result(path: str) -> list[tuple[str, str]]:
    """Names and values of a file that a node has written: a ClassAd, `[ n = 3; s = "x" ]`, or a
    line `name = value` for each, as HTCondor writes ads.

    Raises:
        BadResult: it can't be read, or has something else in it.
    """
    text = _text(path)
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
    return [(name, _value(ad, name)) for name in sorted(names, key=str.lower)]


def _check_numbers(text: str) -> None:
    """Refuse integers that the ClassAd language takes for 0.

    Raises:
        BadResult: there is one.
    """
    for found in _DIGITS.finditer(text):
        number = found[1] or "0"
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


def _value(ad: Any, name: str) -> str:
    if not _NAME.fullmatch(name) or name.lower() in CLASSAD_WORDS:
        raise _no_name(name)
    if name.lower() in (own.lower() for own in PARENT_ATTRIBUTES):
        raise BadResult(
            f"{name} can't be published: every parent has {', '.join(PARENT_ATTRIBUTES)}"
        )
    written = literal(ad[name])  # an expression has no form: it is not evaluated
    if written is None:
        raise BadResult(f"{name} is not a number, text, truth value, or list of these")
    if len(written.encode()) > MAX_VALUE_BYTES:
        raise BadResult(f"{name} is longer than {MAX_VALUE_BYTES} bytes")
    return written
