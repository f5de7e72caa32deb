"""Text from untrusted sources for messages: limited in length, without control characters."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_MESSAGE_CHARS = 1000
# Control characters except the tab, also as bytes that are no UTF-8; line separators of Unicode,
# and marks of writing direction.
_CONTROLS = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udc9f]")


def printable(text: str) -> str:
    """`text` with tabs as blanks and unprintable characters as `\\\\x1b` or `\\\\u00a0`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def printable_lines(text: str) -> str:
    """`text` of several lines, each as `printable` has it."""
    return "\n".join(map(printable, text.split("\n")))


def message(text: str) -> str:
    """`text` as part of a message: one line of at most MAX_MESSAGE_CHARS characters."""
    if len(text) > MAX_MESSAGE_CHARS:
        text = text[:MAX_MESSAGE_CHARS] + "..."
    return printable(text)


def escaped_line(text: str) -> str:
    """`text` as one line of a log: control characters as `\\\\x1b`, all else as it is."""
    return _CONTROLS.sub(lambda found: _escaped(found[0]), text)


def escaped_lines(text: str) -> str:
    """`text` of several lines, each as `escaped_line` has it."""
    return "\n".join(map(escaped_line, text.split("\n")))


def _escaped(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return " "
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number_of(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`, `12,345 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def does(count: int, verb: str) -> str:
    """The verb for so many things: `waits`, `wait`; `is`, `are`."""
    if verb == "be":
        return "is" if count == 1 else "are"
    return f"{verb}s" if count == 1 else verb


def first_of(names: Sequence[str], most: int = 5) -> str:
    """`A, B and 3 more`: the first names, and how many others there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def size_text(size: float) -> str:
    """A number of bytes in at most eight characters: "1.4 GB"."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000 and (size < 999.5 or unit == "bytes"):
            digits = 0 if unit == "bytes" or size >= 99.95 else 1
            return f"{size:.{digits}f} {unit}"
        size /= 1024
    return f"{size:.1f} PB"
