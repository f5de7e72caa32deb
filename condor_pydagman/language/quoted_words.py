"""The words of `arguments` and `environment` as condor_submit splits them."""

from __future__ import annotations

import re

_BLANKS = " \t\r\n"  # others are of a word's text
_QUOTED = re.compile("'((?:[^']|'')*)'(?!')")
_WORD = re.compile(rf"(?:[^{_BLANKS}']|{_QUOTED.pattern})+|'")  # or a quote that nothing ends
_OLD_WORD = re.compile(f"[^{_BLANKS}]+")


def parse_arguments(text: str) -> list[str]:
    """The words of an `arguments` value in either syntax: in double quotes, or separated by blanks,
    where a backslash stands before each double quote.

    Raises:
        ValueError: the quotes don't match; the message is stock's.
    """
    if text.lstrip().startswith('"'):
        return parse_quoted(text)
    illegal = '"' in text and re.search(r'(?<!\\)"', text)
    if illegal:
        raise ValueError(f"Found illegal unescaped double-quote: {text[illegal.start() :]}")
    return _OLD_WORD.findall(text.replace('\\"', '"'))


def parse_quoted(text: str) -> list[str]:
    """The words of a double-quoted `arguments` or `environment` value.

    Raises:
        ValueError: the quotes don't match; the message is stock's.
    """
    return _split(_unquoted(text))


def _unquoted(text: str) -> str:
    """What stands between the outer double quotes, doubled ones made single."""
    text = text.lstrip()
    if not text.startswith('"'):
        raise ValueError("Expecting a double-quote at the beginning.")
    parts: list[str] = []
    at = 1
    while True:
        end = text.find('"', at)
        if end < 0:
            raise ValueError("Unterminated double-quote.")
        parts.append(text[at:end])
        if text[end + 1 : end + 2] != '"':
            break
        parts.append('"')
        at = end + 2
    if text[end + 1 :].strip():
        raise ValueError(
            "Unexpected characters following double-quote.  Did you forget to escape the "
            "double-quote by repeating it?  Here is the quote and trailing characters: "
            + text[end:]
        )
    return "".join(parts)


def _split(raw: str) -> list[str]:
    """Split at blanks, except between single quotes; there, a doubled one is a single one."""
    words = []
    for found in _WORD.finditer(raw):
        if found[0] == "'":
            raise ValueError(f"Unbalanced quote starting here: {raw[found.start() :]}")
        words.append(_QUOTED.sub(lambda part: part[1].replace("''", "'"), found[0]))
    return words
