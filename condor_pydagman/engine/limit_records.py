"""What is known of the limits that a DAG shares with others: data and its bookkeeping.

Nodes that keep to the same limits are a class (`graph.limit_uses`).  A class has places that it may
use; how many it uses follows from the states of its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.engine.jobs import JobTable
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.graph.limit_uses import LimitClasses
from condor_pydagman.graph.model import Dag
from condor_pydagman.shared_limits.definitions import PLACES, RESTART, Kind
from condor_pydagman.shared_limits.rounds import NO_LIMIT, Demand, Grant

# Plain numbers: they are asked for at each step.
_SUBMITTING, _UNKNOWN, _SUBMITTED = map(int, (State.SUBMITTING, State.UNKNOWN, State.SUBMITTED))
_PRE_RUN, _POST_RUN = int(State.PRE_RUN), int(State.POST_RUN)
_AHEAD = 4  # places that a class keeps for nodes that are about to follow, at least
_AHEAD_PART = 4  # one of so many that it uses, beyond that
_NO_NAMES: Sequence[tuple[str, ...]] = [()]


class SharedLimits:
    """Limits that the DAG shares with others.  Written by its methods, or by `shared_limits`.

    Args:
        dag: the DAG.
        nodes, job_table: of the run; they count by class from now on.
        active: False: no limit holds.

    Attributes:
        limited: whether nodes of the DAG keep to shared limits.
        places: by class and kind, how many places it may use; NO_LIMIT: any number.
        held: the same, how many are its own as far as others know.
        starts: by class, how many nodes it may submit.
        full: by class, the limit and kind that keeps it from more.
        waits: by class, how much it wanted when it was last given less; 0 if it got all.
        pace_left: PRE scripts that wait for the pace of all DAGs after a restart; 0: it is over.
        pace_starts: how many of them may start now.
        contested: whether others wait for the limits.
        asked: whether a request is on its way.
        demands: what the last one asked for.
        answered: whether there has been an answer.
        woken: whether others want us to ask.
        again_at: when another request may give more, None if that is not known.
        look_at: when one is due though nothing has happened.
        pause_until: until when there is no other one.
        spare_since: since when there have been places to be given back; 0: there are none.
        said: the reason told last why places can't be had.
    """

    __slots__ = (
        *("places", "held", "starts", "full", "waits"),
        *("pace_left", "pace_starts", "contested", "asked", "demands", "answered", "woken"),
        *("again_at", "look_at", "pause_until", "spare_since", "said"),
        *("limited", "_active", "_classes", "_nodes", "_jobs"),
    )

    def __init__(self, dag: Dag, nodes: Nodes, job_table: JobTable, *, active: bool) -> None:
        self.limited = False
        self._active = active
        self._nodes = nodes
        self._jobs = job_table
        self._classes: LimitClasses | None = None
        self.places = [[NO_LIMIT] * len(PLACES)]
        self.held = [[0] * len(PLACES)]
        self.starts = [NO_LIMIT]
        self.full: list[tuple[str, Kind] | None] = [None]
        self.waits = [0]
        self.pace_left = self.pace_starts = 0
        self.demands: tuple[Demand, ...] = ()
        self.contested = self.asked = self.answered = self.woken = False
        self.again_at: float | None = None
        self.look_at = self.pause_until = self.spare_since = 0.0
        self.said = ""
        self.grow(dag, range(0))

    @property
    def names(self) -> Sequence[tuple[str, ...]]:
        """Names of limits, by class; class 0 has none."""
        return _NO_NAMES if self._classes is None else self._classes.names

    @property
    def class_of(self) -> Sequence[int]:
        """The class of each node; empty if none keeps to a limit."""
        return () if self._classes is None else self._classes.of

    def grow(self, dag: Dag, new: Sequence[int]) -> None:
        """The DAG has got new nodes, none of which has moved, and perhaps limits for them."""
        if not (self._active and dag.limit_uses):
            return
        if self._classes is None:
            self._classes, self.limited = LimitClasses(dag), True
            self._nodes.count_classes(self._classes.of, len(self.names))
            self._jobs.count_idle(self._classes.of, len(self.names))
        else:
            self._classes.grow(dag, new)
            self._nodes.count_more(new, len(self.names))
            self._jobs.count_more(len(self.names))
        for _ in range(len(self.places), len(self.names)):
            self.places.append([0] * len(PLACES))
            self.held.append([0] * len(PLACES))
            self.starts.append(0)
            self.full.append(None)
            self.waits.append(0)

    def __bool__(self) -> bool:
        """Whether the DAG keeps to any shared limit now."""
        return self.limited or self.pace_left > 0

    def used(self, number: int) -> tuple[int, int, int, int]:
        """How many places of each kind a class uses."""
        counts = self._nodes.by_class[number]
        coming = counts[_SUBMITTING] + counts[_UNKNOWN]  # that is all of node_states.IN_QUEUE
        jobs, idle = coming + counts[_SUBMITTED], coming + self._jobs.idle_of[number]
        return jobs, idle, counts[_PRE_RUN], counts[_POST_RUN]

    def has_room(self, number: int, kind: Kind) -> bool:
        """Whether a class may use one more place of a kind."""
        most = self.places[number][kind]
        return most < 0 or self.used(number)[kind] < most

    def may_submit(self, number: int) -> bool:
        """Whether a node of a class may be submitted now."""
        if not number:
            return True
        jobs, idle = self.places[number][: Kind.PRE]
        used = self.used(number)
        has_places = (jobs < 0 or used[Kind.JOBS] < jobs) and (idle < 0 or used[Kind.IDLE] < idle)
        return has_places and self.starts[number] != 0

    def may_run_pre(self, number: int) -> bool:
        """Whether a PRE script of a class may start now."""
        return self.has_room(number, Kind.PRE) if number else True

    def may_run_post(self, number: int) -> bool:
        """Whether a POST script of a class may start now."""
        return self.has_room(number, Kind.POST) if number else True

    def submitted(self, node: int) -> None:
        """A node is submitted: that uses up a start."""
        number = self.class_of[node]
        if self.starts[number] > 0:
            self.starts[number] -= 1

    # The pace of PRE scripts after a restart.

    def begin_pace(self, waiting: int) -> None:
        """The log has been replayed; so many PRE scripts wait, and all DAGs share a pace."""
        self.pace_left = waiting

    def pre_allowed(self) -> bool:
        """Whether the pace after a restart allows a PRE script."""
        return not self.pace_left or self.pace_starts > 0

    def pre_started(self) -> None:
        """A PRE script starts."""
        if self.pace_left:
            self.pace_left -= 1
            self.pace_starts -= 1

    # Requests.

    def demand(self, number: int, nodes: int, pre: int, post: int) -> Demand:
        """What a class asks for; places that it has no use for are given up with that."""
        used, places = self.used(number), self.places[number]
        ahead = self.ahead(number, nodes + pre + post)
        waiting = (nodes, nodes, pre, post)
        for kind in PLACES:
            if places[kind] >= 0:
                places[kind] = min(places[kind], used[kind] + waiting[kind] + ahead)
        kept = tuple(max(one, most) for one, most in zip(used, places))
        jobs, idle, pres, posts = kept
        kept_of = (jobs, idle, pres, posts)
        return Demand(self.names[number], used, kept_of, nodes, pre, post, ahead)

    def ahead(self, number: int, waiting: int) -> int:
        """How many places a class keeps, if nobody else wants them, not another class either, for
        what is about to follow."""
        if self.contested or self.woken or any(self.waits):
            return 0
        used = sum(self.used(number))
        return max(_AHEAD, used // _AHEAD_PART) if used or waiting else 0

    def pace_demand(self) -> Demand:
        """What the pace after a restart asks for."""
        return Demand((RESTART,), nodes=max(self.pace_left - self.pace_starts, 0))

    def begin_request(self, demands: tuple[Demand, ...], pause_until: float) -> None:
        """A request has been made."""
        self.asked, self.woken = True, False
        self.demands = demands
        self.pause_until = pause_until
        self.spare_since = 0.0

    def take(self, number: int, grant: Grant, wanted: int, kept: Sequence[int]) -> None:
        """The answer for a class."""
        self.places[number] = list(grant.places)
        self.held[number] = [
            max(most, old) if most >= 0 else 0 for most, old in zip(grant.places, kept)
        ]
        if grant.starts < 0 or self.starts[number] < 0:
            self.starts[number] = grant.starts
        else:
            self.starts[number] += grant.starts
        self.full[number] = grant.full
        self.waits[number] = wanted if grant.full is not None else 0

    def note_answer(self, contested: bool) -> None:
        """The answer has come."""
        self.asked, self.answered = False, True
        self.contested = contested
        self.said = ""

    def pace_given(self, starts: int) -> None:
        """So many PRE scripts may start."""
        self.pace_starts = self.pace_left if starts < 0 else self.pace_starts + starts

    def plan(self, again_at: float | None, look_at: float) -> None:
        """When the next requests are due."""
        self.again_at, self.look_at = again_at, look_at

    def lost_answer(self, again_at: float) -> None:
        """There is no answer; another one is asked for later."""
        self.asked = False
        self.woken = True
        self.pause_until = again_at

    def is_new_reason(self, reason: str) -> bool:
        """Whether this is not what was said last."""
        new, self.said = reason != self.said, reason
        return new

    def wake(self) -> None:
        """Others want us to ask."""
        self.woken = True

    def note_spare(self, now: float) -> float:
        """Since when there are places to be given back; `now` is 0 if there are none."""
        self.spare_since = (self.spare_since or now) if now else 0.0
        return self.spare_since
