"""What a DAGMan that sleeps does without being woken."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from condor_pydagman.daemon import waiting
from condor_pydagman.daemon.waiting import Expected, Waiting, go_on_waiting, read_waiting
from condor_pydagman.timers import AD_RENEW_ASLEEP_S, AD_RENEW_SPREAD_S, AD_RETRY_S
from condor_pydagman.vocabulary import MEMORY, WAITING, WORDS
from tests.descriptors import descriptors

NOW = 1000.0
EXPECTED = Expected(7, ["mine", []], [[8, 0]], [0, 0, 0, 0, 100, False, 5.0])
SLEEP = Waiting(["look", 60], 9, float("inf"), NOW, 5000.0, 1800.0, EXPECTED, 0.1)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[Waiting]:
    """How DAGMan goes on waiting; the time stands still."""
    found: list[Waiting] = []
    monkeypatch.setattr(Waiting, "execute", lambda self: found.append(self))
    monkeypatch.setattr(waiting.time, "monotonic", lambda: NOW)
    return found


def answer(
    monkeypatch: pytest.MonkeyPatch, text: bytes | None, looks: list[bool] | None = None
) -> None:
    def ask(expected: Expected, *, looks: bool) -> bytes:
        assert expected == EXPECTED
        asked.append(looks)
        if text is None:
            raise BlockingIOError  # no process can be made
        return text

    asked = [] if looks is None else looks
    monkeypatch.setattr(waiting, "_ask", ask)


def test_the_date_is_renewed(executed: list[Waiting], monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []
    answer(monkeypatch, b"=", looks)
    go_on_waiting(SLEEP)
    (again,) = executed
    assert looks == [False]
    assert 0 <= again.renew_at - NOW - AD_RENEW_ASLEEP_S <= AD_RENEW_SPREAD_S
    assert again == SLEEP._replace(renew_at=again.renew_at)


def test_it_looks_for_its_jobs(executed: list[Waiting], monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bool] = []
    answer(monkeypatch, b"=", looks)
    go_on_waiting(SLEEP._replace(look_at=NOW))
    assert looks == [True]
    assert executed[0].look_at == NOW + SLEEP.look_every_s


def test_a_schedd_that_does_not_answer_is_asked_later(
    executed: list[Waiting], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, b"")
    go_on_waiting(SLEEP._replace(look_at=NOW))
    later = NOW + AD_RETRY_S
    assert executed == [SLEEP._replace(renew_at=later, look_at=later)]


@pytest.mark.parametrize(
    ("until", "text", "reason"),
    [(NOW, b"=", "deadline"), (NOW + 1, b"/", "queue"), (NOW + 1, None, "no renewal")],
)
def test_it_wakes(
    executed: list[Waiting],
    monkeypatch: pytest.MonkeyPatch,
    until: float,
    text: bytes | None,
    reason: str,
) -> None:
    answer(monkeypatch, text)
    assert go_on_waiting(SLEEP._replace(until=until)) == reason
    assert executed == []


@pytest.mark.parametrize(
    ("process", "limit_s", "text"),
    [
        (lambda writer, *_: os.write(writer, b"="), 60, b"="),
        (lambda *_: None, 60, b""),
        (lambda *_: time.sleep(3600), 0.1, b""),
    ],
)
def test_who_asks_may_die_or_hang(
    monkeypatch: pytest.MonkeyPatch, process: Any, limit_s: float, text: bytes
) -> None:
    def answers(*given: Any) -> None:
        try:
            process(*given)
        finally:
            os._exit(0)

    monkeypatch.setattr(waiting, "_answer", answers)
    monkeypatch.setattr(waiting, "RENEWAL_TIMEOUT_S", limit_s)
    assert waiting._ask(EXPECTED, looks=False) == text


def test_what_it_waits_for_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, bytes] = {}

    def execute(program: str, command: list[str], environment: dict[str, str]) -> None:
        assert program == waiting.WAITER
        assert command == ["dagman", "-f"]
        assert environment[MEMORY] == "9"
        told["words"] = os.pread(int(environment[WORDS]), 9999, 0)
        told["own"] = os.pread(int(environment[WAITING]), 9999, 0)
        raise OSError

    monkeypatch.setattr(os, "execve", execute)
    monkeypatch.setattr(waiting.sys, "argv", ["dagman", "-f"])
    before = descriptors()
    with pytest.raises(OSError):
        SLEEP.execute()
    assert not descriptors() - before
    words = [b"until", b"1000.0", b"look", b"60", b"exec", b"dagman", b""]
    assert told["words"].split(b"\0") == words
    again = read_waiting(str(waiting.kept_open(told["own"])))
    assert again is not None
    assert again == SLEEP._replace(cpu_s=again.cpu_s)
    monkeypatch.setattr(waiting.condor_pydagman, "__version__", "0.0")
    assert read_waiting(str(waiting.kept_open(told["own"]))) is None


@pytest.mark.parametrize("fd", ["", "x", "99999"])
def test_what_is_not_there_is_not_read(fd: str) -> None:
    assert read_waiting(fd) is None
