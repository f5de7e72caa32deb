"""HOLD scripts: one for each time a proc goes on hold (manual: "SCRIPT").

They are no part of a node's life: their exit code is ignored, nothing waits for them, and they are
not killed at the end.  After a restart they run for procs that are on hold still.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import scripts
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.vocabulary import ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


MOST_WAITING = 100_000  # scripts; a job may go on hold and off it faster than they run


class HeldProc(NamedTuple):
    """A proc that went on hold."""

    node: int
    cluster: int
    proc: int


class HoldScripts:
    """Those that want to start, those put off by DEFER, and how many run.

    Attributes:
        running: how many run.
        logged: procs that are on hold as far as an old log has been replayed.
    """

    def __init__(self) -> None:
        self.running = 0
        self.logged: dict[tuple[int, int], HeldProc] = {}
        self._waiting: deque[HeldProc] = deque()
        self._deferred: list[tuple[float, HeldProc]] = []
        self._told = False

    def __bool__(self) -> bool:
        """Whether any of them wants to start, now or later."""
        return bool(self._waiting or self._deferred or self.logged)

    def next_time(self) -> float | None:
        """When the next one that was put off is due."""
        return self._deferred[0][0] if self._deferred else None

    def add(self, held: HeldProc) -> str:
        """A script is to run; if too many wait, it is left out.  Returns what is to be said."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(held)
            return ""
        first, self._told = not self._told, True
        too_many = (
            f"Warning: more than {MOST_WAITING:,} HOLD scripts wait; further ones are left out"
        )
        return too_many if first else ""

    def defer(self, held: HeldProc, until: float) -> None:
        """A script is to run again at `until` (seconds since the epoch)."""
        heapq.heappush(self._deferred, (until, held))

    def pop(self, now: float) -> HeldProc | None:
        """The next one that may start, or None."""
        self._waiting.extend(self.logged.values())
        self.logged.clear()
        while self._deferred and self._deferred[0][0] <= now:
            self._waiting.append(heapq.heappop(self._deferred)[1])
        return self._waiting.popleft() if self._waiting else None


def on_held(engine: Engine, node: int, cluster: int, proc: int) -> None:
    """A proc went on hold."""
    if engine.dag.script(node, ScriptKind.HOLD) is None:
        return
    held = HeldProc(node, cluster, proc)
    if engine.recovering:
        engine.hold_scripts.logged[cluster, proc] = held
    else:
        engine.deferred["hold"] += _room(engine) <= 0
        warning = engine.hold_scripts.add(held)
        if warning:
            engine.say(warning)


def on_hold_no_more(engine: Engine, cluster: int, proc: int) -> None:
    """A proc was released, or has ended: in an old log that makes its script old news."""
    engine.hold_scripts.logged.pop((cluster, proc), None)


def start(engine: Engine) -> None:
    """Start scripts while the throttle allows."""
    while engine.ending is None and _room(engine) > 0:
        held = engine.hold_scripts.pop(engine.now)
        if held is None:
            return
        words = scripts.words(engine, held.node, ScriptKind.HOLD)
        if words:
            engine.hold_scripts.running += 1
            engine.say(f"Running HOLD script of Node {engine.dag.names[held.node]}...")
            engine.emit(do.RunScript(held.node, ScriptKind.HOLD, words))


def on_ended(engine: Engine, ended: ScriptEnded) -> None:
    """A script ended: run it again later if DEFER says so."""
    engine.hold_scripts.running = max(0, engine.hold_scripts.running - 1)
    script = engine.dag.script(ended.node, ScriptKind.HOLD)
    if script is not None and scripts.is_deferred(engine, ended, script):
        until = engine.now + script.defer_seconds
        engine.hold_scripts.defer(HeldProc(ended.node, 0, 0), until)


def next_time(engine: Engine) -> float | None:
    """When a script that was put off is to start, if there is a place for it then."""
    return engine.hold_scripts.next_time() if _room(engine) > 0 else None


def _room(engine: Engine) -> float:
    limit = engine.limits.hold
    return limit - engine.hold_scripts.running if limit else float("inf")
