"""Records that have been written and not been read back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.run_records import Journal, Kind
from condor_pydagman.timers import CONFIRM_TIMEOUT_S

RECORD = do.AppendJournalRecord("CONDITION", 1, 0)
FREE, HOLDING = Kind("free"), Kind("holding", holds=True)


def test_a_record_is_awaited_until_it_is_read() -> None:
    journal = Journal()
    assert (journal.awaited, journal.next_time(), journal.holding) == ({}, None, 0)
    journal.add(FREE, 1, (RECORD,), 100.0)
    due = 100.0 + CONFIRM_TIMEOUT_S
    assert 1 in journal.of(FREE)
    assert journal.record(FREE, 1) is RECORD
    assert (journal.next_time(), journal.overdue(due - 1)) == (due, [])
    assert journal.overdue(due) == [(FREE, 1, (RECORD,))]
    assert journal.drop(FREE, 1)
    assert not journal.drop(FREE, 1)
    assert (journal.awaited, journal.record(FREE, 1)) == ({}, None)


def test_what_is_written_once_more_comes_last() -> None:
    journal = Journal()
    journal.add(FREE, 1, (RECORD,), 0.0)
    journal.add(FREE, 2, (RECORD,), 10.0)
    journal.add(FREE, 1, (RECORD,), 20.0)
    assert list(journal.of(FREE)) == [2, 1]
    assert journal.next_time() == 10.0 + CONFIRM_TIMEOUT_S


steps = st.tuples(
    st.sampled_from(["add", "drop", "clear"]), st.sampled_from([FREE, HOLDING]), st.integers(0, 2)
)


@given(st.lists(steps, max_size=30))
def test_it_holds_while_a_record_that_does_is_awaited(taken: list[tuple[str, Kind, int]]) -> None:
    journal, model = Journal(), {FREE: set[int](), HOLDING: set[int]()}
    for now, (step, kind, key) in enumerate(taken):
        if step == "add":
            journal.add(kind, key, (RECORD,), now)
            model[kind].add(key)
        elif step == "drop":
            journal.drop(kind, key)
            model[kind].discard(key)
        else:
            journal.clear(kind)
            model[kind].clear()
        assert journal.holding == len(model[HOLDING])
        assert bool(journal.awaited) == any(model.values())
        assert set(journal.of(FREE)) == model[FREE]
