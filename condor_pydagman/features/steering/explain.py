"""What people have asked of the whole DAG."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.features.steering.shown import DagSteered
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.printable import message, number_of


def findings(facts: Facts, _state: GraphState | None) -> Iterator[Notice]:
    """Who asked what, the last times."""
    seen = DagSteered.of(facts.run)
    said = (Evidence(facts.nodes_log, message(text), time) for time, text in seen.last)
    if seen.times:
        sentence = f"People steered the whole DAG, {number_of(seen.times, 'time')}."
        yield Notice("dag.steered", Weight.NOTE, sentence, evidence=(*said,))
