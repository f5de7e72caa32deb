"""What the checker finds in SHARED_LIMIT lines."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.common.node_sets import CATEGORY
from condor_pydagman.features.shared_limits.commands import SharedLimit, limit_uses_of
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Code, Findings, Severity, World

CODES = {
    "DAG421": Code(
        Severity.ERROR,
        "a SHARED_LIMIT that is not defined: DAGMan does not start",
        "check its name; condor_pydagman limits lists the defined limits (docs/limits.md)",
    ),
}


def check(dag: Dag, findings: Findings) -> None:
    """Look for limits that no node keeps to."""
    for limit, of in limit_uses_of(dag):
        if of.is_of_unused_category(dag):
            message = f"no node is in category {of.category}, so SHARED_LIMIT {limit} has no effect"
            findings.add("DAG207", message, words=("SHARED_LIMIT", of.category))


def check_around(dag: Dag, world: World, findings: Findings, options: BuildOptions) -> None:
    """Look for limits that are not defined."""
    uses = limit_uses_of(dag)
    wrong = world.obstacle("shared_limits", dag) if uses else ""
    if wrong:
        named = (one.limit for one in uses if f" {one.limit}: " in wrong)
        words = "SHARED_LIMIT", next(named, "")
        findings.add("DAG421", wrong, place=dag.files[0], words=words)


def is_about(command: SharedLimit, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """As of BRAKE's; a word is a limit, or the full name of a category."""
    names = command.names if command.members == CATEGORY else ()
    return words[0] in (command.limit, *(prefix + name for prefix in prefixes for name in names))
