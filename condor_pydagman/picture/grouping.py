"""Folding a network until it is small enough: which items end up in one box.

The rungs of a ladder are tried from the finest to the coarsest; the last one always fits.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from condor_pydagman.picture.network import Network

HUBS, LOOKS, SORTS, KINDS, RANGES = range(1, 6)

ARROWS_PER_BOX = 3  # more lines can't be told apart
_LARGE_NETWORK = 200_000  # items from which on rounds of refinement are few, for they cost seconds
_BOXES_PER_HUB = 4  # at most one in so many boxes stands alone for its many arrows
_MIN_HUB_ARROWS = 3  # for each item


@dataclass
class Grouping:
    """Which group each item is in."""

    of: array[int]  # by item; groups are numbered in the order of their first items
    count: int  # how many groups
    # for a group that is a chain the groups of `inner` it runs through, in order
    chains: dict[int, list[int]] = field(default_factory=dict)
    # as `of`, before chains were folded; empty if none were
    inner: array[int] = field(default_factory=lambda: array("i"))
    # which step of the ladder: 0 nothing is grouped, up to HUBS and LOOKS only what looks alike is,
    # SORTS if names don't matter, KINDS if all of a layer is, then RANGES
    rung: int = 0


@dataclass(frozen=True)
class Traits:
    """What is alike among items, by item: the finer and the coarser view."""

    looks: Sequence[int]  # number of kind, pattern of the name, failure, innermost open splice
    sorts: Sequence[int]  # number of kind, submit file, innermost open splice
    kinds: Sequence[int]  # number of the kind


def fits(network: Network, limit: int) -> bool:
    """Whether a network can be drawn with at most `limit` boxes and not too many lines."""
    return network.count <= limit and len(network.heads) <= most_arrows(limit)


def most_arrows(limit: int) -> int:
    """How many lines a picture with at most `limit` boxes may have."""
    return ARROWS_PER_BOX * limit + 20


def group_items(network: Network, layer: Sequence[int], traits: Traits, limit: int) -> Grouping:
    """Groups of items, few enough for `limit` boxes; each item by itself if that fits."""
    if fits(network, limit):
        return Grouping(array("i", range(network.count)), network.count)
    hubs = _hubs(network, traits.looks, limit // _BOXES_PER_HUB)
    views = {HUBS: traits.looks, LOOKS: traits.looks, SORTS: traits.sorts, KINDS: traits.kinds}
    for rung, view in views.items():
        alone = hubs if rung == HUBS else {}
        of, count = _numbered(
            (place, look, alone.get(item, -1)) if alone else (place, look)
            for item, (place, look) in enumerate(zip(layer, view))
        )
        merged = network.merged(of, count)
        if fits(merged, limit):
            return _refined(network, Grouping(of, count, rung=rung), limit)
        chained = _with_chains(of, merged, rung)
        if merged.count < network.count and chained.count < limit // 8:
            break  # layers in a row are no chain of nodes: it would hide all there is to see
        if fits(network.merged(chained.of, chained.count), limit):
            return chained
    return _by_ranges(layer, limit)


def _hubs(network: Network, looks: Sequence[int], room: int) -> dict[int, int]:
    """Items with many arrows, which each get a box of their own: all of a look, or none of it."""
    parents, children = network.degrees()
    sizes: Counter[int] = Counter(looks)
    arrows: Counter[int] = Counter()
    for look, up, down in zip(looks, parents, children):
        arrows[look] += up + down
    chosen: set[int] = set()
    for look, size in sorted(sizes.items(), key=lambda entry: (entry[1], entry[0])):
        if size > room:
            break
        if arrows[look] >= _MIN_HUB_ARROWS * size:
            room -= size
            chosen.add(look)
    return {item: item for item, look in enumerate(looks) if look in chosen}


def _refined(network: Network, grouping: Grouping, limit: int) -> Grouping:
    """Split groups whose items have other groups as parents or children, while it fits."""
    first, tails = network.backwards()
    for _ in range(3 if network.count > _LARGE_NETWORK else 12):
        of = grouping.of
        of_heads = array("i", map(of.__getitem__, network.heads))
        of_tails = array("i", map(of.__getitem__, tails))
        keys = (
            (
                group,
                _few(of_heads[network.first[item] : network.first[item + 1]]),
                _few(of_tails[first[item] : first[item + 1]]),
            )
            for item, group in enumerate(of)
        )
        finer, count = _numbered(keys)
        if count == grouping.count or not fits(network.merged(finer, count), limit):
            break
        grouping = Grouping(finer, count, rung=grouping.rung)
    return grouping


def _few(groups: array[int]) -> Hashable:
    """A set of groups as a key; most sets have one member, so that is quick."""
    return groups[0] if len(groups) == 1 else frozenset(groups) if groups else None


def _numbered(keys: Iterable[Hashable]) -> tuple[array[int], int]:
    """A number for each key, the same for the same key, in the order of their first use."""
    numbers: dict[Hashable, int] = {}
    of = array("i", (numbers.setdefault(key, len(numbers)) for key in keys))
    return of, len(numbers)


def _with_chains(of: array[int], merged: Network, rung: int) -> Grouping:
    """Fold groups of which each is the only child of the one before, and that its only parent."""
    parents, children = merged.degrees()

    def follows(group: int) -> int:
        if children[group] != 1:
            return -1
        child = merged.heads[merged.first[group]]
        return child if parents[child] == 1 else -1

    next_one = array("i", map(follows, range(merged.count)))
    is_next = bytearray(merged.count)
    for group in next_one:
        if group >= 0:
            is_next[group] = 1
    owner = array("i", range(merged.count))
    runs: dict[int, list[int]] = {}
    for group in range(merged.count):
        if is_next[group] or next_one[group] < 0:
            continue
        run = [group]
        while next_one[run[-1]] >= 0:
            run.append(next_one[run[-1]])
            owner[run[-1]] = group
        runs[group] = run
    chained, count = _numbered(owner[group] for group in of)
    chains: dict[int, list[int]] = {}
    for number, group in zip(chained, of):
        if number not in chains and owner[group] in runs:
            chains[number] = runs[owner[group]]
    return Grouping(chained, count, chains, of, rung)


def _by_ranges(layer: Sequence[int], limit: int) -> Grouping:
    """Ranges of layers, so few that even lines from each to each fit."""
    room = max(1, min(limit, int(most_arrows(limit) ** 0.5)))
    deepest = max(layer) + 1
    of, count = _numbered(place * min(room, deepest) // deepest for place in layer)
    return Grouping(of, count, rung=RANGES)
