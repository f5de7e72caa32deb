"""Which runs there are, in which order, and what a command finds of one before it."""

from __future__ import annotations

from itertools import islice

from tests.torture.disturbances import DISTURBANCES
from tests.torture.run import ROUND, TO_ALL, plan
from tests.torture.session import OURS


def first(flavour: str, only: list[str], count: int = 250) -> list[list[str]]:
    batches = list(islice(plan(flavour, only, 4), count))
    numbers = [run.number for batch in batches for run in batch]
    assert numbers == list(range(len(numbers)))
    return [[run.disturbance for run in batch] for batch in batches]


def test_every_disturbance_is_planned() -> None:
    drawn = first(OURS, [])
    assert {name for batch in drawn for name in batch} == set(DISTURBANCES)
    assert set(ROUND) | set(TO_ALL) == set(DISTURBANCES)
    for batch in drawn:
        assert len(batch) == (4 if DISTURBANCES[batch[0]].to_all else 1)
