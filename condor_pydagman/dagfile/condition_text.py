"""What the expression of a RUN_IF refers to: parents, `Parents.<name>`, and categories,
`Category.<name>`.

A name that is no identifier of the ClassAd language is in single quotes there.  Names of nodes are
as in PARENT lines: upper and lower case are not the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from condor_pydagman.named_tuple import NamedTuple

PARENTS, CATEGORY = "Parents", "Category"

_QUOTED = r"'(?:[^'\\]|\\.)*'"
_REFERENCE = re.compile(
    r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/'  # texts and remarks: nothing in them counts
    r"|(?<![\w.'])(?P<what>Parents|Category)\s*\.\s*"
    rf"(?P<name>[A-Za-z_]\w*|{_QUOTED})(?:\s*\.\s*(?P<key>[A-Za-z_]\w*|{_QUOTED}))?"
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
            what = PARENTS if found["what"].lower() == "parents" else CATEGORY
            name, key = bare(found["name"]), bare(found["key"] or "")
            yield Reference(what, name, key, found.start(), *found.span("name"), found.end())


def renamed(expression: str, name_of: Callable[[Reference], str]) -> str:
    """The expression with other names; `name_of` gives them as they are to stand there."""
    parts, done = [], 0
    for one in references(expression):
        parts += [expression[done : one.begin], name_of(one)]
        done = one.end
    return "".join((*parts, expression[done:]))


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
