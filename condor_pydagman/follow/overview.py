"""One glance at a DAG: how far it is, when it will be done, what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.follow.carriers import in_queue, unknown_nodes, with_jobs
from condor_pydagman.follow.failures import failure_of
from condor_pydagman.follow.node_placements import total
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.run_model import COUNTS, newer_counts
from condor_pydagman.follow.shown_states import COUNTED
from condor_pydagman.follow.tally import STALLED_S, Tally, per_second, since_last_end
from condor_pydagman.named_tuple import NamedTuple

VERSION = 1  # of the JSON form, in which fields are only added
MAX_LISTED = 5
_NO_PROGRESS = ("done", "failed", "futile", "held")
_DIGITS = re.compile(r"\d+")


class Running(NamedTuple):
    """A node whose job runs: `since` when."""

    node: str
    job: str
    host: str
    since: float


class HeldGroup(NamedTuple):
    """Jobs that are held for one reason, but for numbers in it; `nodes` are a few of theirs."""

    reason: str
    code: int
    jobs: int
    nodes: Sequence[str]


class Failure(NamedTuple):
    """A node that has failed; `value` is its exit code or negative signal, None if it has none."""

    node: str
    time: float
    attempts: int
    value: int | None
    reason: str


class Overview(NamedTuple):
    """What a picture of a DAG says."""

    dag: str  # its file
    state: str  # what it is about (`monitor.found_state.DagState`), in words
    note: str  # more about that, '' if there is nothing to say: why DAGMan is held
    cluster: int  # of DAGMan's job, 0 if not known
    # seconds since the epoch; `ended` 0.0 while it runs
    begun: float
    ended: float
    now: float
    exit_code: int | None  # condor_dagman's, None while it runs
    counts: Mapping[str, int]  # nodes by `shown_states.COUNTED`, and their `total`
    counted: float  # when, seconds since the epoch; counts of DAGMan's own may be older than `now`
    per_second: float = 0.0  # nodes done in a second, lately; 0.0 if that is not known
    # estimated seconds until the end of all but held nodes; None if there is no estimate, as while
    # a feature may add more
    remaining_s: float | None = None
    stalled_s: float = 0.0  # how long no node was done, if that is long; 0.0 otherwise
    longest: Sequence[Running] = ()  # nodes whose jobs have run longest, that first
    held: Sequence[HeldGroup] = ()  # held jobs by their reasons, the most frequent first
    failures: Sequence[Failure] = ()  # the last nodes that have failed, the newest first
    throttles: Sequence[str] = ()  # what the notices say of those that hold nodes back
    subdags: Sequence[Any] = ()  # of the nodes that are DAGs and in the queue
    # of DATA nodes: done, skipped, failed, retried, bytes, per_second and reasons; empty if there
    # are none
    placements: Mapping[str, Any] = {}
    of_features: Mapping[str, Any] = {}  # what features have to show, by names of fields
    # how many of the nodes that are done have not run to their end, by their states
    not_run: Mapping[str, int] = {}
    # what has to happen before anything goes on, as the notices say; empty if something does
    waits_for: Sequence[str] = ()
    # what there is to say of it, the most important first (`notices.collect`)
    notices: Sequence[Notice] = ()
    retrying: int = 0  # how many of the nodes that are ready wait for the delay of their retry

    def with_notices(self, notices: Sequence[Notice], *, moves: bool = True) -> Overview:
        """With what there is to say of the DAG; `moves`: whether anything of it goes on."""
        throttles = [one.sentence for one in notices if one.cause == "throttle.full"]
        awaited = [one.awaited for one in notices if one.awaited and not moves]
        brief = next((one.brief for one in notices if one.cause.startswith("dagman.")), "")
        return self._replace(
            note=self.note or brief, notices=notices, throttles=throttles, waits_for=awaited
        )

    def as_json(self) -> dict[str, Any]:
        """The fields, and those of its parts, by name."""
        fields = self._asdict()
        for name in ("longest", "held", "failures"):
            fields[name] = [part._asdict() for part in fields[name]]
        fields["subdags"] = [part.as_json() for part in self.subdags]
        fields["notices"] = [_notice_as_json(one) for one in self.notices]
        of_features = fields.pop("of_features")
        return {"v": VERSION, **fields, **of_features}


def _notice_as_json(notice: Notice) -> dict[str, Any]:
    """Without what grows with the DAG."""
    fields = notice.to_json()
    fields.update(since=notice.since, command=notice.command, button=notice.button)
    fields.update(nodes=fields["nodes"][:MAX_LISTED])
    return fields


class Dagman(NamedTuple):
    """What is known of the DAGMan of a run."""

    # see `Overview`
    state: str
    note: str = ""
    cluster: int = 0
    ad: Mapping[str, Any] = {}  # of its job, {} if it is not at hand
    running: bool = True  # whether it runs
    over: bool = False  # whether it has ended, and nothing more will come
    exit_code: int | None = None  # condor_dagman's, if it is over and that is known


class Standing:
    """How a run stands, as far as its logs have been read: what a glance at any time shows.

    Args:
        dag: its file.
    """

    def __init__(self, dag: str, dagman: Dagman, tally: Tally) -> None:
        run, ad, running = tally.run, dagman.ad, dagman.running
        counts, counted = shown_counts(tally, ad)
        self.used = feature_table.used_in(tally.dag, run)  # names of the features that are asked
        self.moves = tally.moves(counts)  # whether anything goes on by itself, or is about to
        self._run, self._goes_on = run, running and not run.halted
        self._left = sum(counts[name] for name in COUNTED if name not in _NO_PROGRESS)
        may_grow = feature_table.told("shown", "may_grow", self.used)
        self._may_grow = any(may(tally, ad) for may in may_grow)
        self._retries = tally.retries().values()
        of_features: dict[str, Any] = {}
        for show in feature_table.told("shown", "overview", self.used):
            of_features.update(show(tally, ad, running=running))
        self.seen = Overview(
            dag,
            dagman.state,
            dagman.note,
            dagman.cluster,
            run.begun,
            run.ended if dagman.over else 0.0,
            0.0,
            dagman.exit_code,
            counts,
            counted,
            longest=_longest(tally),
            held=_held(tally),
            failures=[
                Failure(one.name, one.since, len(one.attempts), *failure_of(one, run).brief)
                for one in islice(reversed(run.failures), MAX_LISTED)
            ],
            placements=total(run.placements).as_json() if run.placements else {},
            of_features=of_features,
            not_run=tally.not_run(),
            retrying=len(self._retries),
        )  # what does not depend on the time

    def at(
        self, now: float, *, subdags: Sequence[Overview] = (), outside: Mapping[str, Any] = {}
    ) -> Overview:
        """A glance.

        Args:
            now: seconds since the epoch.
            outside: what is known of features beyond the files of the DAG, by names of fields.
        """
        seen, run = self.seen, self._run
        since = since_last_end(run, now) if self._goes_on else 0.0
        rate = per_second(run, now) if self._goes_on and self.moves else 0.0
        remaining = None
        if rate and self._left and not (self._may_grow or since):
            remaining = max([self._left / rate, *(due - now for due in self._retries)])
        return seen._replace(
            now=now,
            counted=seen.counted or now,
            per_second=rate,
            remaining_s=remaining,
            stalled_s=since if since > STALLED_S else 0.0,
            subdags=subdags,
            of_features={**seen.of_features, **outside},
        )


def shown_counts(tally: Tally, ad: Mapping[str, Any]) -> tuple[dict[str, int], float]:
    """Nodes by `shown_states.COUNTED`, and their total; and when they were counted, 0.0 for now."""
    run, report = tally.run, tally.report()
    if report is None:
        found, counted = newer_counts(ad, run.counts, run.counts_time)
    else:
        found, counted = {name: getattr(report, name) for name in COUNTS}, 0.0
    return told_apart(found, *_in_queue(tally)), counted


def told_apart(counts: Mapping[str, int], running: int, held: int) -> dict[str, int]:
    """Counts by `shown_states.COUNTED`, and their total.

    Args:
        counts: by `run_model.COUNTS`; {} if nothing is known.
        running, held: nodes in the queue whose jobs run, and others whose jobs are held.
    """
    counts = counts or dict.fromkeys(COUNTS, 0)
    queued = counts["queued"]
    running, held = min(running, queued), min(held, max(queued - running, 0))
    apart = {"running": running, "idle": queued - running - held, "held": held}
    apart["waiting"] = counts["unready"]
    found = {**dict.fromkeys(("total", *COUNTED), 0), **counts, **apart}
    del found["queued"], found["unready"]
    return found


def _in_queue(tally: Tally) -> tuple[int, int]:
    """How many nodes have a job that runs, and how many others one that is held."""
    running = held = 0
    for node in tally.run.in_queue.values():
        attempt = node.attempts[-1].queued_as
        if attempt.running:
            running += 1
        elif attempt.held:
            held += 1
    for carrier in in_queue(tally.run):
        number = len(unknown_nodes(tally.run, carrier))
        running += number * carrier.job.running
        held += number * carrier.job.held
    return running, held


def _longest(tally: Tally) -> list[Running]:
    nodes = with_jobs(tally.run, tally.run.in_queue.values())
    found = [(node.name, last) for node in nodes if (last := node.attempts[-1]).running]
    found.sort(key=lambda one: one[1].started)
    return [
        Running(name, last.job, last.hosts[-1] if last.hosts else "", last.started)
        for name, last in found[:MAX_LISTED]
    ]


def _held(tally: Tally) -> list[HeldGroup]:
    groups: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for name, reason, code in _holds(tally):
        groups.setdefault((_DIGITS.sub("#", reason), code), []).append((name, reason))
    found = [
        HeldGroup(jobs[0][1], code, len(jobs), [name for name, _ in jobs[:3]])
        for (_, code), jobs in groups.items()
    ]
    return sorted(found, key=lambda group: -group.jobs)[:MAX_LISTED]


def _holds(tally: Tally) -> Iterator[tuple[str, str, int]]:
    for node in with_jobs(tally.run, tally.run.in_queue.values()):
        attempt = node.attempts[-1]
        if attempt.held:
            for hold in attempt.holds:
                if not hold.released:
                    yield node.name, hold.reason, hold.code
