"""The schedd's history, searched by a process of its own: that may take minutes, and holds up
nothing else.

The bindings wait for ever where a disk hangs, and what they need for the ads of a long history they
do not give back: so the process lives for one search, and the kernel ends one that takes too long.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Callable
from typing import Any

from condor_pydagman.adapters import job_history
from condor_pydagman.adapters.child import Child, ProcessShortage, watched
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_requests import Listing, result_message
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import HISTORY_TIMEOUT_S

Then = Callable[[Any], None]


class HistorySearch:
    """Makes listings of the queue whole, one after another.

    Args:
        adapter: how the child asks.
        epoll: becomes readable when a child has answered or has ended.
        clock: monotonic seconds.
    """

    def __init__(
        self, adapter: ScheddAdapter, epoll: select.epoll, clock: Callable[[], float]
    ) -> None:
        self._adapter = adapter
        self._epoll = epoll
        self._patience = job_history.Patience()
        self._waiting: deque[tuple[Listing, Then]] = deque()
        self._child: Child | None = None
        self._results: list[tuple[Then, Any]] = []
        self._shortage = ProcessShortage(
            "search the history", clock, lambda text: self._adapter.warn(text)
        )

    @property
    def busy(self) -> bool:
        """Whether a listing is still to be made whole."""
        return bool(self._waiting or self._results)

    def next_deadline(self) -> float | None:
        """When to call `results` though no child has answered, monotonic seconds."""
        return self._shortage.retry_at if self._waiting else None

    def want(self, listing: Listing, then: Then) -> None:
        """Add what the history has to a listing of the queue."""
        if not self._adapter.cluster:  # there is no run that the history could know
            self._results.append((then, listing))
            return
        self._waiting.append((listing, then))
        if len(self._waiting) == 1:
            self._begin()

    def results(self) -> list[tuple[Then, Any]]:
        """The listings that have become whole."""
        if self._child is not None:
            self._receive(self._child)
        elif self._waiting:
            self._begin()
        results, self._results = self._results, []
        return results

    def end(self) -> None:
        """Give up."""
        self._waiting.clear()
        self._end_child()

    def _begin(self) -> None:
        self._child = child = self._shortage.started(self._fork)
        if child is not None:
            child.send(None)

    def _fork(self) -> Child:
        return watched(Child(self._serve, alarm_s=HISTORY_TIMEOUT_S), self._epoll)

    def _serve(self, _: None) -> dict[str, Any]:
        try:
            return {"value": self._adapter.ended_jobs()}
        except PoolError as error:
            return result_message(error)
        except Exception as error:  # no memory: it is told, whatever it is
            reason = " ".join(str(error).split()) or type(error).__name__
            return result_message(PoolError(reason, transient=True))

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            self._end_child()
            reason = "its answer ends in the middle"
            if child.overdue:
                reason = f"no answer within {HISTORY_TIMEOUT_S:.0f} s"
            self._found(PoolError(reason, transient=True))
            return
        for message in messages:
            self._end_child()
            if "error" in message:
                self._found(PoolError(message["error"][1], transient=True))
            else:
                self._found([EndedJob(*job) for job in message["value"]])

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _found(self, found: list[EndedJob] | PoolError) -> None:
        listing, then = self._waiting.popleft()
        verdict = self._patience.judge(found)
        if isinstance(verdict, str):
            self._adapter.warn(verdict)
            verdict = []
        whole = verdict if isinstance(verdict, PoolError) else listing._replace(ended=verdict)
        self._results.append((then, whole))
        if self._waiting:
            self._begin()
