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

from condor_pydagman import feature_table
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.graph.model import Dag


def feature_findings(facts: Facts, state: GraphState | None) -> Iterator[Notice]:
    """What features say of the DAG; without its edges, `state` is None."""
    for find in feature_table.told("explain", "findings"):
        yield from find(facts, state)


def awaited_parents(state: GraphState, node: int) -> str:
    """What a node waits for in place of all its parents, by the first feature that knows; '' if it
    waits for all."""
    found = (ask(state, node) for ask in feature_table.told("explain", "awaited_parents"))
    return next(filter(None, found), "")


def unneeded_findings(facts: Facts, run: NodeRun) -> list[Notice]:
    """Why a node that counts as done is not needed."""
    return [ask(facts, run) for ask in feature_table.told("explain", "unneeded")]


def moments_of(run: Run, attempt: Attempt) -> Iterator[tuple[float, str]]:
    """What features know of an attempt of a node."""
    for ask in feature_table.told("explain", "moments"):
        yield from ask(run, attempt)


def findings_of_node(facts: Facts, run: NodeRun) -> Iterator[Notice]:
    """What features say of a node."""
    for find in feature_table.told("explain", "of_node"):
        yield from find(facts, run)


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


def held_back(facts: Facts, dag: Dag, node: int) -> Iterator[Notice]:
    """Why a node that waits for no other does not start."""
    for ask in feature_table.told("explain", "held_back"):
        yield from ask(facts, dag, node)
