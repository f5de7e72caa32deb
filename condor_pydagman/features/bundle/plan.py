"""stand-in until plan is merged"""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class Limits(NamedTuple):
    size: int = 100
    seconds: float = 300.0
    parallel: int = 1
    given: bool = False


class Seen(NamedTuple):
    ready: int
    slots: int = 0
    running: int = 0
    idle: int = 0
    task_s: float = 0.0
    starts_per_s: float = 36.0


class Times:
    def __init__(self) -> None:
        self._all: list[float] = []

    def add(self, seconds: float) -> None:
        self._all.append(seconds)

    def estimate(self) -> float:
        return sum(self._all) / len(self._all)


def sizes(seen: Seen, limits: Limits) -> list[int]:
    if seen.idle >= 8:
        return []
    return [min(seen.ready, limits.size)]
