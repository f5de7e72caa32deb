"""The parts of a job's Requirements that must all hold, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SIGN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|&&|\|\||[()?\[\]{}]|[^"\'&|()?\[\]{}]+|.'
)
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.])((?:[A-Za-z_]\w*\.)?[A-Za-z_]\w*)\b(?!\s*\()')
_OPEN, _CLOSE = "([{", ")]}"


def clauses_of(expression: str) -> list[str]:
    """The operands of all `&&` that are in no other operation; the expression itself if none."""
    text = _without_parentheses(expression.strip())
    parts = _split(text)
    if len(parts) == 1:
        return [text]
    return [clause for part in parts for clause in clauses_of(part)]


def names_in(expression: str) -> list[str]:
    """The attributes that an expression names, each once; `TARGET.Memory` as it stands."""
    found = (match[1] for match in _NAME.finditer(expression))
    return list(dict.fromkeys(name for name in found if name))


def _split(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for sign, at in _signs(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth == 0 and sign in ("||", "?"):
            return [text]
        if depth == 0 and sign == "&&":
            parts.append(text[begin:at].strip())
            begin = at + len(sign)
    return [*parts, text[begin:].strip()]


def _without_parentheses(text: str) -> str:
    """Without a pair of parentheses around the whole."""
    while text.startswith("(") and _closes_at(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closes_at(text: str) -> int:
    """Where the first parenthesis is closed, -1 if nowhere."""
    depth = 0
    for sign, at in _signs(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth == 0:
            return at
    return -1


def _signs(text: str) -> Iterator[tuple[str, int]]:
    return ((found[0], found.start()) for found in _SIGN.finditer(text))
