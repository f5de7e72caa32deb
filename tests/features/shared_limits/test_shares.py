"""How places are shared: equally, never too many, and so that nobody starves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.shared_limits.fair_shares import Party, shares


def test_who_wants_less_gets_it_and_the_others_share_the_rest() -> None:
    parties = [Party("a", 0, 1000, 1), Party("b", 0, 10, 2), Party("c", 0, 1000, 3)]
    assert shares(110, parties) == {"a": 50, "b": 10, "c": 50}


def test_what_can_not_be_shared_stays_where_it_is() -> None:
    parties = [Party("a", 3, 9, 5), Party("b", 4, 9, 9)]
    assert shares(7, parties) == {"a": 3, "b": 4}


def test_of_too_few_places_each_goes_to_who_has_waited_longest() -> None:
    parties = [Party("a", 1, 9, 1), Party("b", 0, 9, 3), Party("c", 0, 9, 2)]
    assert shares(1, parties) == {"a": 0, "b": 0, "c": 1}


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
