"""The FEEDER of a run, for people."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.feeder.report import ATTRIBUTE, adds_no_more, has_failed_last
from condor_pydagman.features.feeder.trace import FeederSeen
from condor_pydagman.notices.known import Known
from condor_pydagman.printable import message, printable
from condor_pydagman.report.feature_words import Events, Flow, flow, why
from condor_pydagman.trace.notice import Evidence, Notice, Weight
from condor_pydagman.trace.overview import Overview

EVENTS: Events = {
    "dag.feeder": lambda event: f"the FEEDER {event.data['state']}{printable(why(event))}",
}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """How it does; that it has failed is a notice."""
    how = seen.of_features["feeder"]
    if how and not how.startswith("failed"):
        yield flow(f"feeder: {how}", "")


def notices(known: Known) -> Iterator[Notice]:
    """That it has failed, or that the DAG waits for it."""
    seen = FeederSeen.of(known.run)
    if seen.state == "failed":
        yield _failed(known, seen)
        return
    told = known.ad.get(ATTRIBUTE)
    has_one = known.dag is not None and bool(known.dag.features.get("feeder"))
    if not known.is_live or seen.state or not has_one:
        return
    if not isinstance(told, str) or adds_no_more(told):
        return
    if has_failed_last(told):
        sentence = "The FEEDER failed, and DAGMan runs it again."
    elif known.all_ended:
        sentence = "The DAG is waiting for its FEEDER, which has not said that it is done."
    else:
        return
    evidence = Evidence(f"{ATTRIBUTE} of job {known.cluster}", message(told))
    yield Notice("dag.feeder", Weight.WAITING, sentence, (), (evidence,))


def _failed(known: Known, seen: FeederSeen) -> Notice:
    evidence = Evidence(known.nodes_log, message(seen.reason), seen.time)
    advice = "Fix the program, then submit the DAG again to run it again (docs/growth.md)."
    sentence = "The FEEDER failed too often: it adds nothing more to the DAG."
    if not known.is_live:
        sentence = "The FEEDER failed too often, so the DAG is not complete."
    return Notice(
        "dag.feeder", Weight.PROBLEM, sentence, (), (evidence,), (advice,), since=seen.time
    )
