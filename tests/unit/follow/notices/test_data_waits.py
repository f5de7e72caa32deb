"""What DATA nodes wait for, as their workers say it, and what people are told of it."""

from __future__ import annotations

from condor_pydagman.follow.notices.data_waits import data_wait_notices, wait_of
from condor_pydagman.follow.notices.facts import DataWait, Facts
from condor_pydagman.follow.run_model import DagState, Run

REST = "http://h:80, which has failed and is left alone until 11/27/26 10:05:00"
FAILED = "http://h/a -> file:///b (direct http-file): the server does not answer"


def waits(*lines: str) -> tuple[str, float, bool] | None:
    found = wait_of("in", "in.out", [(100.0 + number, line) for number, line in enumerate(lines)])
    return (found.text, found.since, found.is_again) if found is not None else None


def test_the_last_wait_that_is_not_over() -> None:
    assert waits() is None
    assert waits("done: http://h/a -> file:///b: 1 kB, 0.1 s, direct") is None
    assert waits(f"waits for {REST}") == (REST, 100.0, False)
    one = "one of the transfers of http://h:80"
    assert waits(f"waits for {REST}", f"has waited 3 s for {REST}") is None
    assert waits(f"waits for {one}", f"waits for {REST}", f"has waited 1 min for {REST}") == (
        one,
        100.0,
        False,
    )
    assert waits(f"waits for {one}", "0 placements done; 1 s") is None, "the worker has ended"
    twice = [f"waits for {one}"] * 2
    assert waits(*twice, f"has waited 1 min for {one}") == (one, 101.0, False), (
        "another one goes on"
    )
    assert waits(*twice, *[f"has waited 1 min for {one}"] * 2) is None


def test_a_placement_that_is_tried_again() -> None:
    line = f"attempt 2: {FAILED}; again in 1 min"
    assert waits(line) == (FAILED, 100.0, True)
    assert waits(line, "done: http://h/c -> file:///d: 1 kB, 0.1 s, direct") is None
    assert waits(line, f"waits for {REST}") == (REST, 101.0, False)
    assert waits(f"attempt 2: {FAILED}; the next way is tried") is None


def notices(*found: DataWait, state: DagState = DagState.RUNNING) -> list[str]:
    known = Facts("t.dag", state, 160.0, Run(), data_waits=found)
    return [notice.sentence for notice in data_wait_notices(known)]


def test_nodes_that_wait_for_the_same() -> None:
    same = [DataWait(name, REST, when, f"{name}.out") for name, when in (("a", 110), ("b", 100))]
    assert notices(*same) == [f"DATA nodes a and b are waiting for {REST}, for 1 min."]
    assert notices(DataWait("c", FAILED, 150.0, "c.out", is_again=True)) == [
        f"DATA node c tries a placement again: {FAILED}."
    ]
    assert notices(*same, state=DagState.FAILED) == []
