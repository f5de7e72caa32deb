"""What groups of nodes did at each site: for the report."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.trace.run_history import Attempt, NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus


class SiteUse(NamedTuple):
    """A site in a run.

    Attributes:
        name: of the site.
        groups: that are at it, or were when they ended.
        done: nodes that were done there last.
        attempts: of nodes there, those that failed or were removed included.
        failed: attempts whose jobs failed, or were removed.
        ran_s: seconds that jobs ran there, all together.
    """

    name: str
    groups: int
    done: int
    attempts: int
    failed: int
    ran_s: float


def sites_used(run: Run, now: float) -> list[SiteUse]:
    """The sites of a run, by name; `now` is the end of what goes on."""
    at: dict[str, list[tuple[NodeRun, Attempt]]] = {}
    for node in run.nodes.values():
        for attempt in node.attempts:
            if attempt.site:
                at.setdefault(attempt.site, []).append((node, attempt))
    groups = [found.site for found in run.groups.values()]
    names = sorted({*at, *groups} - {""})
    return [_use(name, groups.count(name), at.get(name, []), now) for name in names]


def _use(name: str, groups: int, own: list[tuple[NodeRun, Attempt]], now: float) -> SiteUse:
    done = sum(
        node.status is NodeStatus.DONE and attempt is node.attempts[-1] for node, attempt in own
    )
    failed = sum(bool(attempt.value) or bool(attempt.reason) for _, attempt in own)
    ran = sum(_ran_s(attempt, now) for _, attempt in own)
    return SiteUse(name, groups, done, len(own), failed, ran)


def _ran_s(attempt: Attempt, now: float) -> float:
    if not attempt.started:
        return 0.0
    paused = sum(again - stopped for stopped, again in attempt.pauses)
    return max((attempt.stopped or now) - attempt.started - paused, 0.0)
