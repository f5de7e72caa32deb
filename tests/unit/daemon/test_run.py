"""Edits of DAGMan's own ad: one request at a time, the newest values next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.adapters.schedd_requests import EditOwnAd
from condor_pydagman.daemon.run import JobAd
from condor_pydagman.errors import PoolError

NO = PoolError("no answer", transient=True)


class Schedd:
    """Keeps what it is asked until the test has it answer."""

    def __init__(self) -> None:
        self.asked: list[EditOwnAd] = []
        self._thens: list[Callable[[Any], None]] = []

    def ask(self, request: Any, then: Callable[[Any], None]) -> None:
        self.asked.append(request)
        self._thens.append(then)

    def answer(self, result: PoolError | None = None) -> None:
        self._thens.pop(0)(result)


def bench() -> tuple[Schedd, JobAd, list[tuple[str, object]]]:
    schedd: Any = Schedd()
    return schedd, JobAd(schedd), []


def test_an_edit_is_sent_at_once() -> None:
    schedd, ad, heard = bench()
    ad.edit({"A": "1"}, lambda error: heard.append(("a", error)), durable=True)
    assert schedd.asked == [EditOwnAd({"A": "1"}, durable=True)]
    assert not heard
    schedd.answer()
    assert heard == [("a", None)]


def test_waiting_edits_are_merged_into_one_request() -> None:
    schedd, ad, heard = bench()
    ad.edit({"A": "1"}, lambda error: heard.append(("first", error)))
    ad.edit({"A": "2", "B": "2"}, lambda error: heard.append(("second", error)))
    ad.edit({"A": "3"}, lambda error: heard.append(("third", error)), durable=True)
    assert len(schedd.asked) == 1
    schedd.answer()
    assert schedd.asked[1:] == [EditOwnAd({"A": "3", "B": "2"}, durable=True)]
    assert heard == [("first", None)]
    schedd.answer()
    assert heard[1:] == [("second", None), ("third", None)]
    assert len(schedd.asked) == 2


def test_a_failed_edit_is_reported_to_its_callers() -> None:
    schedd, ad, heard = bench()
    ad.edit({"A": "1"}, lambda error: heard.append(("first", error)))
    ad.edit({"B": "1"}, lambda error: heard.append(("second", error)))
    schedd.answer(NO)
    assert heard == [("first", NO)]
    assert schedd.asked[1] == EditOwnAd({"B": "1"})
    schedd.answer()
    assert heard[1] == ("second", None)


def test_a_callback_may_edit_again() -> None:
    schedd, ad, _ = bench()
    ad.edit({"A": "1"}, lambda _: ad.edit({"A": "2"}, lambda _: None))
    schedd.answer()
    assert schedd.asked[1] == EditOwnAd({"A": "2"})
