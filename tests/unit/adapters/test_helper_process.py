"""The process of a helper: one order after the other, what fails, and when there is no process."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from condor_pydagman.adapters.helper_process import Helper, HelperProcess
from condor_pydagman.adapters.processes import error_text
from condor_pydagman.errors import FileError
from tests.waiting import readable, until


class Doubling(Helper):
    """Doubles numbers; dies of 0 and 99, can't double 13, and for 50 takes half of its memory."""

    purpose = "double numbers"
    died = "dead after {seconds} s with {megabytes} MB"
    late = "late"
    timeout_s, stays_s, max_bytes = 5.0, 9.0, 1 << 30

    def orders(self, request: int) -> Sequence[int]:
        if request < 0:
            raise FileError("it is negative")
        return (request,) if request < 100 else (request % 100, request // 100)

    def reply(self, order: int, answer: int) -> tuple[int, int]:
        return order, answer

    def failed(self, order: int, reason: str) -> str:
        return f"{order}: {reason}"

    def instead(self, order: int, reason: str) -> Sequence[int]:
        return (7, 8) if order == 99 else ()

    def serve(self, order: int) -> int:
        if order == 13:
            raise ValueError("no {luck}")
        if order == 50:
            return len(bytearray(self.max_bytes // 2))
        return os._exit(1) if order in (0, 99) else 2 * order


class Side:
    """DAGMan's side of it; time stands still."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.now = 1000.0
        self.warned: list[str] = []
        self.replies: list[Any] = []
        self.process = HelperProcess(Doubling(), self.epoll, lambda: self.now, self.warned.append)

    def ask(self, *requests: int) -> None:
        for request in requests:
            self.process.ask(request, self.replies.append)

    def all(self) -> list[Any]:
        """All replies, when nothing is left to do."""
        until(self._is_done, "the replies", pause_s=0)
        found, self.replies = self.replies, []
        return found

    def _is_done(self) -> bool:
        for then, reply in self.process.results():
            then(reply)
        if self.process.busy and self.process.next_deadline() != self.now:
            readable(self.epoll, "an answer")
        return not self.process.busy


@pytest.fixture
def side() -> Iterator[Side]:
    made = Side()
    yield made
    made.process.end()


def test_one_after_the_other(side: Side) -> None:
    side.ask(1, 203, 4)
    assert side.process.busy
    assert side.process.next_deadline() == side.now + 5.0
    assert side.all() == [(1, 2), (3, 6), (2, 4), (4, 8)]
    assert side.process.next_deadline() is None


def test_an_order_whose_process_dies_fails_alone(side: Side) -> None:
    side.ask(1, 0, 2)
    assert side.all() == [(1, 2), "0: dead after 5 s with 1024 MB", (2, 4)]


def test_its_memory_comes_on_top_of_what_it_starts_with(side: Side) -> None:
    side.process.helper.max_bytes = 16 << 20
    side.ask(50)
    assert side.all() == [(50, 8 << 20)]


def test_an_order_that_raises_fails_alone(side: Side) -> None:
    side.ask(1, 13, 2)
    assert side.all() == [(1, 2), "13: no {luck}", (2, 4)]


def test_others_are_done_instead(side: Side) -> None:
    side.ask(99, 1)
    assert side.all() == [(7, 14), (8, 16), (1, 2)]


def test_what_can_not_be_ordered_is_told_at_once(side: Side) -> None:
    side.ask(-1)
    assert side.process.next_deadline() == side.now
    assert side.all() == ["-1: it is negative"]


def test_it_is_given_up(side: Side) -> None:
    side.ask(1, 2)
    side.process.end()
    assert not side.process.busy
    assert side.process.next_deadline() is None


def test_errors_in_words() -> None:
    assert error_text(FileError("a\nb")) == "a\nb"
    assert error_text(ValueError("a\n b")) == "a b"
    assert error_text(ValueError()) == "ValueError"
