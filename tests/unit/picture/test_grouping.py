"""Grouping: always small enough, fine where it can be."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.picture.grouping import (
    RANGES,
    Grouping,
    Traits,
    fits,
    group_items,
    most_arrows,
)
from condor_pydagman.picture.network import Network, layers


def grouped(count: int, arrows: set[tuple[int, int]], looks: list[int], limit: int) -> Grouping:
    ordered = sorted(arrows)
    net = Network(count, array("i", (a for a, _ in ordered)), array("i", (b for _, b in ordered)))
    found = group_items(net, layers(net)[0], Traits(looks, looks, [0] * count), limit)
    merged = net.merged(found.of, found.count)
    assert fits(merged, limit)
    return found


def test_what_fits_stays() -> None:
    assert list(grouped(3, {(0, 1), (1, 2)}, [0, 0, 0], 3).of) == [0, 1, 2]


def test_alike_siblings_fold() -> None:
    arrows = {(0, n) for n in range(1, 50)} | {(n, 50) for n in range(1, 50)}
    found = grouped(51, arrows, [0] + [1] * 49 + [2], 10)
    assert found.count == 3
    assert len(set(found.of[1:50])) == 1


def test_siblings_of_different_hubs_stay_apart() -> None:
    arrows = {(hub, 10 * hub + n) for hub in (1, 2, 3) for n in range(4, 14)}
    looks = [9] + [0] * 3 + [1] * 40
    found = grouped(44, arrows, looks, 20)
    assert found.of[14] == found.of[23]
    assert found.of[14] != found.of[24]


def test_a_chain_folds_to_one_with_its_order() -> None:
    found = grouped(1000, {(n, n + 1) for n in range(999)}, [0] * 1000, 10)
    assert (found.count, len(found.chains[0])) == (1, 1000)
    assert found.chains[0][0] == 0


def test_the_last_resort_are_ranges_of_layers() -> None:
    ladder = {(n, n + 2) for n in range(98)} | {(n, n + 3) for n in range(97)}
    assert grouped(100, ladder, list(range(100)), 5).rung == RANGES


@given(st.data())
def test_any_network_gets_small_enough(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 40))
    item = st.integers(0, count - 1)
    arrows = data.draw(st.sets(st.tuples(item, item).filter(lambda a: a[0] != a[1])))
    looks = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    limit = data.draw(st.integers(1, 12))
    found = grouped(count, arrows, looks, limit)
    assert found.count <= limit
    assert set(found.of) == set(range(found.count))


def test_the_number_of_lines_is_bounded_too() -> None:
    arrows = {(a, b) for a in range(60) for b in range(60, 120)}
    assert len(arrows) > most_arrows(120)
    assert grouped(120, arrows, [0] * 120, 120).count < 120
