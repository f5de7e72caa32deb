"""Signals become inputs, in order, and none is lost."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import threading
from collections.abc import Iterator

import pytest

from condor_pydagman.daemon.sources import Poll, Signals
from condor_pydagman.engine.inputs import DagRemoved, Shutdown
from tests.waiting import LIMIT_S

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
        (signal.SIGUSR1, DagRemoved()),
        (signal.SIGTERM, Shutdown("Got SIGTERM. Performing graceful shutdown.")),
        (signal.SIGQUIT, Shutdown("Got SIGQUIT.  Performing fast shutdown.")),
        (signal.SIGINT, Shutdown("Got SIGINT.")),
    ],
)
def test_each_signal_gives_its_input(signals: Signals, number: int, meaning: object) -> None:
    send(number)
    assert select.select([signals], [], [], 5)[0]
    assert signals.read() == [meaning]
    assert not select.select([signals], [], [], 0)[0]
    assert signals.read() == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR2, signal.SIGPIPE, signal.SIGCHLD])
def test_other_signals_have_no_effect(signals: Signals, number: int) -> None:
    send(number)
    assert signals.read() == []


@pytest.mark.usefixtures("signals")
def test_sigpipe_and_sigxfsz_are_ignored_and_inherited() -> None:
    """As those of HTCondor's daemons; SIGHUP is not ignored, since scripts would inherit that."""
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGXFSZ) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN


def test_several_signals_keep_their_order(signals: Signals) -> None:
    send(signal.SIGUSR1)
    send(signal.SIGHUP, signal.SIGTERM)
    send(signal.SIGUSR1)
    assert signals.read() == [
        DagRemoved(),
        Shutdown("Got SIGTERM. Performing graceful shutdown."),
        DagRemoved(),
    ]


def test_whether_signals_have_come_is_known_before_they_are_read(signals: Signals) -> None:
    send(signal.SIGHUP, signal.SIGCHLD)
    assert not signals.have_come
    send(signal.SIGTERM)
    assert signals.have_come
    assert signals.read() == [Shutdown("Got SIGTERM. Performing graceful shutdown.")]
    assert not signals.have_come


def test_signals_wake_the_loop(signals: Signals) -> None:
    poll = Poll()
    poll.watch(signals)
    assert not poll.wait(0.01)
    threading.Timer(0.05, send, [signal.SIGTERM]).start()
    assert poll.wait(LIMIT_S) == {signals.fileno()}
    assert signals.read() == [Shutdown("Got SIGTERM. Performing graceful shutdown.")]


def test_a_signal_does_not_interrupt_what_the_bindings_read(signals: Signals) -> None:
    """They would take the end of some child for the answer of another."""
    library = ctypes.CDLL(None)
    reader, writer = os.pipe()
    threading.Timer(0.05, send, [signal.SIGCHLD]).start()
    threading.Timer(0.15, os.write, [writer, b"x"]).start()
    assert library.read(reader, ctypes.create_string_buffer(1), 1) == 1
    os.close(reader)
    os.close(writer)
