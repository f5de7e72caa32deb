"""How places are shared: equally, never too many, and so that nobody starves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.common.shares import Party, shares


@pytest.mark.parametrize(
    ("most", "parties", "found"),
    [
        (110, [(0, 1000, 1), (0, 10, 2), (0, 1000, 3)], [50, 10, 50]),
        (7, [(3, 9, 5), (4, 9, 9)], [3, 4]),
        (1, [(1, 9, 1), (0, 9, 3), (0, 9, 2)], [0, 0, 1]),
    ],
    ids=["who wants less gets it", "the rest stays where it is", "who has waited longest"],
)
def test_who_gets_what(most: int, parties: list[tuple[int, int, int]], found: list[int]) -> None:
    asked = [Party(str(n), *one) for n, one in enumerate(parties)]
    assert shares(most, asked) == {str(n): places for n, places in enumerate(found)}


@given(
    st.integers(0, 50),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30), st.integers(0, 5)), max_size=12),
)
def test_shares_are_fair(most: int, asked: list[tuple[int, int, int]]) -> None:
    parties = [Party(str(n), *one) for n, one in enumerate(asked)]
    found = shares(most, parties)
    assert found.keys() == {one.name for one in parties}
    assert sum(found.values()) <= most
    wanted = {one.name: one.wanted for one in parties}
    assert all(found[name] <= wanted[name] for name in found)
    if sum(found.values()) < most:
        assert found == wanted
    greatest = max(found.values(), default=0)
    assert all(found[name] >= min(wanted[name], greatest - 1) for name in found)
