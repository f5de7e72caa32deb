"""The words of `arguments` and `environment` in condor_submit's new syntax, in double quotes."""

from __future__ import annotations


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
    words: list[str] = []
    parts: list[str] = []
    begun = False
    at = 0
    while at < len(raw):
        character, at = raw[at], at + 1
        if character == "'":
            begun = True
            content, at = _single_quoted(raw, at)
            parts.append(content)
        elif character in " \t\n\r":
            if begun:
                words.append("".join(parts))
            parts, begun = [], False
        else:
            begun = True
            parts.append(character)
    if begun:
        words.append("".join(parts))
    return words


def _single_quoted(raw: str, at: int) -> tuple[str, int]:
    """The text up to the single quote that ends it, and the index behind that."""
    start = at
    parts: list[str] = []
    while True:
        end = raw.find("'", at)
        if end < 0:
            raise ValueError(f"Unbalanced quote starting here: {raw[start - 1 :]}")
        parts.append(raw[at:end])
        if raw[end + 1 : end + 2] != "'":
            return "".join(parts), end + 1
        parts.append("'")
        at = end + 2
