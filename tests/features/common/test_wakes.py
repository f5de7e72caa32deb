"""DAGMans of an access point wake each other."""

from __future__ import annotations

import select
from collections.abc import Iterator

import pytest

from condor_pydagman.features.common.adapters.wakes import Line, Waker

LINE = Line("test")


@pytest.fixture
def waker() -> Iterator[Waker]:
    found = Waker(LINE)
    yield found
    found.close()


def test_who_is_woken_knows_once(waker: Waker) -> None:
    with select.epoll() as epoll:
        waker.begin(epoll)
        assert not epoll.poll(0)
        LINE.wake([waker.address, waker.address, "ffffffffffffffff"])
        assert epoll.poll(0)
        assert waker.was_woken()
        assert not waker.was_woken()
        waker.end(epoll)
        waker.end(epoll)


def test_other_lines_are_others(waker: Waker) -> None:
    Line("other").wake([waker.address])
    assert not waker.was_woken()
    assert not Line("other").is_heard(waker.address)


def test_to_ask_who_is_there_wakes_nobody(waker: Waker) -> None:
    assert LINE.is_heard(waker.address)
    assert not waker.was_woken()
    with select.epoll() as epoll:
        waker.begin(epoll)
        waker.end(epoll)
    assert not LINE.is_heard(waker.address)


@pytest.mark.parametrize("address", ["", "\0\0", "x" * 999, "\ud800", "ä/../é"])
def test_addresses_that_anybody_may_have_written(address: str) -> None:
    LINE.wake([address])
    assert not LINE.is_heard(address)


def test_who_has_been_told_too_often_is_there_still(waker: Waker) -> None:
    LINE.wake([waker.address] * 5000)
    assert LINE.is_heard(waker.address)
    assert waker.was_woken()
