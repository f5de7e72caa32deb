"""Which site a group gets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.sites.choice import Offer, Room, Wanted, choose

A, B, C = Offer("a"), Offer("b"), Offer("c", 1.0)
ROOM = {"a": Room(2), "b": Room(2), "c": Room(1)}


def test_the_greatest_rank_then_the_least_loaded_then_by_name() -> None:
    wanted = [Wanted(n, 0) for n in range(7)]
    found = choose(wanted, {0: [B, A, C]}, ROOM)
    assert found == [(0, "c"), (1, "a"), (2, "b"), (3, "a"), (4, "b")]


def test_what_others_have_taken_counts() -> None:
    rooms = {"a": Room(4, 3), "b": Room(2, 1), "c": Room(3, 3)}
    found = choose([Wanted(n, 0) for n in range(9)], {0: [A, B, C]}, rooms)
    assert found == [(0, "b"), (1, "a")]


def test_a_site_over_its_limit_or_without_any_gets_nothing() -> None:
    rooms = {"a": Room(1, 5), "b": Room(0), "c": Room(0, 1)}
    assert choose([Wanted(0, 0)], {0: [A, B, C]}, rooms) == []


def test_sites_that_come_last_or_not_at_all() -> None:
    offers = {0: [A, B, C]}
    assert choose([Wanted(0, 0, last=("c",))], offers, ROOM) == [(0, "a")]
    assert choose([Wanted(0, 0, last=("c", "a", "b"))], offers, ROOM) == [(0, "c")]
    assert choose([Wanted(0, 0, never=("c", "a"))], offers, ROOM) == [(0, "b")]
    assert choose([Wanted(0, 0, never=("c", "a", "b"))], offers, ROOM) == []
    assert choose([Wanted(0, 0, only="b")], offers, ROOM) == [(0, "b")]
    assert choose([Wanted(0, 0, only="d")], offers, ROOM) == []


def test_a_site_that_comes_last_waits_for_those_that_are_only_full() -> None:
    rooms = {"a": Room(2), "b": Room(1, 1), "c": Room(0)}
    last = Wanted(0, 0, last=("a",))
    assert choose([last], {0: [A, B]}, rooms) == []
    assert choose([last], {0: [A, B]}, {**rooms, "b": Room(1)}) == [(0, "b")]
    assert choose([last], {0: [A]}, rooms) == [(0, "a")], "the other one does not fit"
    assert choose([last], {0: [A, C]}, rooms) == [(0, "a")], "that one takes nobody"
    assert choose([Wanted(0, 0, last=("a", "b"))], {0: [A, B]}, rooms) == [(0, "a")]
    assert choose([last], {0: [A, B]}, {**rooms, "b": Room(1)}, {"b": 0}) == []
    assert choose([Wanted(0, 0, only="a", last=("a",))], {0: [A, B]}, rooms) == [(0, "a")]


def test_sites_that_rest_get_few_groups() -> None:
    wanted = [Wanted(0, 0), Wanted(1, 0), Wanted(2, 0, only="c"), Wanted(3, 0), Wanted(4, 0)]
    rooms = {"a": Room(1), "b": Room(9), "c": Room(9)}
    found = choose(wanted, {0: [A, B, C]}, rooms, {"b": 1, "c": 0})
    assert found == [(0, "a"), (1, "b"), (2, "c")]


def test_offers_are_made_to_groups_of_a_kind() -> None:
    offers = {0: [A], 1: [B, C]}
    found = choose([Wanted(0, 1), Wanted(1, 0), Wanted(2, 2)], offers, ROOM)
    assert found == [(0, "c"), (1, "a")]


def test_a_site_whose_ad_is_gone_is_not_chosen() -> None:
    assert choose([Wanted(0, 0)], {0: [Offer("x", 9.0), A]}, ROOM) == [(0, "a")]


SITES = "abcdef"
WANTED = st.builds(
    Wanted,
    st.integers(0, 99),
    st.integers(0, 2),
    st.sampled_from(["", "", "", "a"]),
    st.sampled_from([(), (), ("a",), ("b", "c")]),
    st.sampled_from([(), (), ("d",)]),
)
OFFERS = st.dictionaries(
    st.integers(0, 2),
    st.lists(
        st.builds(Offer, st.sampled_from(SITES), st.sampled_from([0.0, 1.0, -2.5])),
        unique_by=lambda one: one.site,
    ),
)
ROOMS = st.dictionaries(
    st.sampled_from(SITES),
    st.builds(Room, st.integers(0, 4), st.integers(0, 5), st.integers(0, 2)),
)


@given(st.lists(WANTED, max_size=30, unique_by=lambda one: one.group), OFFERS, ROOMS)
def test_no_site_is_over_its_limit_and_none_is_left_idle(
    wanted: list[Wanted], offers: dict[int, list[Offer]], rooms: dict[str, Room]
) -> None:
    found = dict(choose(wanted, offers, rooms))
    taken = {site: room.taken for site, room in rooms.items()}
    for one in wanted:
        fitting = [
            offer
            for offer in offers.get(one.kind, ())
            if offer.site in rooms
            and offer.site not in one.never
            and one.only in ("", offer.site)
            and taken[offer.site] + rooms[offer.site].reserved < rooms[offer.site].most
        ]
        if not fitting:
            assert one.group not in found
            continue
        best = min(
            fitting,
            key=lambda offer: (
                one.last.index(offer.site) + 1 if offer.site in one.last else 0,
                -offer.rank,
                taken[offer.site] / rooms[offer.site].most,
                offer.site,
            ),
        )
        if best.site in one.last and _others_will_have_room(one, offers[one.kind], rooms):
            assert one.group not in found
            continue
        assert found[one.group] == best.site
        taken[best.site] += 1


def _others_will_have_room(one: Wanted, offers: list[Offer], rooms: dict[str, Room]) -> bool:
    if one.only:
        return False
    others = {offer.site for offer in offers} & rooms.keys() - {*one.never, *one.last}
    return any(rooms[site].most for site in others)
