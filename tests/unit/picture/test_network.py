"""Networks: merging, layers, knots."""

from __future__ import annotations

from array import array

from condor_pydagman.picture.network import Network, knots, layers
from tests.unit.picture import dag_of


def network(count: int, *arrows: tuple[int, int]) -> Network:
    ordered = sorted(arrows)
    return Network(count, array("i", (a for a, _ in ordered)), array("i", (b for _, b in ordered)))


def test_a_dag_is_taken_over_with_its_junctions() -> None:
    net = Network.of_dag(dag_of("abcd", [([0, 1], [2, 3])]))
    assert net.count == 5
    assert (list(net.children(0)), list(net.children(4))) == ([4], [2, 3])
    assert (list(net.parents(4)), list(net.parents(3))) == ([0, 1], [4])


def test_merging_leaves_out_arrows_within_groups() -> None:
    merged = network(4, (0, 1), (0, 2), (1, 3), (2, 3)).merged([0, 1, 1, 1], 2)
    assert (list(merged.tails), list(merged.heads)) == ([0], [1])


def test_layers_are_longest_ways() -> None:
    layer, is_cyclic = layers(network(4, (0, 1), (1, 2), (0, 2), (2, 3)))
    assert (list(layer), is_cyclic) == ([0, 1, 2, 3], False)


def test_every_item_of_a_cycle_gets_a_layer() -> None:
    layer, is_cyclic = layers(network(5, (0, 1), (1, 2), (2, 1), (2, 3), (4, 4)))
    assert is_cyclic
    assert layer[1] < layer[2] < layer[3]


def test_knots_are_cycles_only() -> None:
    arrows = ((0, 1), (1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 4), (6, 6), (7, 0))
    knot = list(knots(network(8, *arrows)))
    assert knot[1] == knot[2] != 0
    assert knot[4] == knot[5] != 0
    assert knot[6]
    assert len({knot[1], knot[4], knot[6]}) == 3
    assert [knot[0], knot[3], knot[7]] == [0, 0, 0]


def test_a_long_ring_and_a_long_chain_need_no_recursion() -> None:
    length = 20_000
    ring = network(length, *((n, (n + 1) % length) for n in range(length)))
    assert set(knots(ring)) == {1}
    assert layers(ring)[1]
