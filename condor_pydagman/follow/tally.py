"""Numbers of a run: nodes by state, and how many of them end in a time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from operator import and_
from typing import Any

from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED, State
from condor_pydagman.engine.report import Report
from condor_pydagman.follow.carriers import in_queue
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.shown_states import LOOKS, Shown
from condor_pydagman.graph.model import LEFT_OUT, Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import ScriptKind

WINDOW_S = 600.0  # of which the rate is told
STALLED_S = 60.0  # without a node that is done, for people to be told
STALLED_NODES = 5

# By the byte of a node, whether it is what the name says.
_SKIPPED = bytes(marks & (SKIPPED | NOT_NEEDED) == SKIPPED for marks in range(256))
_NOT_NEEDED = bytes(bool(marks & NOT_NEEDED) for marks in range(256))
_LEFT_OUT = bytes(bool(flags & LEFT_OUT) for flags in range(256))
_DONE = bytes(state == State.DONE for state in range(256))


class Taken(NamedTuple):
    """Places that nodes in the queue take, as the engine counts them: several may share one."""

    jobs: int  # of -MaxJobs
    categories: Mapping[str, int]  # of those with a limit, by their names; 0 for others


class Tally:
    """Numbers of one run.

    Args:
        run: how it stands.
        engine: the same, as the engine has it; None if nothing is known of the DAG.
    """

    def __init__(self, run: Run, engine: Engine | None = None) -> None:
        self.run = run  # as given
        self._engine = engine
        # the DAG, None if it is not at hand
        self.dag: Dag | None = engine.run.dag if engine is not None else None

    @property
    def counts_hold(self) -> bool:
        """Whether the engine has all nodes of the run; else DAGMan's own counts are taken."""
        return self._engine is not None and self.run.complete and not self.run.awaited

    def report(self) -> Report | None:
        """How many nodes are in each state; None if the engine can't tell."""
        return self._engine.report() if self._engine is not None and self.counts_hold else None

    def in_state(self, state: State) -> Iterator[int]:
        """The nodes in a state; none if the DAG is not at hand."""
        states = bytearray() if self._engine is None else self._engine.run.nodes.states
        node = states.find(state)
        while node >= 0:
            yield node
            node = states.find(state, node + 1)

    def not_run(self) -> dict[str, int]:
        """How many of the nodes that are done have not run to their end, by their states."""
        if self._engine is None or not self.counts_hold:
            return {}
        marks = self._engine.run.nodes.marks
        cached = self.feature("cache")
        skipped = marks.translate(_SKIPPED).count(1) + len(self.run.skipped)
        counts = {
            Shown.SKIPPED: skipped,
            Shown.CACHED: len(cached.cached) if cached is not None else 0,
            Shown.NOT_NEEDED: marks.translate(_NOT_NEEDED).count(1),
            Shown.LEFT_OUT: self._left_out(),
        }
        return {LOOKS[state].key: count for state, count in counts.items() if count}

    def _left_out(self) -> int:
        """Of those that a person has let run, none that has not ended well."""
        assert self._engine is not None
        left_out = self._engine.run.dag.flags.translate(_LEFT_OUT)
        if not left_out.count(1):
            return 0
        return sum(map(and_, left_out, self._engine.run.nodes.states.translate(_DONE)))

    def moves(self, counts: Mapping[str, int]) -> bool:
        """Whether anything runs, or is about to, without that something else has to happen.

        Args:
            counts: nodes by `shown_states.COUNTED`.
        """
        scripts = self.run.scripts_off().values() if self.run.put_offs else ()
        off = [one.kind for one in scripts]
        if counts["running"] or counts["idle"] or counts["post"] > off.count(ScriptKind.POST):
            return True
        if self.run.halted:
            return False
        if self.dag is None:  # then nobody knows which nodes a count is of
            return bool(counts["ready"] or counts["pre"])
        if self._engine is None:
            return False
        count = self._engine.run.nodes.count_all
        return count(State.READY) > 0 or count(State.PRE_WAIT) > off.count(ScriptKind.PRE)

    def retries(self) -> Mapping[int, float]:
        """Nodes that wait for the delay before their next attempt, and when that begins."""
        if self._engine is None or not self._engine.run.nodes.count_all(State.RETRY_WAIT):
            return {}
        due, nodes = self._engine.run.retrying.queue.nodes, self._engine.run.nodes
        return {node: due.get(node, 0.0) for node in nodes.in_state(State.RETRY_WAIT)}

    def taken(self) -> Taken | None:
        """The places of limits that nodes take; None if the DAG is not at hand."""
        if self._engine is None:
            return None
        run = self._engine.run
        return Taken(run.nodes_in_queue(), run.categories.taken())

    def feature(self, name: str) -> Any:
        """What the engine has of a feature that the DAG uses; None if it does not."""
        return self._engine.run.features.get(name) if self._engine is not None else None

    def name(self, node: int) -> str:
        """Its name in the log."""
        assert self.dag is not None
        return logged_name(self.dag.names[node])


def per_second(run: Run, now: float) -> float:
    """How many nodes are done in a second, over the last WINDOW_S, but for times in which all was
    on hold; 0.0 if fewer than five are.

    Args:
        now: seconds since the epoch.
    """
    recent = len(run.ends) - bisect_left(run.ends, now - WINDOW_S)
    since = max(now - WINDOW_S, min(run.begun or now, now))
    spent = now - since - (_stood(run, since, now) if run.standstills else 0.0)
    return recent / spent if recent >= 5 and spent > 0 else 0.0


def _stood(run: Run, since: float, now: float) -> float:
    """For how long nothing could go on between two times."""
    return sum(max(min(until, now) - max(begun, since), 0.0) for begun, until in run.standstills)


def since_last_end(run: Run, now: float) -> float:
    """Seconds since a node was done, if by the rate several should have been meanwhile, or several
    groups of nodes that end together; else 0.0: the rate of others says nothing of those that are
    left then."""
    if not run.ends:
        return 0.0
    since, rate = now - run.ends[-1], per_second(run, now)
    at_once = max((len(one.nodes) for one in in_queue(run)), default=1)  # nodes that end together
    waited = since - _stood(run, run.ends[-1], now)
    return since if waited > (STALLED_NODES * at_once / rate if rate else 0.0) else 0.0
