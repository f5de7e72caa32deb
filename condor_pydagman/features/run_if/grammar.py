"""The command RUN_IF, and what its expression refers to: parents, `Parents.<name>`, categories,
`Category.<name>`, and counts of parents, such as `Failed`.

A name that is no identifier of the ClassAd language is in single quotes there.  Names of nodes are
as in PARENT lines: upper and lower case are not the same.  Expressions are kept as they stand; what
is wrong in them for sure is told with its place, the rest is HTCondor's own parser's
(`features.run_if.adapters.evaluation`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.expression_text import MAX_OF_LINE, Expression
from condor_pydagman.dagfile.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple

ELSE = "ELSE"
SKIP, DONE = OTHERWISE = ("SKIP", "DONE")

_OF_EXPRESSION = re.compile(r"(?:Parents|Category)\.", re.IGNORECASE)
# Words and quotes of a line that can't be where they are, and what to do.
_MISPLACED = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), hint)
    for pattern, hint in (
        (r"^(IF|WHEN)[ \t]+[\w'\"(!]", "the expression follows the node: leave {} out"),
        (r"^(SKIP|DONE)[ \t]+(?!is\b|isnt\b)[\w'\"(]", "ELSE is missing before {}"),
        (rf"^{ELSE}=(SKIP|DONE)", f"a blank stands behind {ELSE}: {ELSE} {{}}"),
        (rf"[ \t)]({ELSE}[ \t]+(?:SKIP|DONE))$", "{} stands before the expression"),
        (r'^"(?:[^"\\]|\\.)*"$', "a text is neither true nor false: take the quotes away"),
    )
)


def _node(name: str, words: Words) -> str:
    if _OF_EXPRESSION.match(name):
        hint = "the node comes first: RUN_IF <node> [ELSE SKIP|DONE] <ClassAd expression>"
        raise LineError(f"'{name}' can't be the node's name", words, hint=hint)
    return name


class Condition(Expression):
    """The expression of a RUN_IF."""

    sample = "Failed == 0"

    def checked(self, text: str, words: Words, what: str) -> str:
        """As of `Expression`."""
        for pattern, hint in _MISPLACED:
            found = pattern.search(text)
            if found:
                hint = hint.format(*found.groups())
                column = len(words.line.rstrip()) - len(text) + found.start()
                message = f"Invalid RUN_IF expression '{text}'"
                raise LineError(message, words, hint=hint, column=column)
        return super().checked(text, words, what)


_condition: Any = Condition


@rows.Row(
    "RUN_IF",
    "The node runs if the expression is true when its parents have ended; else it is skipped.",
    after="SHARED_LIMIT",
)
class RunIf(NamedTuple):
    """RUN_IF: the node runs if the ClassAd expression is true.

    Attributes:
        otherwise: SKIP or DONE, what the node counts as if it is false.
        expression: in a Dag, it has the full names of parents and categories.
    """

    line: int
    node: str = rows.node(check=_node)
    otherwise: str = rows.option("ELSE", rows.one_of(OTHERWISE), SKIP)
    expression: str = _condition("RUN_IF", MAX_OF_LINE)

    @property
    def skips_children(self) -> bool:
        """Whether children whose parents have all been skipped are skipped, too."""
        return self.otherwise == SKIP


# What an expression refers to.

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
