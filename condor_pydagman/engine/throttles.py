"""Limits on what may be in flight at once, asked last, just before a node or script starts."""

from __future__ import annotations

from dataclasses import dataclass

from condor_pydagman.config import Config, effective_limit


@dataclass
class Throttles:
    """Limits in force; 0 means none.

    Attributes:
        jobs: nodes with jobs in the queue (-MaxJobs).
        idle: idle procs (-MaxIdle).
        pre, post, hold: running scripts of each kind.
        submits: submits in one interval of `interval` seconds.
    """

    jobs: int = 0
    idle: int = 0
    pre: int = 0
    post: int = 0
    hold: int = 0
    submits: int = 0
    interval: float = 5.0


def throttles(
    config: Config,
    *,
    jobs: int | None = None,
    idle: int | None = None,
    pre: int | None = None,
    post: int | None = None,
    hold: int | None = None,
) -> Throttles:
    """The user's limits (None: not given), each capped by the administrator's."""

    def limit(user: int | None, administrator: int) -> int:
        return effective_limit(0 if user is None else user, administrator)

    return Throttles(
        jobs=limit(jobs, config.max_jobs_submitted),
        idle=limit(idle, config.max_jobs_idle),
        pre=limit(pre, config.max_pre_scripts),
        post=limit(post, config.max_post_scripts),
        hold=limit(hold, config.max_hold_scripts),
        submits=config.max_submits_per_interval,
        interval=float(config.user_log_scan_interval),
    )


class SubmitPace:
    """Counts submits per interval and keeps the back-off after a submit that failed.

    Back-off is 1, 2, 4, ... seconds, for the whole DAG, until a submit succeeds (stock rule);
    ours stops growing at a minute.
    """

    BACKOFF_MAX = 60.0

    def __init__(self, limits: Throttles) -> None:
        self._limits = limits
        self._interval_end = 0.0
        self._count = 0
        self._backoff = 0.0
        self._blocked_until = 0.0

    def blocked_until(self, now: float) -> float:
        """When the next submit may start; not after `now` if it may start now."""
        if now < self._blocked_until:
            return self._blocked_until
        full = self._limits.submits and self._count >= self._limits.submits
        return self._interval_end if full and now < self._interval_end else 0.0

    def submitted(self, now: float) -> None:
        """A submit succeeded."""
        self._backoff = 0.0
        self._blocked_until = 0.0
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

    def waiting(self) -> list[int]:
        """All nodes set aside."""
        return [node for nodes in self._aside.values() for node in nodes]
