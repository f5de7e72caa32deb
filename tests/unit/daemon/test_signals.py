"""Signals become inputs, in order, and none is lost."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest

from condor_pydagman.daemon.loop import Loop
from condor_pydagman.daemon.signals import Signals
from condor_pydagman.engine.inputs import Leave, Stop, Wake

ALL = (
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGQUIT, signal.SIGINT),
    *(signal.SIGCHLD, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ),
)


@pytest.fixture
def signals() -> Iterator[Signals]:
    before = {number: signal.getsignal(number) for number in ALL}
    wakeup = signal.set_wakeup_fd(-1)
    yield Signals()
    signal.set_wakeup_fd(wakeup)
    for number, handler in before.items():
        signal.signal(number, handler)


def send(*numbers: int) -> None:
    for number in numbers:
        os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "meaning"),
    [
        (signal.SIGUSR1, Stop()),
        (signal.SIGTERM, Leave("Received SIGTERM")),
        (signal.SIGQUIT, Leave("Received SIGQUIT")),
        (signal.SIGINT, Leave("Received SIGINT")),
    ],
)
def test_what_they_mean(signals: Signals, number: int, meaning: object) -> None:
    send(number)
    assert select.select([signals], [], [], 5)[0]
    assert signals.take() == [meaning]
    assert not select.select([signals], [], [], 0)[0]
    assert signals.take() == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR2, signal.SIGPIPE, signal.SIGCHLD])
def test_what_means_nothing_and_does_no_harm(signals: Signals, number: int) -> None:
    send(number)
    assert signals.take() == []


@pytest.mark.usefixtures("signals")
def test_what_scripts_are_to_inherit() -> None:
    """As those of HTCondor's daemons; SIGHUP is theirs alone to hear."""
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN


def test_several_at_once_in_order(signals: Signals) -> None:
    send(signal.SIGUSR1)
    send(signal.SIGHUP, signal.SIGTERM)
    send(signal.SIGUSR1)
    assert signals.take() == [Stop(), Leave("Received SIGTERM"), Stop()]


@pytest.mark.parametrize("queued", [True, False])
def test_the_loop_waits_for_them(signals: Signals, queued: bool) -> None:
    """Those that came with the end are not forgotten; others wake it."""
    loop = Loop.__new__(Loop)
    loop._signals = signals
    loop._inputs = cast(Any, [Wake(), Leave("came before")] if queued else [Wake()])
    if not queued:
        assert loop._wait_for_leave(0.01) is None
        send(signal.SIGCHLD, signal.SIGTERM)
    begun = time.monotonic()
    wanted = Leave("came before" if queued else "Received SIGTERM")
    assert loop._wait_for_leave(30.0) == wanted
    assert time.monotonic() - begun < 10


def test_a_signal_does_not_interrupt_what_the_bindings_read(signals: Signals) -> None:
    """They would take the end of some child for the answer of another."""
    library = ctypes.CDLL(None)
    reader, writer = os.pipe()
    threading.Timer(0.05, send, [signal.SIGCHLD]).start()
    threading.Timer(0.15, os.write, [writer, b"x"]).start()
    assert library.read(reader, ctypes.create_string_buffer(1), 1) == 1
    os.close(reader)
    os.close(writer)
