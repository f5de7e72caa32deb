"""The bundles of a run, as the nodes log tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.bundle import one_bundle
from condor_pydagman.features.bundle.one_bundle import NAME
from condor_pydagman.follow import carriers, event_facts
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.nodes_log import said
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import Attempt, Carrier, NodeRun, Run, Seen
from condor_pydagman.follow.tally import Tally
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.printable import number_of
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, Flow, Section, flow, why
from condor_pydagman.report.spans import job_parts
from condor_pydagman.vocabulary import EventKind
from condor_pydagman.words import duration

TENTHS_BELOW, HUNDREDTHS_BELOW = 10.0, 1.0  # seconds of which these are told
_MAX_ROWS = 1000


class BundleSeen(Carrier):
    """A bundle."""

    __slots__ = ("made", "number", "why")

    def __init__(self, number: int, made: float) -> None:
        super().__init__(f"{NAME}{number}")
        self.number = number  # of the bundle
        self.made = made  # when it was made
        self.why = ""  # how it has ended; '' if it has not


class BundlesSeen(Seen):
    """What is known of the bundles of a run."""

    def __init__(self) -> None:
        self.bundles: dict[int, BundleSeen] = {}  # all of them, by number
        self.open = 0  # how many have not ended
        self.is_told = False  # whether any result is known
        self.by_cluster: dict[int, BundleSeen] = {}  # those that have been submitted


def bundle_of(attempt: Attempt) -> BundleSeen | None:
    """The bundle that an attempt of a node is, or was, in; None if it runs alone."""
    return attempt.carrier if isinstance(attempt.carrier, BundleSeen) else None


def _bundled(tracker: Tracker, _: NodeRun | None, read: RecordRead, time: float) -> None:
    """Some of its nodes are known; `retry` of the record says how many parts follow."""
    run, seen = tracker.run, BundlesSeen.put(tracker.run)
    bundle = seen.bundles.get(read.value)
    if bundle is None:
        bundle = seen.bundles[read.value] = BundleSeen(read.value, time)
        run.carriers[bundle.name] = bundle
        seen.open += 1
    if bundle.why:
        return
    for name in read.text.split(" "):
        if run.carried.get(name) is not bundle:
            run.carried[name] = bundle
            bundle.nodes.append(name)
    if read.retry == 0:
        tracker.say(_event("made", bundle, time, nodes=len(bundle.nodes)))


def _unbundled(tracker: Tracker, _: NodeRun | None, read: RecordRead, time: float) -> None:
    run, seen = tracker.run, BundlesSeen.put(tracker.run)
    bundle = seen.bundles.get(read.value)
    if bundle is None or bundle.why:
        return
    seen.is_told = True
    is_over = read.retry == 0  # else its job runs, and does not run these any more
    for name in bundle.nodes if is_over else read.text.split(" "):
        if run.carried.get(name) is bundle:
            del run.carried[name]
    if is_over:
        seen.open -= 1
        bundle.why = read.text.partition("\n")[0] or "nobody knows how"
        carriers.close(bundle, time)
        nodes, reason = len(bundle.nodes), bundle.why
        tracker.say(_event("end", bundle, time, nodes=nodes, reason=reason))


def _task_failed(_: Tracker, node: NodeRun | None, read: RecordRead, _time: float) -> None:
    """It is told before the end of its task is."""
    last = node.attempts[-1] if node is not None and node.attempts else None
    if last is not None and last.is_part and last.number == read.retry and not last.over:
        last.reason = read.text


def _event(what: str, bundle: BundleSeen, time: float, **data: Any) -> DagEvent:
    job = bundle.job.job
    return DagEvent(f"bundle.{what}", time, job=job, data={"bundle": bundle.number, **data})


def own_event(tracker: Tracker, event: LogEvent) -> None:
    """An event of the job of a bundle."""
    seen = BundlesSeen.put(tracker.run)
    if event.kind == EventKind.SUBMIT:
        submitted = seen.bundles.get(one_bundle.number_of(event.node))
        if submitted is not None and not submitted.job.procs:
            seen.by_cluster[event.cluster] = submitted
    bundle = seen.by_cluster.get(event.cluster)
    if bundle is None or bundle.why or event.proc != 0:
        return
    tracker.carries(bundle, event)
    if event.kind in _TOLD:
        what, facts = _TOLD[event.kind]
        tracker.say(_event(what, bundle, event.time, **facts(said(event))))


def _hold_facts(text: str) -> dict[str, Any]:
    code, subcode = event_facts.hold_codes(text)
    return {"reason": event_facts.reason(text), "code": code, "subcode": subcode}


_EVICTED = "evict", lambda text: {"reason": event_facts.eviction_reason(text)}
# By kinds of events of their jobs: what is told of bundles, and what else by the event's text.
_TOLD: Mapping[int, tuple[str, Callable[[str], dict[str, Any]]]] = {
    EventKind.EXECUTE: ("execute", lambda text: {"host": event_facts.host(text)}),
    EventKind.JOB_HELD: ("hold", _hold_facts),
    EventKind.JOB_RELEASED: ("release", lambda text: {"reason": event_facts.reason(text)}),
    EventKind.JOB_EVICTED: _EVICTED,
    EventKind.SHADOW_EXCEPTION: _EVICTED,
    EventKind.JOB_RECONNECT_FAILED: _EVICTED,
}

RECORDS: Records = {
    "BUNDLED": _bundled,
    "UNBUNDLED": _unbundled,
    "TASK_FAILED": _task_failed,
}


def _words(what: str) -> Callable[[DagEvent], str]:
    """What has happened to a bundle, in words; behind a colon why, if the event tells that."""
    return lambda event: f"bundle {event.data['bundle']} {what}{why(event)}"


EVENTS: Events = {
    "bundle.made": lambda e: f"bundle {e.data['bundle']}: {number_of(e.data['nodes'], 'node')}",
    "bundle.execute": lambda e: f"bundle {e.data['bundle']} runs on {e.data['host']}",
    "bundle.evict": _words("was evicted"),
    "bundle.hold": _words("is held"),
    "bundle.release": _words("was released"),
    "bundle.end": _words("is over"),
}


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How many bundles have not ended, how many of their jobs run or are held, how many nodes are
    in them, and whether any of the DAG has brought results."""
    run, seen = tally.run, BundlesSeen.of(tally.run)
    if not seen.open or not running:
        return {}
    jobs = [one.job for one in carriers.in_queue(run)]
    counts = {"running": sum(job.running for job in jobs), "held": sum(job.held for job in jobs)}
    nodes = sum(map(carriers.is_carried, run.in_queue.values()))
    return {"bundles": {"open": seen.open, **counts, "nodes": nodes, "results": seen.is_told}}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """The same in words."""
    bundles = seen.of_features.get("bundles")
    if bundles:
        what = number_of(bundles["nodes"], "node")
        states = [f"{bundles[name]:,} {name}" for name in ("running", "held") if bundles[name]]
        in_words = f" ({', '.join(states)})" if states else ""
        unknown = bundles["running"] and not bundles["results"]
        later = "; results are known when a job ends, if files are transferred" if unknown else ""
        yield flow(f"{what} in {number_of(bundles['open'], 'bundle')}{in_words}{later}", "")


