"""Who may start: limits, order, and that nobody is held up or forgotten."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement.rules.services import Service
from condor_pydagman.placement.rules.turn_rules import (
    LONG_WAIT_S,
    Ticket,
    as_others_see_it,
    may_start,
    places_of,
    read_ticket_name,
    same_before,
    should_yield,
    ticket_name,
    verdict,
)

NOW = 1e9
HEX = "0123456789abcdef"


def ticket(number: int, running: bool = False, **more: object) -> Ticket:
    values: dict[str, object] = {"priority": 0, "size": None, "since": NOW, "total": 2, **more}
    return Ticket(running, number=f"{number:016x}", **values)  # type: ignore[arg-type]


places = st.lists(
    st.tuples(st.sampled_from(["ha", "hb", "p_http"]), st.integers(0, 3)), max_size=4
).map(tuple)
tickets = st.lists(
    st.builds(
        Ticket,
        st.booleans(),
        st.integers(-5, 5),
        st.none() | st.integers(0, 10**14),
        st.integers(int(NOW - 2000) * 1000, int(NOW) * 1000).map(lambda ms: ms / 1000),
        st.text(HEX, min_size=16, max_size=16),
        st.integers(0, 5),
        places,
    ),
    max_size=12,
    unique_by=lambda one: one.number,
)


@given(tickets)
def test_a_name_tells_the_whole_ticket(all_of_them: list[Ticket]) -> None:
    for one in all_of_them:
        assert read_ticket_name(ticket_name(one)) == one
        assert len(ticket_name(one)) < 256


@given(st.text() | st.from_regex(r"turn\.[wr][ -~]{0,80}"))
def test_any_other_name_is_none(name: str) -> None:
    found = read_ticket_name(name)
    assert found is None or len(found.places) <= 4


@given(st.integers(1_500_000_000_000, 2_500_000_000_000))
def test_a_name_is_that_of_the_ticket_read_from_it(ms: int) -> None:
    """Otherwise the ticket of one that lives would not be found, and count as dead."""
    name = f"turn.r.0.-.{ms}.{7:016x}.3.ha-1"
    one = read_ticket_name(name)
    assert one is not None
    assert ticket_name(one) == name


@given(st.floats(1e9, 2e9), st.floats(-1e-3, 1e-3))
def test_of_two_that_came_at_once_one_may_start(since: float, apart: float) -> None:
    two = [as_others_see_it(ticket(n, since=since + n * apart, total=1)) for n in (0, 1)]
    seen = [read_ticket_name(ticket_name(one)) for one in two]
    assert seen == two
    assert sum(verdict(one, two, since + 1).free for one in two) == 1


@given(tickets)
def test_what_starts_keeps_its_own_limits(all_of_them: list[Ticket]) -> None:
    running = [one for one in all_of_them if one.running]
    for one in may_start(all_of_them, NOW):
        running.append(one)
        assert not one.total or len(running) <= one.total
        for place, limit in one.needs():
            there = [r for r in running if place in dict(r.needs())]
            used = sum(name == place for r in there for name, _ in r.needs())
            assert not limit or used <= limit or there == [one]


@given(tickets)
def test_each_decides_alone_as_all_would_together(all_of_them: list[Ticket]) -> None:
    """The verdicts of the single workers are those of one that knew all."""
    together = {one.number for one in may_start(all_of_them, NOW)}
    alone = {
        one.number for one in all_of_them if not one.running and verdict(one, all_of_them, NOW).free
    }
    assert alone == together


@given(tickets)
def test_something_starts_if_nothing_runs(all_of_them: list[Ticket]) -> None:
    waiting = [one._replace(running=False) for one in all_of_them]
    assert bool(may_start(waiting, NOW)) == bool(waiting)


def test_priority_then_size_then_first_come() -> None:
    last, first = ticket(1, priority=-1, size=1), ticket(2, priority=1)
    small, large = ticket(3, size=5), ticket(4, size=50)
    unknown, earlier = ticket(5, since=NOW - 1), ticket(6, since=NOW - 2)
    everyone = [last, unknown, large, small, first, earlier]
    found = may_start([one._replace(total=0) for one in everyone], NOW)
    wanted = [first, small, large, earlier, unknown, last]
    assert [one.number for one in found] == [one.number for one in wanted]


def test_who_has_waited_long_goes_first() -> None:
    old = ticket(1, priority=-9, since=NOW - LONG_WAIT_S, total=1)
    assert may_start([ticket(2, priority=9, total=1), old], NOW) == [old]


def test_one_blocked_by_its_host_does_not_hold_up_others() -> None:
    busy = ticket(1, running=True, places=(("ha", 1),))
    blocked = ticket(2, priority=9, places=(("ha", 1),))
    free = ticket(3, places=(("hb", 1),))
    assert may_start([busy, blocked, free], NOW) == [free]
    found = verdict(blocked, [busy, blocked, free], NOW)
    assert (found.full, found.holders) == ("ha", (busy.number,))


def test_a_host_that_rests_has_no_room_and_then_for_one() -> None:
    two = [ticket(n, places=(("ha", 0),)) for n in (1, 2)]
    assert may_start(two, NOW, {"ha": NOW + 1}) == []
    assert may_start(two, NOW, {"ha": NOW}) == two[:1]
    first = two[0]._replace(running=True, since=NOW)
    assert may_start([first, two[1]], NOW, {"ha": NOW}) == []


def test_one_that_began_before_its_host_failed_does_not_keep_others_from_trying() -> None:
    """It may go on for hours."""
    old = ticket(1, running=True, since=NOW - 3, total=0, places=(("ha", 0),))
    new = ticket(2, total=0, places=(("ha", 0),))
    assert may_start([old, new], NOW, {"ha": NOW - 2}) == [new]
    assert may_start([old, new], NOW, {"ha": NOW + 1}) == []
    limited = new._replace(places=(("ha", 1),))
    assert may_start([old, limited], NOW, {"ha": NOW - 2}) == [], "the usual limit holds"


def test_one_that_never_starts_keeps_no_place() -> None:
    stopped, next_one = ticket(1, priority=9, total=1), ticket(2, total=1)
    assert not verdict(next_one, [stopped, next_one], NOW).free
    assert verdict(next_one, [stopped, next_one], NOW, passed={stopped.number}).free


def test_both_ends_at_one_host_count_twice_but_can_start() -> None:
    twice = ticket(1, places=(("ha", 1), ("ha", 1)))
    assert may_start([twice], NOW) == [twice]
    assert may_start([ticket(2, running=True, places=(("ha", 1),)), twice], NOW) == []


def test_one_that_goes_on_yields_to_whom_it_keeps_waiting() -> None:
    mine = ticket(1, running=True, total=1, priority=1)
    assert should_yield(mine, [mine, ticket(2, total=1, priority=1)], NOW)
    assert not should_yield(mine, [mine, ticket(2, total=1, priority=0)], NOW)
    assert should_yield(mine, [mine, ticket(2, total=1, priority=0, since=0.0)], NOW)
    assert not should_yield(mine, [mine, ticket(2, total=2)], NOW), "it may start anyway"


def test_the_nearest_of_the_same_limits() -> None:
    line = [ticket(n, since=NOW - 9 + n) for n in (1, 2, 3)]
    other = ticket(4, since=NOW - 20, places=(("ha", 1),))
    assert same_before(line[2], [*line, other], NOW) == [line[1], line[0]]


def test_limits_by_name() -> None:
    settings = Settings(max_per_host=7, max_per_protocol=8, limits=(("A.org", 2), ("http", 3)))
    services = [(Service("http", "a.org"), "00"), (Service("s3", "b.org"), "11")]
    assert places_of(services, settings) == (
        ("h00", 2),
        ("h11", 7),
        ("p_http", 3),
        ("p_s3", 8),
    )
