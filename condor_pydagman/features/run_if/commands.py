"""RUN_IF: the conditions of nodes.

An expression names parents and categories as its file does; the Dag has it with their full names.
That they are parents is known when all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from condor_pydagman.features.common import rows
from condor_pydagman.features.common.expression_text import MAX_OF_LINE, Expression
from condor_pydagman.graph.apply import Applied, unchanged
from condor_pydagman.graph.building import STRICT_HIGH, Building
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AFTER_ALL, Dag, FeatureData
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.language.lexer import LineError, Words, excerpt
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import first_of
from condor_pydagman.vocabulary import PARENT_ATTRIBUTES

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
    """An expression with other names of parents and categories."""

    text: str  # the expression
    # the places that ask for an attribute of one, each as it was and as it is now
    values: list[tuple[str, str]]
    counts: list[str]  # the counts of parents in it, as they are written there


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


CHECKED = 500  # conditions that are checked before the caller may do something else
_WITH_PLUS = re.compile(r"\w+(?:\+\w+)+")


class ConditionsOfDag(FeatureData):
    """The conditions of nodes."""

    by_node = ("conditions", "lines_at")

    def __init__(self) -> None:
        self.conditions: dict[int, RunIf] = {}
        self.lines_at: dict[int, str] = {}

    def node_lines(self, dag: Dag, node: int) -> Iterator[RunIf]:
        """As of `FeatureData`."""
        condition = self.conditions.get(node)
        if condition is not None:
            yield condition._replace(node=dag.names[node])

    def told(self, node: int) -> Iterator[str]:
        """As of `FeatureData`."""
        if node in self.conditions:
            yield f"runs if {self.conditions[node].expression}"

    def categories(self) -> Iterator[str]:
        """As of `FeatureData`."""
        for condition in self.conditions.values():
            yield from (
                one.name for one in references(condition.expression) if one.what == CATEGORY
            )

    def mistakes(
        self, dag: Dag, outer: Dag | None = None, *, grows: bool = False
    ) -> Iterator[ProcessingError | None]:
        """Names of nodes that are no parents, and unknown categories."""
        categories = _categories_of(dag)
        if outer is not None:
            categories |= _categories_of(outer)
        for count, node in enumerate(self.conditions, 1):
            yield from self._mistakes_of(dag, node, categories)
            if not count % CHECKED:
                yield None

    def _mistakes_of(self, dag: Dag, node: int, categories: set[str]) -> Iterator[ProcessingError]:
        expression = self.conditions[node].expression
        parents: set[str] | None = None
        for one in references(expression):
            if one.what == PARENTS:
                if parents is None:
                    parents = {dag.names[parent] for parent in parents_of(dag, node)}
                if one.name not in parents:
                    hint = _listed("its parents are", parents, "it has no parents")
                    hint = _no_name(expression, one) or hint
                    if not one.key and one.name.lower() in map(str.lower, PARENT_ATTRIBUTES):
                        hint = f"expected Parents.<name>.{one.name}; {hint}"
                    yield self._mistake(dag, node, one, hint)
            elif one.name not in categories:
                hint = _listed("the categories are", categories, "the DAG has no categories")
                yield self._mistake(dag, node, one, hint)

    def _mistake(self, dag: Dag, node: int, one: Reference, hint: str) -> ProcessingError:
        name = dag.names[node]
        if one.what == PARENTS:
            what = f"{one.name} is no parent of node {name}, whose RUN_IF names it"
        else:
            what = f"There is no category {one.name}, which the RUN_IF of node {name} names"
        file, _, line = self.lines_at.get(node, "").rpartition(":")
        front = f"RUN_IF {name} "
        error = ProcessingError(what, file=file, line=int(line or 0), hint=hint)
        error.place = error.line
        error.text, error.caret = excerpt(
            front + self.conditions[node].expression, len(front) + one.begin
        )
        return error


def conditions_of(dag: Dag) -> Mapping[int, RunIf]:
    """The conditions of nodes, by node."""
    return ConditionsOfDag.of(dag).conditions


def place_of_condition(dag: Dag, node: int) -> str:
    """`file:line` of the node's RUN_IF; '' if it is not known."""
    return ConditionsOfDag.of(dag).lines_at.get(node, "")


def run_if(building: Building, command: RunIf) -> None:
    """RUN_IF."""
    dag, found = building.dag, ConditionsOfDag.put(building.dag)
    where = building.text(f"{dag.places.file}:{command.line}")

    def full(one: Reference) -> str:
        return attribute_name(_full_name(building, one))

    expression = building.text(renamed(command.expression, full).text)
    new = building.share(RunIf(0, "", command.otherwise, expression))
    for node in building.nodes(command.node):
        building.refuse_special(node, "RUN_IF")
        old = found.conditions.get(node)
        if old not in (None, new):
            building.warn(
                f"Warning: new RUN_IF of node {building.shown(node)} overrides {old.expression}",
                STRICT_HIGH,
            )
        found.conditions[node] = new
        dag.decided[node] = AFTER_ALL
        found.lines_at[node] = where


def _full_name(building: Building, one: Reference) -> str:
    """What the file calls a node, or a category, by its full name.

    The node may not be of this file: a splice's node may have parents outside of it.
    """
    if one.what == CATEGORY:
        return category_name(building, one.name)
    node = building.find(one.name)
    return one.name if node is None else building.dag.names[node]


def _categories_of(dag: Dag) -> set[str]:
    """The categories that conditions can name."""
    return {*dag.categories.values(), *dag.category_limits}


def _no_name(expression: str, one: Reference) -> str:
    """Advice if a name with a + is in no quotes."""
    found = _WITH_PLUS.match(expression, one.begin)
    name = found[0] if found else ""
    return f"a name with a + stands in single quotes: Parents.'{name}'" if name else ""


def _listed(what: str, names: set[str], nobody: str) -> str:
    if not names:
        return nobody
    return f"{what} {first_of([attribute_name(name) for name in sorted(names)])}"


APPLIED = (Applied(RunIf, run_if, of_new="RUN_IF", of_job=unchanged),)