def sections(run: Run, end: float) -> Iterator[Section]:
    """The bundles of a report."""
    bundles = BundlesSeen.of(run).bundles
    if not bundles:
        return
    tasks = _task_seconds(run, end)
    rows = [_row(one, tasks[number], end) for number, one in islice(bundles.items(), _MAX_ROWS)]
    head = ("bundle", "nodes", "waited", "ran", "its tasks", "share", "host", "how it has ended")
    yield Section("bundles", "Bundles", _CAPTION, head, rows, (6, 7))


_CAPTION = (
    "Jobs that ran many nodes each: how long they waited in the queue and ran, how long the tasks"
    " of nodes took in them, and what share of the run that is"
)


def _task_seconds(run: Run, end: float) -> Mapping[int, float]:
    """How long the tasks of each bundle took, by its number."""
    found = defaultdict[int, float](float)
    for node in run.nodes.values():
        for attempt in node.attempts:
            bundle = bundle_of(attempt)
            if bundle is not None and attempt.started:
                found[bundle.number] += (attempt.ended or end) - attempt.started
    return found


def brief(seconds: float) -> str:
    """As `duration`, of a time that may be short."""
    if seconds >= TENTHS_BELOW:
        return duration(seconds)
    return f"{seconds:.{1 if seconds >= HUNDREDTHS_BELOW else 2}f} s"


def _row(bundle: BundleSeen, tasks: float, end: float) -> tuple[str, ...]:
    spent = defaultdict[str, float](float)
    for part, since, until in job_parts(bundle.job, end):
        spent[part] += until - since
    hosts = [host for host in dict.fromkeys(bundle.job.hosts) if host]
    return (
        str(bundle.number),
        f"{len(bundle.nodes):,}",
        brief(spent["idle"] + spent["held"]),
        brief(spent["run"]),
        brief(tasks),
        f"{100 * tasks / spent['run']:.0f} %" if spent["run"] else "",
        ", ".join(hosts),
        bundle.why or "has not ended",
    )
