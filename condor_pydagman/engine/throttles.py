"""Limits on what may be in flight at once, applied last, just before a node or script starts."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from condor_pydagman.config import Config, effective_limit
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import FIRST_SUBMIT_BACKOFF_S, MAX_SUBMIT_BACKOFF_S

MINUTE_S = 60.0


class Throttles(NamedTuple):
    """Limits in force; 0 means none.  A change makes a new object."""

    jobs: int = 0  # nodes with jobs in the queue (-MaxJobs)
    idle: int = 0  # idle procs (-MaxIdle)
    # running scripts of each kind
    pre: int = 0
    post: int = 0
    hold: int = 0
    submits: int = 0  # submits in one interval of `interval_s` seconds
    # whether neither administrator nor user limits these.  `submits` is what stock would keep to
    # then: it is shown, and jobs are submitted as fast as the schedd takes them.
    own_pace: bool = False
    interval_s: float = 5.0


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
        interval_s=float(config.user_log_scan_interval),
    )


def _own_pace(config: Config, admin: Config, asked: int | None) -> bool:
    """Whether neither the administrator nor the user limits submits per interval; 0 asks for no
    limit, and the default of a knob that the administrator has not set is none of his."""
    free = asked is None and not config.limits_submits
    if admin.disable_admin_throttle_limiting:
        return free
    wanted = config.max_submits_per_interval if asked is None else asked
    return not admin.limits_submits and (free or wanted <= 0)


def changed(limits: Throttles, wanted: LimitsWanted, config: Config, admin: Config) -> Throttles:
    """The limits after a request; the administrator's knobs `admin` cap it as at the start."""
    asked = {name: value for name, value in wanted._asdict().items() if value is not None}
    return throttles(config, admin, **{**_as_asked(limits, admin), **asked})


def _as_asked(limits: Throttles, admin: Config) -> dict[str, int | None]:
    asked = {name: getattr(limits, name) for name in LimitsWanted._fields}
    if limits.own_pace:
        asked["submits"] = None if admin.disable_admin_throttle_limiting else 0
    return asked


class RestartPace:
    """Lets the PRE scripts that wait at the end of a recovery start at a bounded pace.

    Args:
        rate: scripts a second (PYDAGMAN_PRE_SCRIPTS_PER_SECOND); 0 for no limit.
    """

    def __init__(self, rate: int) -> None:
        self._step_s = 1.0 / rate if rate > 0 else 0.0
        self._left = 0
        self._next = 0.0

    def begin(self, waiting: int) -> None:
        """The log has been replayed, and so many scripts wait."""
        self._left = waiting if self._step_s else 0

    def allows(self, now: float) -> bool:
        """Whether a script may start now."""
        return not self._left or now >= self._next

    def started(self, now: float) -> None:
        """A script starts."""
        if self._left:
            self._left -= 1
            self._next = now + self._step_s

    def next_time(self) -> float | None:
        """When the next one may start; None if that is at once."""
        return self._next if self._left else None


def burst_of(most: int) -> tuple[int, float]:
    """How many starts of so many a minute there may be at once, and seconds until there are as many
    more."""
    burst = max(1, most // 60)
    return burst, MINUTE_S * burst / most


class StartPace:
    """Lets so many nodes be submitted in a minute, evenly rather than all at its beginning."""

    def __init__(self, most: int) -> None:
        self.most = most  # in any minute (PYDAGMAN_MAX_STARTS_PER_MINUTE); 0 for no limit
        burst, burst_s = burst_of(most) if most else (0, 0.0)
        self._burst = burst
        self._burst_s = burst_s
        self._times: deque[float] = deque(maxlen=most)

    def started(self, now: float) -> None:
        """A node is submitted, or the log shows that one was."""
        if self.most:
            self._times.append(now)

    def next_time(self) -> float:
        """When the next one may be."""
        times = self._times
        of_minute = times[0] + MINUTE_S if len(times) == self.most else 0.0
        of_burst = times[-self._burst] + self._burst_s if len(times) >= self._burst else 0.0
        return max(of_minute, of_burst)


class SubmitPace:
    """Counts submits per interval and keeps the back-off after a submit that failed.

    `delay_s` is the time between two submits (DAGMAN_SUBMIT_DELAY).  Stock sleeps that long before
    each submit; we do other things meanwhile.

    Back-off is 1, 2, 4, ... seconds, for the whole DAG, until a submit succeeds (stock rule);
    ours stops growing at a minute.
    """

    def __init__(self, delay_s: float = 0.0) -> None:
        self._delay_s = delay_s
        self._interval_end = 0.0
        self._count = 0
        self._backoff_s = 0.0
        self._blocked_until = 0.0

    def blocked_until(self, now: float, limits: Throttles, in_flight: int = 0) -> float:
        """When the next submit may start; not after `now` if it may start now.

        `in_flight`: how many have no reply yet.
        """
        if now < self._blocked_until:
            return self._blocked_until
        most = 0 if limits.own_pace else limits.submits
        in_time = now < self._interval_end
        if not 0 < most <= (self._count if in_time else 0) + in_flight:
            return 0.0
        return self._interval_end if in_time else now + limits.interval_s

    def submitted(self, now: float, limits: Throttles) -> None:
        """A submit succeeded; one before it that failed waits all the same."""
        self._backoff_s = 0.0
        self._blocked_until = max(self._blocked_until, now + self._delay_s)
        if now >= self._interval_end:
            self._interval_end = now + limits.interval_s
            self._count = 0
        self._count += 1

    def hurry(self, now: float) -> None:
        """What the last try failed of may be over."""
        self._backoff_s = 0.0
        self._blocked_until = min(self._blocked_until, now + FIRST_SUBMIT_BACKOFF_S)

    def failed(self, now: float) -> float:
        """A submit failed; returns the seconds to wait before the next try.

        One that was in flight with another that failed makes the wait no longer.
        """
        if self._backoff_s and now < self._blocked_until:
            return self._blocked_until - now
        self._backoff_s = min(2 * self._backoff_s, MAX_SUBMIT_BACKOFF_S) or FIRST_SUBMIT_BACKOFF_S
        self._blocked_until = now + self._backoff_s
        return self._backoff_s


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

    def free(self, node: int) -> float:
        """How many more the node's category allows."""
        name = self._of.get(node)
        if name is None:
            return float("inf")
        return max(0, self._limits[name] - len(self._inside.get(name, ())))

    def taken(self) -> dict[str, int]:
        """How many places are taken, of each category with a limit that is in use."""
        return {name: len(nodes) for name, nodes in self._inside.items()}

    def grow(self, categories: Mapping[int, str], new: Sequence[int]) -> None:
        """The DAG has got new nodes, and perhaps other limits."""
        if self._limits:
            known = ((node, categories[node]) for node in new if node in categories)
            self._of.update((node, name) for node, name in known if name in self._limits)

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

    def move(self, node: int, name: str) -> None:
        """The node, which is neither inside nor set aside, is of another category from now on."""
        self._of.pop(node, None)
        if name in self._limits:
            self._of[node] = name

    def forget(self, node: int) -> None:
        """The node is not to be submitted for now."""
        aside = self._aside.get(self._of.get(node, ""), [])
        if node in aside:
            aside.remove(node)

    def is_aside(self, node: int) -> bool:
        """Whether the node waits for room in its category."""
        return node in self._aside.get(self._of.get(node, ""), ())

    def clear(self) -> None:
        """No node is set aside any more."""
        self._aside.clear()

    def waiting(self) -> list[int]:
        """All nodes set aside."""
        return [node for nodes in self._aside.values() for node in nodes]
