"""The words of `arguments` and `environment` as condor_submit splits them."""

from __future__ import annotations

import re

_BLANKS = " \t\r\n"  # others are of a word's text
_OUTER = re.compile('"([^"]*(?:""[^"]*)*)"(?!")')
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
    text = text.lstrip()
    if not text.startswith('"'):
        raise ValueError("Expecting a double-quote at the beginning.")
    found = _OUTER.match(text)
    if found is None:
        raise ValueError("Unterminated double-quote.")
    if text[found.end() :].strip():
        raise ValueError(
            "Unexpected characters following double-quote.  Did you forget to escape the "
            "double-quote by repeating it?  Here is the quote and trailing characters: "
            + text[found.end() - 1 :]
        )
    return _split(found[1].replace('""', '"'))


def _split(raw: str) -> list[str]:
    """Split at blanks, except between single quotes; there, a doubled one is a single one."""
    words = []
    for found in _WORD.finditer(raw):
        if found[0] == "'":
            raise ValueError(f"Unbalanced quote starting here: {raw[found.start() :]}")
        words.append(_QUOTED.sub(lambda part: part[1].replace("''", "'"), found[0]))
    return words
