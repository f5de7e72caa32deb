"""How long a host that fails is left alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.placement.rules.turn_rules import (
    FUTURE_S,
    Rest,
    forgotten_after_s,
    newest,
    next_rest,
    read_rest_name,
    rest_name,
)

HOST, NOW, FIRST, LONGEST = "0123456789abcdef01234567", 1e9, 10.0, 600.0
whole = st.integers(0, 10**11).map(float)


def test_each_failure_doubles_the_rest() -> None:
    now, last, lengths = NOW, None, []
    for _ in range(8):
        last = next_rest(HOST, last, now, FIRST, LONGEST)
        lengths.append(last.until - now)
        now = last.until
    assert lengths == [10, 20, 40, 80, 160, 320, 600, 600]


def test_a_failure_of_an_attempt_from_before_the_rest_does_not_lengthen_it() -> None:
    last = next_rest(HOST, None, NOW, FIRST, LONGEST)
    again = next_rest(HOST, last, NOW + 1, FIRST, LONGEST)
    assert (again.failures, again.until) == (1, last.until)


def test_what_the_server_asks_for_counts_up_to_the_longest() -> None:
    assert next_rest(HOST, None, NOW, FIRST, LONGEST, 50).until == NOW + 50
    assert next_rest(HOST, None, NOW, FIRST, LONGEST, 1e9).until == NOW + LONGEST
    assert next_rest(HOST, None, NOW, FIRST, LONGEST, -5).until == NOW + FIRST


def test_the_newest_word_counts() -> None:
    failed, works = Rest(HOST, 3, NOW - 2, NOW + 9), Rest(HOST, 0, NOW - 1, 0)
    assert newest([failed, works], NOW, LONGEST) is None
    assert newest([failed, works._replace(since=NOW - 3)], NOW, LONGEST) == failed
    assert newest([works, failed._replace(since=NOW - 1)], NOW, LONGEST) is None, "success wins"


def test_the_future_does_not_count_for_long() -> None:
    said = Rest(HOST, 1, NOW + FUTURE_S, NOW + FUTURE_S)
    assert newest([said], NOW, LONGEST) is not None
    assert newest([said._replace(since=NOW + FUTURE_S + 1)], NOW, LONGEST) is None
    assert newest([said], NOW + LONGEST + forgotten_after_s(LONGEST) + 99, LONGEST) is None


@given(st.integers(0, 999), whole, whole)
def test_nobody_can_say_a_rest_for_ever(failures: int, since: float, until: float) -> None:
    found = newest([Rest(HOST, failures, since, until)], NOW, LONGEST)
    if found is not None:
        assert found.since <= NOW
        assert since <= NOW + FUTURE_S
        assert found.until <= NOW + LONGEST
        assert NOW - max(found.since, found.until) <= forgotten_after_s(LONGEST)


@given(st.integers(0, 999), whole, whole)
def test_a_name_tells_all(failures: int, since: float, until: float) -> None:
    rest = Rest(HOST, failures, since, until)
    assert read_rest_name(rest_name(rest)) == rest


@given(st.text())
def test_other_names_are_none(name: str) -> None:
    assert read_rest_name("rest." + name) is None or name[0] in "0123456789abcdef"
