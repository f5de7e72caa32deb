"""Text of a request file to ads: keys and values, and where each stands.

Stork wrote ClassAds: `[ key = value; ... ]`, one or several in a file.  Older files have the same
lines without brackets.  There a request ends where a key comes again.  A value is a string in
quotes, a list of such strings, or a bare word up to the end of the line or a `;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.errors import DagFileError
from condor_pydagman.language.description import QUEUES
from condor_pydagman.language.lexer import excerpt
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

MAX_LENGTH = 64 * 1024**2  # characters of a request file
TYPE_KEY = "dap_type"
EXPECTED = 'a request begins with dap_type = "transfer", "allocate" or "release"'

_COMMENT = r"#[^\n]*|//[^\n]*|/\*.*?\*/"
_SPACE = re.compile(rf"(?:\s+|{_COMMENT})*", re.DOTALL)
_BETWEEN_PAIRS = re.compile(rf"(?:[\s;]+|{_COMMENT})*", re.DOTALL)
_KEY = re.compile(r"([A-Za-z_][\w.]*)[ \t\r]*(=?)[ \t\r]*")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"[ \t\r]*')
_BARE = re.compile(r'[^\s";\[\]{},][^";\n]*')
_BARE_IN_BRACKETS = re.compile(r'[^\s";\[\]{},][^";\n\]]*')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ENDS_VALUE = frozenset(("", ";", "\n", "]", "}", ",", "#", "/"))
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_REQUEST = re.compile(r"(?:^|[;\[])[ \t]*dap_type\s*=", re.IGNORECASE | re.MULTILINE)
_SUBMIT_FILE = re.compile(rf"^[ \t]*(?:{QUEUES}(?!\s*=)|executable[ \t]*=)", re.I | re.M)


class Value(NamedTuple):
    """A value of an ad, and its place in the text."""

    value: str | list[str]  # a string, or a list of strings; a number or word as it is written
    at: int  # index of its first character
    key_at: int  # index of its key


Ad = dict[str, Value]  # by key, in lower case


def is_submit_file(text: str) -> bool:
    """Whether a file that a DATA command names is an ordinary submit file."""
    return _SUBMIT_FILE.search(text) is not None


def is_request(kind: int, text: str) -> bool:
    """Whether the file of a node of that kind is a request: of DATA, and of a FINAL node, which may
    have to release what the DAG has allocated."""
    if kind == NodeKind.FINAL and _REQUEST.search(text) is None:
        return False
    return kind in (NodeKind.DATA, NodeKind.FINAL) and not is_submit_file(text)


class RequestText:
    """The text of a request file, with a name for messages."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self._known = (0, 1)  # an index, and the number of its line

    def line_of(self, at: int) -> int:
        """Number of the line, from 1, of the character at an index; fast for growing indices."""
        begin, line = self._known if self._known[0] <= at else (0, 1)
        self._known = at, line + self.text.count("\n", begin, at)
        return self._known[1]

    def fail(self, at: int, message: str, hint: str = "") -> NoReturn:
        """Refuse the text because of what is at that index.

        Raises:
            DagFileError: with the line, and a caret under that character.
        """
        at = min(at, len(self.text))
        begin = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line = self.text[begin : end if end >= 0 else None]
        shown = excerpt(masked_text(line), len(masked_text(line[: at - begin])))
        raise DagFileError(
            masked_text(message),
            file=self.name,
            line=self.line_of(at),
            column=at - begin + 1,
            excerpt=shown,
            hint=hint,
        )


def read_ads(source: RequestText) -> Iterator[Ad]:
    """The ads of a request file, in order.

    Raises:
        DagFileError: it is empty, too long, or no sequence of ads.
    """
    text = source.text
    if len(text) > MAX_LENGTH:
        raise DagFileError(
            f"the request file has more than {MAX_LENGTH >> 20} MB",
            file=source.name,
            line=1,
            hint="divide it among several DATA nodes",
        )
    if "\0" in text:
        source.fail(text.index("\0"), "this is not text: is the file a request file?")
    reader = _Reader(source)
    if reader.at_end():
        raise DagFileError(
            "the request file is empty",
            file=source.name,
            line=1,
            hint=EXPECTED,
        )
    while not reader.at_end():
        if reader.take("["):
            yield reader.bracketed()
        else:
            yield from reader.bare()


