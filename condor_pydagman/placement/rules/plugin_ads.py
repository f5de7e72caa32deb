"""What HTCondor's file-transfer plugins read and write, as plain values; ads are written here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Union

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
