"""Nodes of one kind, of one submit description or with names that differ in their numbers: how they
went, and what kept them from starting.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from condor_pydagman.follow.failures import how_failed
from condor_pydagman.follow.run_model import NodeRun, Run, Usage
from condor_pydagman.follow.shown_states import Shown, shown_state
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.critical_path import Step
from condor_pydagman.report.spans import Span
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeKind
from condor_pydagman.words import result

_IN_QUEUE = ("idle", "held", "run")
# Throttles by their names in the job ad: what people call them, and which parts count for them.
_THROTTLES = {
    "DAGMan_MaxJobs": ("MaxJobs", _IN_QUEUE),
    "DAGMan_MaxIdle": ("MaxIdle", ("idle",)),
    "DAGMan_MaxPreScripts": ("MaxPre", ("pre",)),
}
_Time = tuple[float, float]


class _Cause:
    """Something that kept nodes back, at times that are in order and do not overlap."""

    def __init__(self, words: str, times: Iterable[_Time]) -> None:
        self.words = words
        self._times = list(times)
        self._begins = [begin for begin, _ in self._times]
        self._before = [0.0, *accumulate(end - begin for begin, end in self._times)]

    def seconds(self, since: float, until: float) -> float:
        """How much of a time they take."""
        return self._up_to(until) - self._up_to(since)

    def _up_to(self, time: float) -> float:
        number = bisect_right(self._begins, time) - 1
        if number < 0:
            return 0.0
        begin, end = self._times[number]
        return self._before[number] + min(time, end) - begin


def held_back(
    run: Run, dag: Dag, found: Sequence[Span], path: Iterable[Step], end: float
) -> list[tuple[str, float]]:
    """What kept the nodes of a path back longest before they began, and for how many seconds."""
    of_all = list(_of_all(run, found, end))
    of_category = {
        category: _Cause(f"MAXJOBS {category} {limit} full", times)
        for category, own in _by_category(dag, found).items()
        for limit in [dag.category_limits[category]]
        for times in [_full(own, _IN_QUEUE, limit)]
    }
    seconds: dict[str, float] = {}
    for step in path:
        own = of_category.get(dag.category_of(step.node))
        causes = [*of_all, own] if own is not None else of_all
        waited = [(one.seconds(step.begin - step.before, step.begin), one.words) for one in causes]
        most, words = max(waited, default=(0.0, ""))
        if most > 0:
            seconds[words] = seconds.get(words, 0.0) + most
    return sorted(seconds.items(), key=lambda one: -one[1])


def _of_all(run: Run, found: Sequence[Span], end: float) -> Iterator[_Cause]:
    """What keeps any node back."""
    if run.halts:
        yield _Cause("the DAG halted", [(halt.begun, halt.ended or end) for halt in run.halts])
    for name, (words, kinds) in _THROTTLES.items():
        limit = run.limits.get(name, 0)
        if limit:
            yield _Cause(f"{words} {limit} reached", _full(found, kinds, limit))


def _by_category(dag: Dag, found: Sequence[Span]) -> dict[str, list[Span]]:
    """The attempts of nodes in each category that has a limit."""
    own: dict[str, list[Span]] = {}
    for span in found if dag.category_limits else ():
        category = dag.category_of(span.node)
        if category in dag.category_limits:
            own.setdefault(category, []).append(span)
    return own


def _full(found: Iterable[Span], kinds: Sequence[str], limit: int) -> Iterator[_Time]:
    """When so many attempts at least did what counts."""
    changes = [
        change
        for span in found
        for own in [[part for part in span.parts if part[0] in kinds]]
        if own
        for change in ((own[0][1], 1), (own[-1][2], -1))
    ]
    active, since = 0, 0.0
    for time, change in sorted(changes):
        was, active = active, active + change
        if was < limit <= active:
            since = time
        elif active < limit <= was and time > since:
            yield since, time


_DIGITS = re.compile(r"\d+")
MAX_NODES_SHOWN = 3
_REMOVED = result(RETURN_JOB_ABORTED)  # often because of other failures


class Group(NamedTuple):
    """Times of the nodes of one kind; seconds, mean and greatest of an attempt."""

    name: str  # what they have in common
    # how many there are
    nodes: int
    attempts: int
    failed: int  # nodes that have failed
    # mean and maximum
    idle: tuple[float, float]
    held: tuple[float, float]
    run: tuple[float, float]
    scripts: tuple[float, float]
    total_run: float  # of all attempts


class FailureKind(NamedTuple):
    """Failures that are alike: how, how many, and a few of the nodes."""

    how: str
    number: int
    nodes: Sequence[str]


class ResourceUse(NamedTuple):
    """What the jobs of a group asked for and used; None where no job says it."""

    # names
    group: str
    resource: str
    requested: float | None  # the greatest request
    # of what was used
    mean: float
    most: float
    jobs: int  # how many say what they used


def group_names(run: Run, dag: Dag | None) -> dict[str, str]:
    """The group of each node, by the node's name."""
    return {name: _group_name(name, dag) for name in run.nodes}


