"""What the checker finds in RUN_IF lines: what an expression names and nothing gives a value.

ClassAds have no wrong names: one that means nothing is undefined, so the node fails, or a
comparison with it skips the node, when its parents have run for hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.features.common.expression_text import free_names
from condor_pydagman.features.common.rows import with_or
from condor_pydagman.features.publish.commands import published_of
from condor_pydagman.features.run_if.commands import (
    COUNTS,
    PARENTS,
    ConditionsOfDag,
    Reference,
    references,
)
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Code, Findings, Severity

CODE = "DAG415"
CODES = {
    CODE: Code(
        Severity.WARNING,
        "a RUN_IF with an unknown name or Outcome",
        "expected Parents.<name>.<value>, Category.<name>.<count>, Done, Failed, Skipped, Futile, "
        "Total or Retries; write strings in double quotes",
    ),
}
_OF_PARENTS = ("Outcome", "ExitCode", "Signal", "Retries")
_OUTCOMES = ("DONE", "FAILED", "SKIPPED", "FUTILE")
_LITERALS = ("true", "false", "undefined", "error", "is", "isnt")
_TOP = frozenset(
    (*(name.lower() for name in COUNTS), "retries", *_LITERALS, "parents", "category", "my")
)
_BARE_COUNT = re.compile(r"[\s(]*(Done|Failed|Skipped|Futile|Total|Retries)[\s)]*", re.IGNORECASE)
_OUTCOME_IS = re.compile(
    r'\bOutcome\s*(?:=\?=|=!=|==|!=)\s*(?:"([^"\\]*)"|(done|failed|skipped|futile)\b)',
    re.IGNORECASE,
)


def check(dag: Dag, findings: Findings) -> None:
    """Look at the RUN_IF lines of a DAG whose parents and categories are known to be right."""
    own = ConditionsOfDag.of(dag)
    for node, condition in own.conditions.items():
        name = dag.names[node]
        for what, hint in _remarks(dag, node, condition.expression):
            message = f"RUN_IF of node {name}: {what}"
            place = own.lines_at.get(node, "")
            findings.add(CODE, message, place=place, node=name, words=("RUN_IF", name), hint=hint)


def _remarks(dag: Dag, node: int, expression: str) -> Iterator[tuple[str, str]]:
    """What is wrong, and what to do if that is not the usual."""
    for name in dict.fromkeys(free_names(expression)):
        if name.partition(".")[0].lower() not in _TOP:
            yield f"{name} has no meaning there, so it is undefined", _hint(dag, node, name)
    if not dag.has_parents(node):
        for name in dict.fromkeys(
            name for name in free_names(expression) if _is_one_of(name, COUNTS)
        ):
            yield f"it has no parents, so {name} is 0", "give the node parents with a PARENT line"
    count = _BARE_COUNT.fullmatch(expression)
    if count:  # an operand of && may be a number
        what = f"{count[1]} is a number, which is neither true nor false"
        yield what, f"compare it: {count[1]} > 0"
    for one in references(expression):
        if one.what == PARENTS:
            yield from _unpublished(dag, one)
        elif one.key and not _is_one_of(one.key, COUNTS):
            yield f"a category has no {one.key}, so it is undefined", f"expected {with_or(COUNTS)}"
    for text, count in _OUTCOME_IS.findall(expression):
        if count:
            hint = f'a text stands in double quotes: "{count}"'
            yield f"an Outcome is a string, but {count} is a number of parents", hint
        elif text.upper() not in _OUTCOMES:
            yield f'there is no Outcome "{text}"', f"expected {with_or(_OUTCOMES)}"


def _hint(dag: Dag, node: int, name: str) -> str:
    """For a text without quotes, or in the wrong ones, and for a parent without `Parents`."""
    text, (parent, _, value) = name.strip("'"), name.partition(".")
    if text.upper() in _OUTCOMES:
        return f'a text stands in double quotes: "{text}"'
    if dag.ids.get(parent) in parents_of(dag, node):
        return f"a value of a parent is Parents.{parent}.{value or 'Outcome'}"
    return ""


def _unpublished(dag: Dag, one: Reference) -> Iterator[tuple[str, str]]:
    node = dag.ids.get(one.name)
    if not one.key or node is None or _is_one_of(one.key, _OF_PARENTS):
        return
    published = published_of(dag).get(node)
    if published is None or not (published.file or _is_one_of(one.key, published.attributes)):
        hint = f"expected {with_or(_OF_PARENTS)}, or what a PUBLISH line of {one.name} names"
        yield f"node {one.name} does not publish {one.key}, so it is undefined", hint


def _is_one_of(key: str, names: tuple[str, ...]) -> bool:
    return key.lower() in (name.lower() for name in names)
