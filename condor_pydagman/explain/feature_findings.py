"""What features say of a DAG that does not go on; the core of the explanation names none.

The module `explain` of a feature may have:

- `findings(facts, state)`: what is to be said of the DAG.
- `held_back(facts, dag, node)`: why a node that waits for no other does not start.
- `unreachable(state)`: nodes that can't run, and why (`GraphState.unreachable`).
- `awaited_parents(state, node)`: what a node waits for in place of all its parents; '' if it waits
  for all.
- `explains_failure(facts)`: whether the DAG has failed because of the feature.
- `goes_on(facts)`: what the DAG does not end before, beside its nodes; '' if nothing.
- `ADVICE`: by the beginning of a reason why nodes have failed what can be done; {out} is the name
  of `.dagman.out`.
- `moments(run, attempt)`: what has happened in an attempt of a node of a run that is not in it:
  times and texts.
- `of_node(facts, run)`: what is to be said of a node beside its jobs and scripts.
- `unneeded(facts, run)`: why a node that counts as done is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.follow.notices.facts import Facts


def said(what: str, *of: Any) -> Iterator[Any]:
    """What features say by that function of theirs: `findings`, `held_back`, `moments`, `of_node`
    or `unneeded`; `of` is what it is given."""
    for tell in feature_table.told("explain", what):
        yield from tell(*of)


def awaited_parents(state: GraphState, node: int) -> str:
    """What a node waits for in place of all its parents, by the first feature that knows; '' if it
    waits for all."""
    found = (ask(state, node) for ask in feature_table.told("explain", "awaited_parents"))
    return next(filter(None, found), "")


def is_failure_explained(facts: Facts) -> bool:
    """Whether a feature says why the DAG has failed."""
    return any(explains(facts) for explains in feature_table.told("explain", "explains_failure"))


def going_on(facts: Facts) -> list[str]:
    """What the DAG does not end before, beside its nodes."""
    return [what for ask in feature_table.told("explain", "goes_on") if (what := ask(facts))]


def advice_of_features(reason: str) -> str:
    """What can be done about nodes that have failed for that reason; '' if no feature knows it."""
    known = (pair for advice in feature_table.told("explain", "ADVICE") for pair in advice.items())
    return next((advice for begin, advice in known if reason.startswith(begin)), "")
