"""How the FEEDER of a DAG stands: it has failed, or the DAG waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.diagnosis.explanation import Evidence, Finding, Weight
from condor_pydagman.diagnosis.graph_state import GraphState
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.features.feeder.report import ATTRIBUTE
from condor_pydagman.features.feeder.trace import FeederSeen
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import NodeStatus

_ENDED = (NodeStatus.DONE, NodeStatus.ERROR, NodeStatus.FUTILE)


def findings(facts: Facts, state: GraphState | None) -> Iterator[Finding]:
    """What is to be said of it, if the DAG has one."""
    seen, told = FeederSeen.of(facts.run), facts.ad.get(ATTRIBUTE)
    if seen.state == "failed":
        evidence = Evidence(facts.nodes_log, message(seen.reason), seen.time)
        advice = "Fix the program, then submit the DAG again to run it again (docs/growth.md)."
        sentence = "The FEEDER failed too often: it adds nothing more to the DAG."
        if not facts.is_live:
            sentence = "The FEEDER failed too often, so the DAG is not complete."
        yield Finding("dag.feeder", Weight.PROBLEM, sentence, (), (evidence,), (advice,))
        return
    has_one = facts.dag is not None and bool(facts.dag.features.get("feeder"))
    if not facts.is_live or seen.state or not has_one:
        return
    if not isinstance(told, str) or told.startswith("ended"):
        return
    if "; " in told:  # its last run has failed
        sentence = "The FEEDER failed, and DAGMan runs it again."
    elif state is not None and all(status in _ENDED for status in state.status):
        sentence = "The DAG is waiting for its FEEDER, which has not said that it is done."
    else:
        return
    evidence = Evidence(f"{ATTRIBUTE} of job {facts.cluster}", message(told))
    yield Finding("dag.feeder", Weight.WAITING, sentence, (), (evidence,))


def explains_failure(facts: Facts) -> bool:
    """Whether the DAG has failed since the FEEDER has."""
    return FeederSeen.of(facts.run).state == "failed"


def goes_on(facts: Facts) -> str:
    """What the DAG does not end before, beside its nodes; '' if that is over."""
    has_one = facts.dag is not None and bool(facts.dag.features.get("feeder"))
    return "the FEEDER" if has_one and not FeederSeen.of(facts.run).state else ""
