"""Which capacity counts, which allocation is meant, and ledgers that are damaged or hostile."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.placement.rules import allocation_rules as rules
from condor_pydagman.placement.rules.allocation_rules import Allocation, DamagedLedger

NOW = 1e9
stamps = st.integers(0, 10**11).map(float)
allocations = st.lists(
    st.builds(
        Allocation,
        st.text(
            st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
            min_size=1,
            max_size=30,
        ),
        st.text(max_size=20),
        st.none() | st.integers(0, rules.MAX_BYTES),
        stamps,
        stamps,
        stamps,
    ),
    max_size=5,
)


def test_only_what_is_in_force_takes_space() -> None:
    one = Allocation("/d", "1", 5, NOW - 9)
    all_of_them = [
        one,
        one._replace(released=NOW - 1),
        one._replace(ends=NOW),
        one._replace(ends=NOW + 1),
        one._replace(size=None),
        one._replace(destination="/e"),
    ]
    assert rules.taken(all_of_them, "/d", (("/d", 100), ("/e", 100)), NOW) == 10


def test_which_allocation_a_transfer_means() -> None:
    wide, narrow = Allocation("/d", "1", 5, NOW), Allocation("/d/e", "1", 5, NOW)
    meant = rules.for_transfer([wide, narrow], "1", "/d/e/file", NOW)
    assert meant == narrow
    assert rules.for_transfer([wide, narrow], "1", "/x/file", NOW) is None
    assert rules.for_transfer([wide], "1", "/x/file", NOW) == wide
    assert rules.for_transfer([wide], "2", "/d/file", NOW) is None


def test_the_nearest_ids_are_named() -> None:
    known = [Allocation("/d", name, 1, NOW) for name in ("run12", "other")]
    assert rules.nearest_ids(known, "run13", NOW) == "you have run12 and others"
    assert rules.nearest_ids([], "1", NOW) == "you have no allocations"


@given(allocations)
def test_a_ledger_is_read_as_it_was_written(all_of_them: list[Allocation]) -> None:
    assert rules.read_ledger(rules.ledger_text(all_of_them)) == all_of_them


@given(allocations, st.integers(0, 10**6))
def test_a_ledger_that_was_cut_off_is_damaged(all_of_them: list[Allocation], at: int) -> None:
    text = rules.ledger_text(all_of_them)
    with pytest.raises(DamagedLedger):
        rules.read_ledger(text[: at % len(text)])


@given(st.text())
def test_any_other_text_is_damaged(text: str) -> None:
    with pytest.raises(DamagedLedger):
        rules.read_ledger(text)


@pytest.mark.parametrize(
    "line",
    [
        "/d 1 -5 0.000 0.000 0.000",
        "/d 1 9999999999999999999 0.000 0.000 0.000",
        "/d 1 5 inf 0.000 0.000",
        "/d 1 5 0.000 0.000",
        "x" * 4000 + " 1 5 0.000 0.000 0.000",
    ],
)
def test_absurd_numbers_are_refused(line: str) -> None:
    body = f"condor_pydagman ledger 1\n{line}\n"
    with pytest.raises(DamagedLedger):
        rules.read_ledger(f"{body}end {zlib.crc32(body.encode()):08x}\n")


def test_a_ledger_stays_small() -> None:
    old = [Allocation("/d", str(n), 1, 0, 0, NOW - n) for n in range(rules.MAX_ROWS)]
    kept = rules.without_forgotten([*old, Allocation("/d", "now", 1, NOW)], NOW)
    assert len(kept) == rules.MAX_ROWS // 2 + 1
    assert {"now", "0"} <= {one.allocation_id for one in kept}
    forgotten = Allocation("/d", "1", 1, 0, 0, NOW - rules.REMEMBERED_S)
    assert rules.without_forgotten([forgotten], NOW) == []