class _Reader:
    def __init__(self, source: RequestText) -> None:
        self.source = source
        self.text = source.text
        self.at = 1 if self.text[:1] == "\ufeff" else 0

    def at_end(self, space: re.Pattern[str] = _SPACE) -> bool:
        self.skip(space)
        return self.at >= len(self.text)

    def skip(self, space: re.Pattern[str] = _SPACE) -> None:
        found = space.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        if self.text[self.at : self.at + 2] == "/*":
            self.source.fail(self.at, "this comment does not end", "end it with */")

    def take(self, mark: str) -> bool:
        if self.text[self.at : self.at + 1] == mark:
            self.at += 1
            return True
        return False

    def bracketed(self) -> Ad:
        """What follows a `[`, with its `]`."""
        opened, ad = self.at - 1, Ad()
        while True:
            if self.at_end(_BETWEEN_PAIRS):
                self.source.fail(opened, "this [ is not closed", "end the request with ]")
            if self.take("]"):
                self.skip()
                self.take(",") or self.take(";")
                return ad
            key, value = self.pair(_BARE_IN_BRACKETS)
            if key in ad:
                self.source.fail(value.key_at, f"{key} is there twice in one request")
            ad[key] = value

    def bare(self) -> Iterator[Ad]:
        """Requests without brackets, up to a `[` or the end."""
        ad = Ad()
        while not self.at_end(_BETWEEN_PAIRS) and self.text[self.at] != "[":
            key, value = self.pair(_BARE)
            if key in ad:
                begins_next = TYPE_KEY in ad and key in (TYPE_KEY, next(iter(ad)))
                if not begins_next:
                    self.source.fail(
                        value.key_at,
                        f"{key} is there twice in one request",
                        f"the next request begins with {next(iter(ad))}",
                    )
                yield ad
                ad = Ad()
            ad[key] = value
        if ad:
            yield ad

    def pair(self, bare: re.Pattern[str]) -> tuple[str, Value]:
        hint = 'a request has lines like src_url = "http://host/file";'
        found = _KEY.match(self.text, self.at)
        if found is None:
            self.source.fail(self.at, "a key is expected here", hint)
        key, equals = found.groups()
        if not equals:
            self.source.fail(found.end(), f"= is expected after {key}", hint)
        key_at, self.at = self.at, found.end()
        begin = self.at
        value: str | list[str] = self.listed() if self.take("{") else self.single(key, bare)
        return key.lower(), Value(value, begin, key_at)

    def single(self, key: str, bare: re.Pattern[str]) -> str:
        if self.text[self.at : self.at + 1] == '"':
            return self.string()
        found = bare.match(self.text, self.at)
        if found is None:
            self.source.fail(self.at, f"{key} has no value", 'a value stands in quotes: "..."')
        self.at = found.end()
        return found[0].rstrip()

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            hint = 'end the value with "; a " in it is written \\"'
            self.source.fail(self.at, "this quote is not closed on its line", hint)
        self.at = found.end()
        following = self.text[self.at : self.at + 1]
        if following == '"':
            self.source.fail(self.at, 'a second value; write \\" for a quote in a value')
        if following not in _ENDS_VALUE:
            self.source.fail(self.at, "; or the end of the line is expected after the value")
        value = found[1]
        if "\\" in value:
            value = _ESCAPE.sub(lambda one: _ESCAPED.get(one[1], one[1]), value)
        return value

    def listed(self) -> list[str]:
        opened = self.at - 1
        values: list[str] = []
        while True:
            if self.at_end():
                self.source.fail(opened, "this { is not closed")
            if self.take("}"):
                return values
            if self.take(","):
                continue
            if self.text[self.at : self.at + 1] != '"':
                self.source.fail(self.at, "a string in quotes is expected in a list")
            values.append(self.string())
