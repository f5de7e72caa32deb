"""What is said of a node, jobs of which are late."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.timeout.shown import LateSeen, notices
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.printable import message


def of_node(facts: Facts, run: NodeRun) -> Iterator[Notice]:
    """Its jobs that are late."""
    return notices(facts, run.name)


def moments(run: Run, attempt: Attempt) -> Iterator[tuple[float, str]]:
    """When its jobs have become late."""
    for (cluster, proc, _), late in LateSeen.of(run).told.items():
        if cluster == attempt.cluster:
            yield late.time, f"job {cluster}.{proc} is late: it {message(late.reason)}"
