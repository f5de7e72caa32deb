"""What the expression of a RUN_IF refers to: parents, `Parents.<name>`, categories,
`Category.<name>`, and counts of parents, such as `Failed`.

A name that is no identifier of the ClassAd language is in single quotes there.  Names of nodes are
as in PARENT lines: upper and lower case are not the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from condor_pydagman.named_tuple import NamedTuple

PARENTS, CATEGORY = "Parents", "Category"
COUNTS = ("Done", "Failed", "Skipped", "Futile", "Total")

_QUOTED = r"'(?:[^'\\]|\\.)*'"
_REFERENCE = re.compile(
    r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/'  # texts and remarks: nothing in them counts
    r"|(?<![\w.'])(?P<what>Parents|Category)\s*\.\s*"
    rf"(?P<name>[A-Za-z_]\w*|{_QUOTED})(?:\s*\.\s*(?P<key>[A-Za-z_]\w*|{_QUOTED}))?"
    rf"|(?<![\w.'])(?P<count>{'|'.join(COUNTS)})(?![\w.'])"
    rf"|{_QUOTED}",
    re.ASCII | re.DOTALL | re.IGNORECASE,
)
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Words of the ClassAd language, which need quotes as names.
_RESERVED = frozenset(("true", "false", "undefined", "error", "is", "isnt", "parent"))


class Reference(NamedTuple):
    """A place of an expression that names a parent or a category.

    `begin` and `end` are of the name there; `key` is the attribute that is asked for, '' if none;
    `stop` is where all of it ends, and `start` where it begins.
    """

    what: str
    name: str
    key: str
    start: int
    begin: int
    end: int
    stop: int


def references(expression: str) -> Iterator[Reference]:
    """All places that name a parent or a category, in their order."""
    for found in _REFERENCE.finditer(expression):
        if found["what"]:
            yield _reference(found)


def _reference(found: re.Match[str]) -> Reference:
    what, name, key, _ = found.groups()
    (start, stop), (begin, end) = found.span(), found.span("name")
    what = PARENTS if what.lower() == "parents" else CATEGORY
    return Reference(what, bare(name), bare(key or ""), start, begin, end, stop)


class Renamed(NamedTuple):
    """An expression with other names of parents and categories.

    Attributes:
        text: the expression.
        values: the places that ask for an attribute of one, each as it was and as it is now.
        counts: the counts of parents in it, as they are written there.
    """

    text: str
    values: list[tuple[str, str]]
    counts: list[str]


def renamed(expression: str, name_of: Callable[[Reference], str]) -> Renamed:
    """The expression with other names; `name_of` gives them as they are to stand there."""
    parts: list[str] = []
    values: list[tuple[str, str]] = []
    counts: list[str] = []
    done = 0
    for found in _REFERENCE.finditer(expression):
        if found["count"]:
            counts.append(found["count"])
        elif found["what"]:
            one = _reference(found)
            name = name_of(one)
            parts += (expression[done : one.begin], name)
            done = one.end
            if one.key:
                now = expression[one.start : one.begin] + name + expression[one.end : one.stop]
                values.append((expression[one.start : one.stop], now))
    return Renamed("".join((*parts, expression[done:])), values, counts)


def attribute_name(name: str) -> str:
    """A name as it stands in an expression: in single quotes, if it needs them."""
    if _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def bare(name: str) -> str:
    """A name without the quotes that it has in an expression."""
    if name[:1] != "'":
        return name
    return re.sub(r"\\(.)", r"\1", name[1:-1], flags=re.DOTALL)
