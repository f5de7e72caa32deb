"""What the FEEDER of a run has given, as the nodes log and DAGMan's job ad tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.features.feeder.report import (
    ATTRIBUTE,
    adds_no_more,
    feeder_text,
    has_failed_last,
)
from condor_pydagman.features.growth.shown import fed
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import NodeRun, Seen
from condor_pydagman.follow.tally import Tally
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.printable import message
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, Flow, flow, why


class FeederSeen(Seen):
    """What is known of the FEEDER of a run."""

    def __init__(
        self, number: int = 0, state: str = "", reason: str = "", time: float = 0.0
    ) -> None:
        self.number = number  # of the last feeding, from 1; 0 for none in this run
        self.state = state  # "ended" or "failed"; '' if it is neither
        self.reason = reason  # why it has failed
        self.time = time  # of the last record about it


def _grown(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    """A piece has come, which may be of the FEEDER."""
    feeding = fed(read)
    seen = FeederSeen.of(tracker.run)
    if feeding is None or feeding.number <= seen.number:
        return
    seen = FeederSeen.put(tracker.run)
    seen.number, seen.state = feeding.number, "ended" if feeding.last else ""
    seen.reason, seen.time = "", time
    if seen.state:
        _tell(tracker, seen)


def _failed(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    seen = FeederSeen.put(tracker.run)
    if not seen.state:
        seen.state, seen.reason, seen.time = "failed", read.text, time
        _tell(tracker, seen)


def _tell(tracker: Tracker, seen: FeederSeen) -> None:
    data = {"state": seen.state, "feedings": seen.number}
    if seen.reason:
        data["reason"] = seen.reason
    tracker.say(DagEvent("dag.feeder", seen.time, data=data))


RECORDS: Records = {
    "GROWN": _grown,
    "FEEDER_FAILED": _failed,
}


def overview(tally: Tally, ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How it does, '' if there is none, or nothing is known of it."""
    return {"feeder": _how(tally, ad)}


def _how(tally: Tally, ad: Mapping[str, Any]) -> str:
    """As DAGMan says it, or else the nodes log."""
    said, seen = ad.get(ATTRIBUTE), FeederSeen.of(tally.run)
    if isinstance(said, str) and said and not seen.state:
        return said
    if not seen.time:
        return ""
    return feeder_text(seen.state, seen.number, error=seen.reason)


def may_grow(tally: Tally, ad: Mapping[str, Any]) -> bool:
    """Whether there may be more nodes to come, nobody knows how many."""
    how = _how(tally, ad)
    if FeederSeen.of(tally.run).state or adds_no_more(how):
        return False
    return bool(how) or (tally.dag is not None and bool(tally.dag.features.get("feeder")))


EVENTS: Events = {
    "dag.feeder": lambda event: f"the FEEDER {event.data['state']}{why(event)}",
}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """How it does; that it has failed is a notice."""
    how = seen.of_features.get("feeder", "")
    if how and not how.startswith("failed"):
        yield flow(f"feeder: {how}", "")


def notices(facts: Facts) -> Iterator[Notice]:
    """That it has failed, or that the DAG waits for it."""
    seen = FeederSeen.of(facts.run)
    if seen.state == "failed":
        yield _failed_words(facts, seen)
        return
    told = facts.ad.get(ATTRIBUTE)
    has_one = facts.dag is not None and bool(facts.dag.features.get("feeder"))
    if not facts.is_live or seen.state or not has_one:
        return
    if not isinstance(told, str) or adds_no_more(told):
        return
    if has_failed_last(told):
        sentence = "The FEEDER failed, and DAGMan runs it again."
    elif facts.all_ended:
        sentence = "The DAG is waiting for its FEEDER, which has not said that it is done."
    else:
        return
    evidence = Evidence(f"{ATTRIBUTE} of job {facts.cluster}", message(told))
    yield Notice("dag.feeder", Weight.WAITING, sentence, (), (evidence,))


def _failed_words(facts: Facts, seen: FeederSeen) -> Notice:
    evidence = Evidence(facts.nodes_log, message(seen.reason), seen.time)
    advice = "Fix the program, then submit the DAG again to run it again (docs/growth.md)."
    sentence = "The FEEDER failed too often: it adds nothing more to the DAG."
    if not facts.is_live:
        sentence = "The FEEDER failed too often, so the DAG is not complete."
    return Notice(
        "dag.feeder", Weight.PROBLEM, sentence, (), (evidence,), (advice,), since=seen.time
    )
