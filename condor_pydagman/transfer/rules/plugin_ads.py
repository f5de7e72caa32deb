"""The ads that HTCondor's file-transfer plugins read and write, without the bindings.

Only constants: strings, numbers, truth values, lists, and ads within ads, in the notation of
ClassAds with brackets, or as lines `Name = value`.  Plugins are programs of others, so what they
write is read strictly, and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Union

Value = Union[str, int, float, bool, None, "list[Value]", "dict[str, Value]"]
Ad = dict[str, Value]

MAX_CHARACTERS = 1 << 20
MAX_DEPTH = 10
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<mark>[\[\]{};,=])
      | "(?P<string>(?:[^"\\]|\\.)*)"
      | '(?P<quoted>(?:[^'\\]|\\.)*)'
      | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
      | (?P<word>[A-Za-z_]\w*)
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS: dict[str, Value] = {"true": True, "false": False, "undefined": None, "error": None}
_UNSAFE = re.compile(r'["\\\x00-\x1f\x7f]')


def printed(ad: Mapping[str, str]) -> str:
    """An ad of strings: `[ Name = "value"; ... ]`."""
    pairs = "; ".join(f"{name} = {quoted(value)}" for name, value in ad.items())
    return f"[ {pairs} ]"


def quoted(text: str) -> str:
    """A string as ClassAds have it.

    Raises:
        ValueError: it has a zero byte.
    """
    if "\0" in text:
        raise ValueError("a ClassAd can't hold a zero byte")
    return f'"{_UNSAFE.sub(_escaped, text)}"'


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    return f"\\{character}" if character in '"\\' else f"\\{ord(character):03o}"


def read_ads(text: str) -> list[Ad]:
    """The ads of a text, one after another in brackets; attributes have lower-case names.

    Raises:
        ValueError: it is something else, or too long; the message says what, and where.
    """
    return _Reader(text).ads()


def read_lines(lines: Iterable[str]) -> Ad:
    """An ad as lines `Name = value`; lines that are none are left out.

    Raises:
        ValueError: a value is no constant.
    """
    ad: Ad = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and re.fullmatch(r"\s*[A-Za-z_]\w*\s*", name):
            ad.update(_Reader(f"[{name}={value.rstrip().rstrip(';')}]").ads()[0])
    return ad


class _Reader:
    """Reads one text."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"it has more than {MAX_CHARACTERS} characters")
        self._text = text
        self._at = 0
        self._next()

    def ads(self) -> list[Ad]:
        found = []
        while self._kind != "end":
            self._expect("[")
            found.append(self._ad(1))
            while self._is(",") or self._is(";"):
                self._next()
        return found

    def _next(self) -> None:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise self._wrong()
        self._kind = found.lastgroup or ""
        self._word = found[self._kind]
        self._start, self._at = found.start(self._kind), found.end()

    def _is(self, mark: str) -> bool:
        return self._kind == "mark" and self._word == mark

    def _expect(self, mark: str) -> None:
        if not self._is(mark):
            raise self._wrong()
        self._next()

    def _wrong(self) -> ValueError:
        line = self._text.count("\n", 0, self._at) + 1
        return ValueError(f"line {line} is not a ClassAd of constants")

    def _ad(self, depth: int) -> Ad:
        """After `[`, to its `]`."""
        ad: Ad = {}
        while not self._is("]"):
            if self._kind not in ("word", "quoted"):
                raise self._wrong()
            name = self._word.lower()
            self._next()
            self._expect("=")
            ad[name] = self._value(depth)
            if not self._is("]"):
                self._expect(";")
        self._next()
        return ad

    def _list(self, depth: int) -> list[Value]:
        """After `{`, to its `}`."""
        values: list[Value] = []
        while not self._is("}"):
            values.append(self._value(depth))
            if not self._is("}"):
                self._expect(",")
        self._next()
        return values

    def _value(self, depth: int) -> Value:
        if depth >= MAX_DEPTH:
            raise ValueError(f"ads within ads more than {MAX_DEPTH} deep")
        kind, word = self._kind, self._word
        if kind in ("mark", "end", "quoted") and word not in ("[", "{"):
            raise self._wrong()
        if kind == "word" and word.lower() not in _WORDS:
            raise self._wrong()
        self._next()
        if kind == "mark":
            return self._ad(depth + 1) if word == "[" else self._list(depth + 1)
        if kind == "string":
            return _ESCAPE.sub(_character, word)
        if kind == "number":
            return _number(word)
        return _WORDS[word.lower()]


def _number(word: str) -> int | float:
    if len(word) > 40:
        raise ValueError("a number is too long")
    return int(word) if word.lstrip("+-").isdigit() else float(word)


def _character(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPED.get(code, code)
