"""All runs of a DAG as one history: what was done again, and how much time that took."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy

from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.spans import ran_s
from condor_pydagman.vocabulary import NodeKind


class AllRuns(NamedTuple):
    """Runs of a DAG."""

    runs: Sequence[Run]  # oldest first
    whole: Run  # the last, with the attempts of all
    # the number of the run of each attempt, from 1, by `id` of the attempt
    numbers: Mapping[int, int]
    always: Collection[str] = ()  # nodes that run in each run anyhow: FINAL, PROVISIONER, SERVICE


class TimeLost(NamedTuple):
    """Seconds."""

    between: float  # from the end of a run to the begin of the next
    in_runs: float  # in which DAGMan ran, or was to be started again
    ran: float  # that jobs ran, all together
    again: float  # of these, of all attempts but the last one of each node


class Repeated(NamedTuple):
    """A node that was begun in several runs."""

    node: str  # its name
    runs: tuple[int, ...]  # the numbers of these
    attempts: int  # in all of them
    ran: float  # seconds that its jobs ran in all attempts but the last


def all_runs(past: Sequence[Run], last: Run, dag: Dag | None) -> AllRuns:
    """Runs of a DAG together.

    Args:
        past: those before the last, oldest first.
        dag: as it is now; None if it can't be read.
    """
    runs = [*past, last]
    numbers = {
        id(attempt): number
        for number, run in enumerate(runs, 1)
        for node in run.nodes.values()
        for attempt in node.attempts
    }
    whole = copy(last)
    whole.nodes = {name: _together(name, runs) for run in (last, *past) for name in run.nodes}
    whole.starts = [start for run in runs for start in run.starts]
    whole.halts = [halt for run in runs for halt in run.halts]
    whole.begun = next((run.begun for run in runs if run.begun), 0.0)
    kinds = NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE
    always = {dag.names[node] for kind in kinds for node in dag.of_kind(kind)} if dag else ()
    return AllRuns(runs, whole, numbers, always)


def _together(name: str, runs: Sequence[Run]) -> NodeRun:
    own = [run.nodes[name] for run in runs if name in run.nodes]
    whole = copy(runs[-1].nodes.get(name, NodeRun(name)))
    whole.ran_before = not whole.attempts
    whole.attempts = [attempt for node in own for attempt in node.attempts]
    return whole


def ends(seen: AllRuns, now: float) -> list[float]:
    """When each run ended: `now` if the last one goes on; of an earlier one of which no end is
    known, when its last line was written."""
    earlier = [run.ended or run.last for run in seen.runs[:-1]]
    return [*earlier, seen.runs[-1].ended or now]


def time_lost(seen: AllRuns, now: float) -> TimeLost:
    """How much time went by, and what it was used for."""
    runs, ended = seen.runs, ends(seen, now)
    between = sum(max(run.begun - end, 0.0) for end, run in zip(ended, runs[1:]))
    in_runs = sum(max(end - run.begun, 0.0) for end, run in zip(ended, runs))
    ran = again = 0.0
    for node in seen.whole.nodes.values():
        seconds = [ran_s(attempt, now) for attempt in node.attempts]
        ran += sum(seconds)
        again += sum(seconds[:-1]) if node.name not in seen.always else 0.0
    return TimeLost(between, in_runs, ran, again)


def repeated(seen: AllRuns, now: float) -> list[Repeated]:
    """The nodes that were begun in several runs, those first that have cost most time."""
    return sorted(_repeated(seen, now), key=lambda one: -one.ran)


def _repeated(seen: AllRuns, now: float) -> Iterator[Repeated]:
    for node in seen.whole.nodes.values():
        runs = tuple(dict.fromkeys(seen.numbers[id(attempt)] for attempt in node.attempts))
        if len(runs) > 1 and node.name not in seen.always:
            ran = sum(ran_s(attempt, now) for attempt in node.attempts[:-1])
            yield Repeated(node.name, runs, len(node.attempts), ran)
