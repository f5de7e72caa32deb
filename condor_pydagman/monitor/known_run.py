"""What notices need of a DAG that is looked at again and again: no node is counted one by one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.notices.held_jobs import logged_holds
from condor_pydagman.notices.known import Known, Load, Nodes, Throttled
from condor_pydagman.notices.phrases import MAX_NAMES
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import DagState, NodeRun
from condor_pydagman.trace.tally import Tally
from condor_pydagman.vocabulary import NodeKind

_MORE_TO_COME = ("running", "idle", "held", "pre", "post", "ready", "waiting")


def known_run(
    found: FoundDag, state: DagState, seen: Overview, tally: Tally, ad: Mapping[str, Any]
) -> Known:
    """What is known of a DAG at a look.

    Args:
        seen: what that look has counted.
    """
    counts, retries = seen.counts, tally.retries()
    return Known(
        found.name,
        state,
        seen.now,
        tally.run,
        found.cluster,
        ad,
        tally.dag,
        shown(found.out),
        shown(found.nodes_log),
        shown(found.paths.halt),
        os.path.exists(found.paths.halt),
        held=list(logged_holds(tally.run.in_queue.values())),
        held_by=shown(found.nodes_log),
        load=_load(counts, tally),
        of=seen.of_features,
        retrying=Nodes(len(retries), [tally.name(node) for node in islice(retries, MAX_NAMES)]),
        next_retry=min(retries.values(), default=0.0),
        to_start=_are_to_start(counts, tally.dag),
        may_count=False,
        all_ended=bool(counts["total"]) and not any(counts[name] for name in _MORE_TO_COME),
    )


def _are_to_start(counts: Mapping[str, int], dag: Dag | None) -> bool:
    last = len(dag.of_kind(NodeKind.FINAL)) if dag is not None else 0
    return counts["waiting"] + counts["ready"] + counts["pre"] > last


def _load(counts: Mapping[str, int], tally: Tally) -> Load:
    ready = _Ready(counts["ready"], tally)
    limits = tally.run.limits
    queued = sum(counts[name] for name in ("running", "idle", "held"))
    return Load(
        Throttled(queued, ready.first(is_wanted=0 < limits.get("DAGMan_MaxJobs", 0) <= queued)),
        _idle(limits.get("DAGMan_MaxIdle", 0), ready, tally),
        _scripts(counts["pre"], limits.get("DAGMan_MaxPreScripts", 0)),
        _scripts(counts["post"], limits.get("DAGMan_MaxPostScripts", 0)),
        dict(_categories(tally)) if counts["ready"] else {},
    )


class _Ready:
    """Nodes that wait for nothing but to be submitted."""

    def __init__(self, number: int, tally: Tally) -> None:
        self._number, self._tally = number, tally

    def first(self, *, is_wanted: bool) -> Nodes:
        """How many there are, and the names of the first, if anybody wants these."""
        if not is_wanted or not self._number:
            return Nodes()
        names = [self._tally.name(node) for node in islice(self._tally.ready(), MAX_NAMES)]
        return Nodes(max(self._number, len(names)), names)


def _idle(limit: int, ready: _Ready, tally: Tally) -> Throttled:
    idle = sum(map(_idle_jobs, tally.run.in_queue.values())) if limit else 0
    return Throttled(idle, ready.first(is_wanted=0 < limit <= idle))


def _idle_jobs(node: NodeRun) -> int:
    attempt = node.attempts[-1]
    return attempt.procs - attempt.ended_procs - attempt.running - attempt.held


def _scripts(number: int, limit: int) -> Throttled:
    """DAGMan runs as many as it may: the others wait."""
    running = min(number, limit)
    return Throttled(running, Nodes(number - running)) if limit else Throttled()


def _categories(tally: Tally) -> Iterator[tuple[str, Throttled]]:
    """Those with a MAXJOBS line."""
    dag = tally.dag
    if dag is None or not dag.category_limits:
        return
    submitted = Counter(_category(dag, name) for name in tally.run.in_queue)
    waiting: dict[str, list[str]] = {}
    for node in tally.ready():
        waiting.setdefault(dag.categories.get(node, ""), []).append(tally.name(node))
    for category in dag.category_limits:
        yield category, Throttled(submitted[category], _nodes(waiting.get(category, ())))


def _nodes(names: Sequence[str]) -> Nodes:
    return Nodes(len(names), names)


def _category(dag: Dag, name: str) -> str:
    node = dag.find(name)
    return dag.categories.get(node, "") if node is not None else ""