def _group_name(name: str, dag: Dag | None) -> str:
    node = dag.find(name) if dag is not None else None
    if dag is None or node is None:
        return _DIGITS.sub("#", name)
    if dag.kinds[node] == NodeKind.SUBDAG:
        return f"sub-DAG {dag.subdags[node]}"
    return dag.submits[node] or _DIGITS.sub("#", name)


def groups(run: Run, found: Iterable[Span], names: Mapping[str, str]) -> list[Group]:
    """The groups, the one with most time first."""
    by_group: dict[str, list[Span]] = {}
    for span in found:
        by_group.setdefault(names[span.node], []).append(span)
    failed = Counter(names[node.name] for node in _failed(run))
    made = [_group(name, own, failed[name]) for name, own in by_group.items()]
    return sorted(made, key=lambda group: -group.total_run)


def _group(name: str, own: Sequence[Span], failed: int) -> Group:
    idle = [span.seconds("idle") for span in own]
    held = [span.seconds("held") for span in own]
    ran = [span.seconds("run") for span in own]
    scripts = [span.seconds("pre") + span.seconds("post") for span in own]
    nodes = len({span.node for span in own})
    times = [(sum(values) / len(values), max(values)) for values in (idle, held, ran, scripts)]
    idle_s, held_s, ran_s, scripts_s = times
    return Group(name, nodes, len(own), failed, idle_s, held_s, ran_s, scripts_s, sum(ran))


def counted_nodes(run: Run) -> Iterator[NodeRun]:
    """The nodes that DAGMan counts: without those of SERVICE."""
    return (node for node in run.nodes.values() if not node.is_service)


def _failed(run: Run) -> Iterator[NodeRun]:
    return (node for node in run.nodes.values() if shown_state(node) is Shown.FAILED)


def failure_kinds(run: Run) -> list[FailureKind]:
    """The failures of nodes, those that are alike together, the most frequent first."""
    kinds: dict[str, list[str]] = {}
    for node in _failed(run):
        kinds.setdefault(how_failed(node, run), []).append(node.name)
    found = [FailureKind(how, len(nodes), nodes[:MAX_NODES_SHOWN]) for how, nodes in kinds.items()]
    return sorted(found, key=lambda kind: (kind.how.startswith(_REMOVED), -kind.number))


def resources(run: Run, names: Mapping[str, str]) -> list[ResourceUse]:
    """What each group asked for and used, by the terminate events of its jobs."""
    rows: dict[tuple[str, str], list[Usage]] = {}
    for node in run.nodes.values():
        for attempt in node.attempts:
            for resource, row in attempt.usage.items():
                is_resource = row.requested or row.allocated or attempt.is_part
                if row.used is not None and is_resource:
                    rows.setdefault((names[node.name], resource), []).append(row)
    return [_resource(group, resource, own) for (group, resource), own in sorted(rows.items())]


def _resource(group: str, resource: str, own: Sequence[Usage]) -> ResourceUse:
    used = [row.used or 0.0 for row in own]
    requested = max((row.requested for row in own if row.requested is not None), default=None)
    return ResourceUse(group, resource, requested, sum(used) / len(used), max(used), len(own))
