"""Text of unknown origin as a message can show it: bounded, and with nothing invisible."""

from __future__ import annotations

import re

LONGEST_MESSAGE = 1000
# Control characters but the tab; what ends a line elsewhere, or turns the direction of writing.
_TRICKS = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """`text` with tabs as blanks and what can't be printed as `\\\\x1b` or `\\\\u00a0`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _named(c) for c in text)


def message(text: str) -> str:
    """`text` as part of a message: not too long, in one row."""
    if len(text) > LONGEST_MESSAGE:
        text = text[:LONGEST_MESSAGE] + "..."
    return printable(text)


def without_tricks(text: str) -> str:
    """`text` as one line of a log: control characters as `\\\\x1b`, all else as it is."""
    return _TRICKS.sub(lambda found: _named(found[0]), text)


def _named(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return " "
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
