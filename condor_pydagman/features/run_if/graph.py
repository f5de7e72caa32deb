"""RUN_IF: the conditions of nodes.

An expression names parents and categories as its file does; the Dag has it with their full names.
That they are parents is known when all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from condor_pydagman.dagfile.lexer import excerpt
from condor_pydagman.features.run_if.grammar import (
    CATEGORY,
    PARENTS,
    Reference,
    RunIf,
    attribute_name,
    references,
    renamed,
)
from condor_pydagman.graph.apply import Applied, unchanged
from condor_pydagman.graph.building import STRICT_HIGH, Building
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AFTER_ALL, Dag, FeatureData
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.vocabulary import PARENT_ATTRIBUTES

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
    known = ", ".join(attribute_name(name) for name in sorted(names)[:5])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{what} {known}{more}"


APPLIED = (Applied(RunIf, run_if, of_new="RUN_IF", of_job=unchanged),)
