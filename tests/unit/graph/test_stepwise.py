"""Long work in steps."""

from __future__ import annotations

from array import array

import pytest

from condor_pydagman.graph import stepwise
from condor_pydagman.graph.stepwise import Steps, at_once, mapped


def test_the_result_of_all_steps() -> None:
    def steps() -> Steps[int]:
        yield
        yield
        return 3

    assert at_once(steps()) == 3


@pytest.mark.parametrize("count", [0, 1, 4, 5])
def test_numbers_are_mapped_some_at_a_time(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepwise, "AT_A_TIME", 2)
    numbers = array("Q", range(count))
    far = array("Q", [(1 << 40) + number for number in numbers])
    assert at_once(mapped((1 << 40).__add__, numbers)) == far
    assert len(list(mapped(abs, numbers))) == (count + 1) // 2
