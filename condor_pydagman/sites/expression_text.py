"""Where the text of a ClassAd expression is wrong: the bindings say only that it is."""

from __future__ import annotations

import re

_PAIRS = {")": "(", "]": "[", "}": "{"}
_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<text>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
    | (?P<open_text>["'])
    | (?P<word>[A-Za-z_][A-Za-z0-9_.]* | [0-9][0-9A-Za-z_.]*(?:[eE][+-]?[0-9]+)?)
    | (?P<bracket>[()\[\]{}])
    | (?P<operator>=\?=|=!=|&&|\|\||[<>=!]=|<<|>>>?|[-+*/%<>!~^&|?:,;.=])""",
    re.VERBOSE | re.DOTALL,
)
_SINGLE_EQUALS = "="
_BINARY = frozenset(
    (
        *("=?=", "=!=", "&&", "||", "<=", ">=", "==", "!=", "<<", ">>", ">>>"),
        *("*", "/", "%", "<", ">", "^", "&", "|", "?", ":", ",", _SINGLE_EQUALS),
    )
)


def first_mistake(expression: str) -> tuple[int, str]:
    """Where an expression that ClassAds do not take is wrong (an index), and why.

    The first thing that no expression has is named; where there is none, the whole is.
    """
    open_ones: list[tuple[int, str]] = []
    operand = None  # where the last thing that is a value ended; None: a value is expected
    last = 0
    position = 0
    while position < len(expression):
        found = _TOKEN.match(expression, position)
        if found is None:
            return position, f"{expression[position]!r} has no meaning here"
        kind, token = str(found.lastgroup), found[0]
        if kind == "open_text":
            return position, "this text has no end: a quote is missing"
        if kind != "space":
            wrong = _misplaced(kind, token, operand is not None, open_ones)
            if wrong:
                return position, wrong
            if kind == "bracket":
                _note_bracket(token, position, open_ones)
            is_value = kind in ("text", "word") or token in _PAIRS
            operand = found.end() if is_value else None
            last = position
        position = found.end()
    if open_ones:
        return open_ones[-1][0], f"{open_ones[-1][1]!r} is not closed"
    if operand is None:
        return last, "a value is missing after this"
    return 0, "this is no ClassAd expression"


def _misplaced(kind: str, token: str, after_value: bool, open_ones: list[tuple[int, str]]) -> str:
    """Why a token can't stand there; '' if it may."""
    if kind in ("text", "word") and after_value:
        return f"an operator is missing before {token!r}"
    if token in _PAIRS:
        if not open_ones or open_ones[-1][1] != _PAIRS[token]:
            return f"{token!r} closes nothing"
    elif token in _BINARY and not after_value:
        return f"{token!r} needs a value before it"
    elif token == _SINGLE_EQUALS and not any(bracket == "[" for _, bracket in open_ones):
        return "a single '=' is no comparison: write == or =?="
    return ""


def _note_bracket(token: str, position: int, open_ones: list[tuple[int, str]]) -> None:
    if token in _PAIRS:
        open_ones.pop()
    else:
        open_ones.append((position, token))
