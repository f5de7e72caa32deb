"""Lines of a worker's log about what a placement waits for."""

from __future__ import annotations

from condor_pydagman.placement.waits import Wait


def test_a_wait_has_a_beginning_and_an_end() -> None:
    said: list[str] = []
    wait = Wait(said.append)
    wait.over()
    wait.begins("one of 3 transfers")
    wait.begins("one of 3 transfers")
    wait.begins("10 MB of scratch")
    wait.over()
    wait.over()
    assert said == [
        "waits for one of 3 transfers",
        "has waited 0 s for one of 3 transfers",
        "waits for 10 MB of scratch",
        "has waited 0 s for 10 MB of scratch",
    ]
