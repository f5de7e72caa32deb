"""Where the text of a ClassAd expression is wrong: the bindings say only that it is.

Only what no expression has counts as a mistake here (manual: "ClassAd Syntax"); the bindings have
the last word on the rest.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from condor_pydagman.features.common.rows import Part, text_to_the_end
from condor_pydagman.language.lexer import LineError, Words

MAX_OF_LINE = 4000  # characters of one in a RUN_IF or NODE_RESULT line
MAX_EXPRESSION = 10_000  # characters of one: HTCondor's library crashes on much longer ones
_PAIRS = {")": "(", "]": "[", "}": "{"}
_TOKEN = re.compile(
    r"""(?P<space>\s+ | //[^\n]*\n | /\*.*?\*/)
    | (?P<value>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*'
        | [A-Za-z_][A-Za-z0-9_.]*(?:(?<=\.)'(?:[^'\\]|\\.)*'[A-Za-z0-9_.]*)*
        | [0-9][0-9A-Za-z_.]*(?:[eE][+-]?[0-9]+)?)
    | (?P<open_text>["'])
    | (?P<bracket>[()\[\]{}])
    | (?P<operator>=\?=|=!=|&&|\|\||[<>=!]=|<<|>>>?|[-+*/%<>!~^&|?:,;.=])""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile("[A-Za-z_']")
_EQUALS = "="
_WORDS = frozenset(("is", "isnt"))  # that are operators
_PREFIXES = ("!", "~")
_OTHER_WORDS = {"and": "&&", "or": "||"}  # operators elsewhere, and what they are here
_BINARY = frozenset(
    (
        *("=?=", "=!=", "&&", "||", "<=", ">=", "==", "!=", "<<", ">>", ">>>"),
        *("*", "/", "%", "<", ">", "^", "&", "|", "?", ":", ",", _EQUALS, *_WORDS),
    )
)


def first_mistake(expression: str) -> tuple[int, str] | None:
    """Where an expression is wrong (an index), and why; None if nothing in it is wrong for sure."""
    reader = _Reader()
    position = 0
    while position < len(expression):
        found = _TOKEN.match(expression, position)
        if found is None:
            return position, f"{expression[position]!r} has no meaning here"
        wrong = reader.take(str(found.lastgroup), found[0], position)
        if wrong:
            return position, wrong
        position = found.end()
    return reader.end()


class Expression(Part):
    """A ClassAd expression at the end of a line, in which nothing is wrong for sure."""

    sample = "x == 1"

    def __init__(self, what: str = "", most: int = MAX_EXPRESSION, shown: str = "") -> None:
        super().__init__(
            "ClassAd expression", shown or "<ClassAd expression>", take=text_to_the_end, put=str
        )
        self.what = what  # what messages call it, '' for the word that announces it
        self.most = most  # its greatest length, in characters

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        """As of `Part`."""
        return self.checked(super().read(words, key or self.what), words, key or self.what)

    def checked(self, text: str, words: Words, what: str) -> str:
        """`text`, which ends the line."""
        if len(text) > self.most:
            hint = f"an expression has {self.most:,} characters at most"
            message = f"The {what} expression has {len(text):,} characters"
            raise LineError(message, words, hint=hint)
        found = first_mistake(text)
        if found is not None:
            at, why = found
            column = len(words.line.rstrip()) - len(text) + at
            message = f"Invalid {what} expression '{text}'"
            raise LineError(message, words, hint=why, column=column)
        return text


expression: Any = Expression  # as default of a field


def free_names(expression: str) -> list[str]:
    """The names of an expression, each with what follows its points, but for functions; of one
    without mistakes.  None, if it has records or lists, whose names mean something in them only."""
    found = [match for match in _TOKEN.finditer(expression) if match.lastgroup != "space"]
    tokens = [match[0] for match in found]
    if not {"[", "."}.isdisjoint(tokens):
        return []
    return [
        token
        for match, token, after in zip(found, tokens, [*tokens[1:], ""])
        if match.lastgroup == "value" and _NAME.match(token) and after != "("
    ]


class _Reader:
    """Takes an expression apart, token by token."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []  # brackets
        self._before = ""  # the last token
        self._at = 0  # where that is
        self._has_value = False  # whether a value has just ended

    def take(self, kind: str, token: str, position: int) -> str:
        """Why a token can't stand there; '' if it may."""
        if kind == "space":
            return ""
        if kind == "open_text":
            return "this text has no end: a quote is missing"
        if token.lower() in _WORDS and self._has_value:
            kind = "operator"
        wrong = self._misplaced(kind, token)
        if kind == "bracket" and not wrong:
            self._note_bracket(token, position)
        self._has_value = kind == "value" or token in _PAIRS
        self._before, self._at = token, position
        return wrong

    def end(self) -> tuple[int, str] | None:
        """Where what is there has no end, and why."""
        if self._open:
            at, bracket = self._open[-1]
            return at, f"{bracket!r} is not closed"
        if self._has_value:
            return None
        of_percent = ": % is the remainder of a division" if self._before == "%" else ""
        return self._at, f"a value is missing after this{of_percent}"

    def _misplaced(self, kind: str, token: str) -> str:
        if kind == "value":
            joined = token[0] == self._before[:1] == '"'  # two texts are one
            return self._no_operator(token) if self._has_value and not joined else ""
        if token in _PREFIXES and self._has_value:
            return f"an operator is missing before {token!r}"
        if token in _PAIRS:
            closes = self._open and self._open[-1][1] == _PAIRS[token]
            return "" if closes else f"{token!r} closes nothing"
        is_default = (self._before, token) == ("?", ":")
        if token in _BINARY and not self._has_value and not is_default:
            return f"{token!r} needs a value before it"
        if token == _EQUALS and not any(bracket == "[" for _, bracket in self._open):
            return "a single '=' is no comparison: write == or =?="
        return ""

    def _no_operator(self, token: str) -> str:
        """Why a value can't follow another one."""
        here = _OTHER_WORDS.get(token.lower(), "")
        if here:
            return f"{token!r} is no operator: write {here}"
        if self._before.lower() == "not":
            return f"{self._before!r} is no operator: write !"
        return f"an operator is missing before {token!r}"

    def _note_bracket(self, token: str, position: int) -> None:
        if token in _PAIRS:
            self._open.pop()
        else:
            self._open.append((position, token))
