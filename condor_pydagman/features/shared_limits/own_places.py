"""Places of the limits that a DAG shares with others: how many it may use, and does.

Nodes that keep to the same limits are a class (`commands`).  How many places a class uses
follows from the states of its nodes and from their idle procs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from condor_pydagman.engine.jobs import IDLE, JobTable
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.features.shared_limits.commands import LimitClasses
from condor_pydagman.features.shared_limits.definitions import PLACES, Kind
from condor_pydagman.features.shared_limits.fair_shares import NO_LIMIT, Grant
from condor_pydagman.graph.model import Dag

# Plain numbers: they are asked for at each step.
_SUBMITTING, _UNKNOWN, _SUBMITTED = map(int, (State.SUBMITTING, State.UNKNOWN, State.SUBMITTED))
_PRE_RUN, _POST_RUN = int(State.PRE_RUN), int(State.POST_RUN)


class Places:
    """The places of each class of nodes, by its number; class 0 keeps to no limit.

    Args:
        dag: the DAG, which has limits.
        nodes, job_table: of the run.
    """

    def __init__(self, dag: Dag, nodes: Nodes, job_table: JobTable) -> None:
        self._classes = LimitClasses(dag)
        # by class, how many nodes are in each state, services included
        self.counts = [[0] * len(State)]
        self.idle = [0]  # by class, procs that wait in the queue
        # by class and kind, how many places it may use; NO_LIMIT: any number
        self.most = [[NO_LIMIT] * len(PLACES)]
        self.held = [[0] * len(PLACES)]  # the same, how many are its own as far as others know
        self.starts = [NO_LIMIT]  # by class, how many nodes it may submit
        # by class, the limit and kind that keeps it from more
        self.full: list[tuple[str, Kind] | None] = [None]
        # by class, how much it wanted when it was last given less; 0 if it got all
        self.waits = [0]
        self._add_classes()
        for number, state in zip(self.class_of, nodes.states):
            self.counts[number][state] += 1
        # A DAG may have jobs when it gets its first limit.
        self.idle = self._count_idle(job_table)

    @property
    def names(self) -> Sequence[tuple[str, ...]]:
        """Names of limits, by class."""
        return self._classes.names

    @property
    def class_of(self) -> array[int]:
        """The class of each node."""
        return self._classes.of

    def grow(self, dag: Dag, new: Sequence[int]) -> None:
        """The DAG has got new nodes, none of which has moved, and perhaps limits for them."""
        if not isinstance(new, range):  # they have numbers of others, which were done
            for node in new:
                self.counts[self.class_of[node]][State.DONE] -= 1
        self._classes.grow(dag, new)
        self._add_classes()
        for node in new:
            self.counts[self.class_of[node]][State.WAITING] += 1

    def _add_classes(self) -> None:
        for _ in range(len(self.most), len(self.names)):
            self.counts.append([0] * len(State))
            self.idle.append(0)
            self.most.append([0] * len(PLACES))
            self.held.append([0] * len(PLACES))
            self.starts.append(0)
            self.full.append(None)
            self.waits.append(0)

    # What is in use.

    def node_moved(self, node: int, old: int, new: int) -> None:
        """A node is in another state; to submit it uses up a start."""
        number = self.class_of[node]
        counts = self.counts[number]
        counts[old] -= 1
        counts[new] += 1
        if new == _SUBMITTING and self.starts[number] > 0:
            self.starts[number] -= 1

    def idle_changed(self, node: int, change: int) -> None:
        """So many more procs of a node wait in the queue."""
        self.idle[self.class_of[node]] += change

    def used(self, number: int) -> tuple[int, int, int, int]:
        """How many places of each kind a class uses."""
        counts = self.counts[number]
        coming = counts[_SUBMITTING] + counts[_UNKNOWN]  # that is all of node_states.IN_QUEUE
        jobs, idle = coming + counts[_SUBMITTED], coming + self.idle[number]
        return jobs, idle, counts[_PRE_RUN], counts[_POST_RUN]

    def has_room(self, number: int, kind: Kind) -> bool:
        """Whether a class may use one more place of a kind."""
        most = self.most[number][kind]
        return most < 0 or self.used(number)[kind] < most

    def may_submit(self, number: int) -> bool:
        """Whether a node of a class may be submitted now."""
        if not number:
            return True
        jobs, idle = self.most[number][: Kind.PRE]
        used = self.used(number)
        has_places = (jobs < 0 or used[Kind.JOBS] < jobs) and (idle < 0 or used[Kind.IDLE] < idle)
        return has_places and self.starts[number] != 0

    def may_run_pre(self, number: int) -> bool:
        """Whether a PRE script of a class may start now."""
        return self.has_room(number, Kind.PRE) if number else True

    def may_run_post(self, number: int) -> bool:
        """Whether a POST script of a class may start now."""
        return self.has_room(number, Kind.POST) if number else True

    # What others know.

    def kept(self, number: int, waiting: Sequence[int], ahead: int) -> tuple[int, int, int, int]:
        """How many places of each kind a class has a use for, of those that it has.

        Args:
            waiting: how many nodes, PRE and POST scripts wait.
            ahead: how many of each kind it keeps for what follows.
        """
        more = (waiting[0], *waiting)
        jobs, idle, pre, post = (
            max(one, min(may, one + wanted + ahead))
            for one, may, wanted in zip(self.used(number), self.most[number], more)
        )
        return jobs, idle, pre, post

    def give_up(self, number: int, kept: Sequence[int]) -> None:
        """A class gives up the places beyond these."""
        self.most[number] = [*map(min, self.most[number], kept)]

    def take(self, number: int, grant: Grant, wanted: int, kept: Sequence[int]) -> None:
        """The answer for a class."""
        self.most[number] = list(grant.places)
        self.held[number] = [
            max(most, old) if most >= 0 else 0 for most, old in zip(grant.places, kept)
        ]
        if grant.starts < 0 or self.starts[number] < 0:
            self.starts[number] = grant.starts
        else:
            self.starts[number] += grant.starts
        self.full[number] = grant.full
        self.waits[number] = wanted if grant.full is not None else 0

    def _count_idle(self, job_table: JobTable) -> list[int]:
        idle = [0] * len(self.names)
        for node, jobs in job_table.by_node.items():
            idle[self.class_of[node]] += sum(bool(flags & IDLE) for flags in jobs.procs.values())
        return idle

    def validate(self, nodes: Nodes, job_table: JobTable) -> None:
        """Raise AssertionError if a recount differs."""
        recount = [[0] * len(State) for _ in self.counts]
        for number, state in zip(self.class_of, nodes.states):
            recount[number][state] += 1
        assert recount == self.counts, (recount, self.counts)
        idle = self._count_idle(job_table)
        assert idle == self.idle, (idle, self.idle)
