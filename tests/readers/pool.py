"""The schedd and the collector of a golden file's world: they answer questions of readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import classad2

from condor_pydagman.errors import PoolError
from tests.scenes.jobs import Job

IDLE, RUNNING, REMOVED, COMPLETED, HELD = 1, 2, 3, 4, 5  # JobStatus


class Pool:
    """What is in the queue, in the history and in the collector.

    Attributes:
        problem: why nobody answers; '' if they do.
        slots: ads of the machines.
    """

    AdType = SimpleNamespace(Startd="Startd")

    def __init__(self) -> None:
        self.problem = ""
        self.slots: list[Any] = []
        self._ads: dict[Job, Any] = {}
        self._left: list[Any] = []

    def has(self, job: Job) -> bool:
        """Whether a job is in the queue."""
        return job in self._ads

    def add(self, job: Job, now: float, **attributes: Any) -> None:
        """A job is submitted."""
        cluster, proc = job
        self._ads[job] = classad2.ClassAd({"ClusterId": cluster, "ProcId": proc, **attributes})
        self.set(job, now, IDLE)

    def set(self, job: Job, now: float, status: int, **attributes: Any) -> None:
        """A job of the queue gets into a status."""
        self._ads[job].update({"JobStatus": status, "EnteredCurrentStatus": now, **attributes})

    def leave(self, job: Job, now: float, status: int = COMPLETED, **attributes: Any) -> None:
        """A job leaves the queue for the history."""
        self.set(job, now, status, **attributes)
        self._left.append(self._ads.pop(job))

    @property
    def dagman(self) -> Any:
        """The ad of DAGMan's job in the queue, {} if it is not there."""
        return next((ad for ad in self._ads.values() if ad["JobUniverse"] == 7), {})

    def asked(self, ask: Callable[[Any], Any], whom: str) -> Any:
        """In place of `schedd_queries._asked`, with this object for the bindings.

        Raises:
            PoolError: nobody answers.
        """
        if self.problem:
            raise PoolError(f"can't ask {whom}: {self.problem}", transient=True)
        return ask(self)

    # What readers use of the bindings.

    def Schedd(self) -> Pool:
        return self

    def Collector(self) -> SimpleNamespace:
        return SimpleNamespace(query=lambda *_: self.slots)

    def query(self, condition: str, _: Any, limit: int = -1) -> list[Any]:
        found = _matching(self._ads.values(), condition)
        return found if limit < 0 else found[:limit]

    def history(self, condition: str, _: Any, **__: Any) -> list[Any]:
        return _matching(reversed(self._left), condition)


def _matching(ads: Iterable[Any], condition: str) -> list[Any]:
    expression = classad2.ExprTree(condition)
    return [ad for ad in ads if expression.eval(scope=ad) is True]
