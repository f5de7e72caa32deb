"""Limits on what may be in flight at once, asked last, just before a node or script starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from condor_pydagman.config import Config, effective_limit
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import removals
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LimitsWanted, LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


@dataclass
class Throttles:
    """Limits in force; 0 means none.

    Attributes:
        jobs: nodes with jobs in the queue (-MaxJobs).
        idle: idle procs (-MaxIdle).
        pre, post, hold: running scripts of each kind.
        submits: submits in one interval of `interval` seconds.
        own_pace: whether nobody limits these.  `submits` is what stock would keep to then: it is
            shown, and jobs are submitted as fast as the schedd takes them.
    """

    jobs: int = 0
    idle: int = 0
    pre: int = 0
    post: int = 0
    hold: int = 0
    submits: int = 0
    own_pace: bool = False
    interval: float = 5.0

    def adopt(self, other: Throttles) -> None:
        """Become equal to another one; who holds this object sees the change."""
        self.__dict__.update(other.__dict__)


def throttles(
    config: Config,
    admin: Config | None = None,
    *,
    jobs: int | None = None,
    idle: int | None = None,
    pre: int | None = None,
    post: int | None = None,
    hold: int | None = None,
    submits: int | None = None,
) -> Throttles:
    """The user's limits (None: not given, the knob counts), each capped by the administrator's.

    `config` are the knobs in force, `admin` those without the DAG's own CONFIG file (None: the
    same).  DAGMAN_DISABLE_ADMIN_THROTTLE_LIMITING lifts the caps.
    """
    caps = admin or config

    def limit(asked: int | None, knob: str) -> int:
        wanted: int = getattr(config, knob) if asked is None else asked
        if caps.disable_admin_throttle_limiting:
            return max(wanted, 0)
        return effective_limit(wanted, getattr(caps, knob))

    return Throttles(
        jobs=limit(jobs, "max_jobs_submitted"),
        idle=limit(idle, "max_jobs_idle"),
        pre=limit(pre, "max_pre_scripts"),
        post=limit(post, "max_post_scripts"),
        hold=limit(hold, "max_hold_scripts"),
        submits=limit(submits, "max_submits_per_interval"),
        own_pace=_own_pace(config, caps, submits),
        interval=float(config.user_log_scan_interval),
    )


def _own_pace(config: Config, admin: Config, asked: int | None) -> bool:
    """Whether neither the administrator nor the user limits submits per interval; 0 asks for no
    limit, and the default of a knob that the administrator has not set is none of his."""
    free = asked is None and not config.limits_submits
    if admin.disable_admin_throttle_limiting:
        return free
    wanted = config.max_submits_per_interval if asked is None else asked
    return not admin.limits_submits and (free or wanted <= 0)


def on_wanted(engine: Engine, wanted: LimitsWanted) -> None:
    """Somebody wants other throttles: they count from now on, as far as the administrator lets
    them."""
    config, old = engine.config, replace(engine.limits)
    asked = {name: value for name, value in wanted._asdict().items() if value is not None}
    engine.limits.adopt(
        throttles(config, engine.admin, **{**_as_asked(old, engine.admin), **asked})
    )
    engine.limits_changed = True
    engine.emit(do.PublishLimits())
    fewer = engine.limits.jobs and (engine.limits.jobs < old.jobs or not old.jobs)
    replayed = engine.phase in (Phase.RUNNING, Phase.FINISHING)  # else much of it may have ended
    if fewer and replayed and config.remove_jobs_after_limit_change:
        _remove_surplus(engine)


def _as_asked(limits: Throttles, admin: Config) -> dict[str, int | None]:
    asked = {name: getattr(limits, name) for name in LimitsWanted._fields}
    if limits.own_pace:
        asked["submits"] = None if admin.disable_admin_throttle_limiting else 0
    return asked


def _remove_surplus(engine: Engine) -> None:
    """Remove the youngest jobs beyond -MaxJobs; their nodes get a retry for it (stock rule).

    That is noted in the log, and done when the note is read.
    """
    ordinary = [
        node
        for node in engine.nodes.in_state(State.SUBMITTED)
        if not _is_spared(engine, node) and engine.nodes.clusters[node] > 0
    ]
    ordinary.sort(key=lambda node: engine.nodes.clusters[node])
    for node in ordinary[engine.limits.jobs :]:
        retry, cluster = engine.nodes.retries.get(node, 0), engine.nodes.clusters[node]
        engine.note(node, do.AppendNote(Note.SURPLUS, node, retry, cluster=cluster))


def _is_spared(engine: Engine, node: int) -> bool:
    return node == engine.final or node in engine.nodes.services


def on_surplus(engine: Engine, node: int, event: LogEvent) -> None:
    """The note has been read: the node gets a retry more, its jobs are removed."""
    if engine.nodes.states[node] in (State.READY, State.PRE_WAIT):
        engine.book.open(node, event.cluster)  # in an old log the submit event may come later
        engine.nodes.clusters[node] = event.cluster
        engine.jobs_seen(node)
    jobs = engine.book.by_node.get(node)
    in_queue = engine.nodes.states[node] == State.SUBMITTED
    if in_queue and jobs is not None and jobs.cluster == event.cluster and not jobs.removing:
        engine.granted[node] = engine.granted.get(node, 0) + 1
        reason = "DAG Limit: Max number of submitted nodes was reached."
        removals.remove_rest(engine, jobs, reason)


class RestartPace:
    """Lets the PRE scripts that wait at the end of a recovery start at a bounded pace.

    Args:
        rate: scripts a second (PYDAGMAN_PRE_SCRIPTS_PER_SECOND); 0 for no limit.
    """

    def __init__(self, rate: int) -> None:
        self._step = 1.0 / rate if rate > 0 else 0.0
        self._left = 0
        self._next = 0.0

    def begin(self, waiting: int) -> None:
        """The log has been replayed, and so many scripts wait."""
        self._left = waiting if self._step else 0

    def allows(self, now: float) -> bool:
        """Whether a script may start now."""
        return not self._left or now >= self._next

    def started(self, now: float) -> None:
        """A script starts."""
        if self._left:
            self._left -= 1
            self._next = now + self._step

    def next_time(self) -> float | None:
        """When the next one may start; None if that is at once."""
        return self._next if self._left else None


class SubmitPace:
    """Counts submits per interval and keeps the back-off after a submit that failed.

    `delay` is the time between two submits (DAGMAN_SUBMIT_DELAY).  Stock sleeps that long before
    each submit; we do other things meanwhile.

    Back-off is 1, 2, 4, ... seconds, for the whole DAG, until a submit succeeds (stock rule);
    ours stops growing at a minute.
    """

    BACKOFF_MAX = 60.0

    def __init__(self, limits: Throttles, delay: float = 0.0) -> None:
        self._limits = limits
        self._delay = delay
        self._interval_end = 0.0
        self._count = 0
        self._backoff = 0.0
        self._blocked_until = 0.0

    def blocked_until(self, now: float) -> float:
        """When the next submit may start; not after `now` if it may start now."""
        if now < self._blocked_until:
            return self._blocked_until
        most = 0 if self._limits.own_pace else self._limits.submits
        return self._interval_end if 0 < most <= self._count and now < self._interval_end else 0.0

    def submitted(self, now: float) -> None:
        """A submit succeeded."""
        self._backoff = 0.0
        self._blocked_until = now + self._delay
        if now >= self._interval_end:
            self._interval_end = now + self._limits.interval
            self._count = 0
        self._count += 1

    def failed(self, now: float) -> float:
        """A submit failed; returns the seconds to wait before the next try."""
        self._backoff = min(2 * self._backoff, self.BACKOFF_MAX) or 1.0
        self._blocked_until = now + self._backoff
        return self._backoff


class Categories:
    """Nodes in flight by category, and those set aside because their category is full."""

    def __init__(self, categories: dict[int, str], limits: dict[str, int]) -> None:
        self._of = {node: name for node, name in categories.items() if name in limits}
        self._limits = limits
        self._aside: dict[str, list[int]] = {}
        self._inside: dict[str, set[int]] = {}

    def room(self, node: int) -> bool:
        """Whether the node's category allows one more."""
        name = self._of.get(node)
        return name is None or len(self._inside.get(name, ())) < self._limits[name]

    def set_aside(self, node: int) -> None:
        """Keep a ready node until its category has room."""
        self._aside.setdefault(self._of[node], []).append(node)

    def enter(self, node: int) -> None:
        """The node is being submitted, or was found in the queue."""
        name = self._of.get(node)
        if name is not None:
            self._inside.setdefault(name, set()).add(node)

    def leave(self, node: int) -> list[int]:
        """The node's jobs ended; returns the nodes set aside in its category, oldest first."""
        name = self._of.get(node)
        if name is None or node not in self._inside.get(name, ()):
            return []
        self._inside[name].discard(node)
        return self._aside.pop(name, [])

    def clear(self) -> None:
        """Nobody is set aside any more."""
        self._aside.clear()

    def waiting(self) -> list[int]:
        """All nodes set aside."""
        return [node for nodes in self._aside.values() for node in nodes]
