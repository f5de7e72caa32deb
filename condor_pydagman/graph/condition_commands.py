"""The commands by which a DAG decides: RUN_IF, PUBLISH; SKIPPED and NODE_RESULT of rescue files.

They are ours.  An expression names parents and categories as its file does; the Dag has it with
their full names.  That they are parents is known when all files have been read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.condition_lines import OWN_ATTRIBUTES, SKIP
from condor_pydagman.dagfile.condition_text import (
    CATEGORY,
    PARENTS,
    Reference,
    attribute_name,
    references,
    renamed,
)
from condor_pydagman.dagfile.lexer import excerpt
from condor_pydagman.graph import model
from condor_pydagman.graph.building import STRICT_HIGH, Building
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AFTER_ALL, Condition, Dag, Published
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError

_NOTHING = Published()
_WITH_PLUS = re.compile(r"\w+(?:\+\w+)+")


def run_if(building: Building, command: commands.RunIf) -> None:
    """RUN_IF."""
    dag = building.dag

    def full(one: Reference) -> str:
        return attribute_name(_full_name(building, one))

    expression = building.text(renamed(command.expression, full).text)
    new = building.share(Condition(expression, command.otherwise == SKIP))
    for node in building.nodes(command.node):
        building.refuse_special(node, "RUN_IF")
        old = dag.conditions.get(node)
        if old not in (None, new):
            building.warn(
                f"Warning: new RUN_IF of node {building.shown(node)} overrides {old.expression}",
                STRICT_HIGH,
            )
        dag.conditions[node] = new
        dag.decided[node] = AFTER_ALL
        dag.places.note_condition(node, command.line)


def _full_name(building: Building, one: Reference) -> str:
    """What the file calls a node, or a category, by its full name.

    The node may not be of this file: a splice's node may have parents outside of it.
    """
    if one.what == CATEGORY:
        return category_name(building, one.name)
    node = building.find(one.name)
    return one.name if node is None else building.dag.names[node]


def publish(building: Building, command: commands.Publish) -> None:
    """PUBLISH: of a node there may be one line with FILE, and several with ATTRIBUTES."""
    published = building.dag.published
    for node in building.nodes(command.node):
        building.refuse_special(node, "PUBLISH")
        old = published.get(node, _NOTHING)
        if command.file and old.file not in ("", command.file):
            building.warn(
                f"Warning: new PUBLISH FILE {command.file} of node {building.shown(node)}"
                f" overrides {old.file}",
                STRICT_HIGH,
            )
        attributes = tuple(dict.fromkeys((*old.attributes, *command.attributes)))
        published[node] = building.share(Published(command.file or old.file, attributes))


def skipped(building: Building, command: commands.Skipped) -> None:
    """SKIPPED, of rescue files."""
    node = building.needed(command.node)
    building.refuse_special(node, "SKIPPED")
    building.dag.flags[node] |= model.DONE | model.SKIPPED
    building.dag.has_skipped = True


def node_result(building: Building, command: commands.NodeResult) -> None:
    """NODE_RESULT, of rescue files."""
    building.dag.results[building.needed(command.node)] = command.text


# What is known when all files have been read.


def mistakes(dag: Dag) -> Iterator[ProcessingError]:
    """What conditions name that they can't: nodes that are no parents, unknown categories."""
    categories = categories_of(dag)
    for node in dag.conditions:
        yield from mistakes_of(dag, node, categories)


def categories_of(dag: Dag) -> set[str]:
    """The categories that conditions can name."""
    return {*dag.categories.values(), *dag.category_limits}


def mistakes_of(dag: Dag, node: int, categories: set[str]) -> Iterator[ProcessingError]:
    """As `mistakes`, of one node's condition."""
    expression = dag.conditions[node].expression
    parents: set[str] | None = None
    for one in references(expression):
        if one.what == PARENTS:
            if parents is None:
                parents = {dag.names[parent] for parent in parents_of(dag, node)}
            if one.name not in parents:
                hint = _listed("its parents are", parents, "it has no parents")
                hint = _no_name(expression, one) or hint
                if not one.key and one.name.lower() in map(str.lower, OWN_ATTRIBUTES):
                    hint = f"expected Parents.<name>.{one.name}; {hint}"
                yield _mistake(dag, node, one, hint)
        elif one.name not in categories:
            hint = _listed("the categories are", categories, "the DAG has no categories")
            yield _mistake(dag, node, one, hint)


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


def _mistake(dag: Dag, node: int, one: Reference, hint: str) -> ProcessingError:
    name = dag.names[node]
    if one.what == PARENTS:
        what = f"{one.name} is no parent of node {name}, whose RUN_IF names it"
    else:
        what = f"There is no category {one.name}, which the RUN_IF of node {name} names"
    file, _, line = dag.places.of_condition(node).rpartition(":")
    front = f"RUN_IF {name} "
    error = ProcessingError(what, file=file, line=int(line or 0), hint=hint)
    error.place = error.line
    error.text, error.caret = excerpt(
        front + dag.conditions[node].expression, len(front) + one.begin
    )
    return error
