"""Cost by size is measured from small to big, of the stock DAGMan while it is quick enough."""

from __future__ import annotations

import time

import pytest

from benchmarks import curve_steps
from benchmarks.place import Failed
from benchmarks.sizes import Numbers


class Work:
    """A measurement that takes `each` seconds a node, on a clock that only it moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, each: float, greatest: int = 0) -> None:
        self.taken: list[int] = []
        self._now, self._each, self._greatest = 0.0, each, greatest
        monkeypatch.setattr(time, "monotonic", lambda: self._now)

    def take(self, nodes: int) -> Numbers:
        if self._greatest and nodes > self._greatest:
            raise Failed("too big")
        self.taken.append(nodes)
        self._now += nodes * self._each
        return {f"t {nodes}": [1.0]}


COUNTS = (100, 10_000, 1_000_000)


@pytest.mark.parametrize(
    ("subject", "last"), [("stock", 10_000), ("tuned", 10_000), ("ours", 10**6)]
)
def test_stock_is_not_measured_where_it_would_take_too_long(
    monkeypatch: pytest.MonkeyPatch, subject: str, last: int
) -> None:
    work = Work(monkeypatch, each=0.01)
    found = curve_steps.each_size(subject, COUNTS, work.take)
    assert max(work.taken) == last
    assert len(found["t 100"]) == curve_steps.TURNS


def test_big_ones_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch, each=1e-6)
    found = curve_steps.each_size("stock", COUNTS, work.take)
    assert [len(values) for values in found.values()] == [3, 3, 1]


def test_a_failure_keeps_what_was_found_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch, each=1e-6, greatest=100)
    with pytest.raises(Failed, match="10,000 nodes: too big") as failed:
        curve_steps.each_size("ours", COUNTS, work.take, turns=1)
    assert failed.value.found == {"t 100": [1.0]}
