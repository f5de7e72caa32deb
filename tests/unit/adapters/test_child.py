"""A child process that answers requests: what it has, when it ends, and that it never outlives."""

from __future__ import annotations

import errno
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import child as child_module
from condor_pydagman.adapters.child import Child
from tests.descriptors import descriptors
from tests.waiting import LIMIT_S, ending, is_gone, readable, until


@pytest.fixture
def fork() -> Iterator[Callable[..., Child]]:
    """Makes children, and ends them."""
    made: list[Child] = []

    def make(serve: Callable[[Any], Any], **how: float) -> Child:
        made.append(Child(serve, **how))
        return made[-1]

    yield make
    for child in made:
        child.kill()


def receive(child: Child) -> list[Any]:
    """The next answers; raises EOFError if the child has gone without one."""
    while True:
        readable(child, "an answer of the child, or its end")
        answers = child.receive()
        if answers:
            return answers


def ask(child: Child, request: Any) -> Any:
    child.send(request)
    (answer,) = receive(child)
    return answer


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("value", [None, True, 3, 1.5, "caf\u00e9 \udce9\n", [1, ["a"]], {"a": {}}])
def test_requests_and_answers_come_through(fork: Callable[..., Child], value: Any) -> None:
    child = fork(lambda request: [request, os.getpid()])
    assert ask(child, value) == [value, child.pid]
    assert ask(child, "again") == ["again", child.pid]


def test_requests_that_wait_are_answered_in_order(fork: Callable[..., Child]) -> None:
    child = fork(lambda request: request)
    for number in range(5):
        child.send(number, 0.2)
    answers: list[Any] = []
    with pytest.raises(EOFError):
        while True:
            answers += receive(child)
    assert answers == [0, 1, 2, 3, 4]
    assert child.idle


def test_long_requests_and_answers_come_through(fork: Callable[..., Child]) -> None:
    child = fork(lambda request: request + request)
    assert ask(child, "x" * 3_000_000) == "x" * 6_000_000


def test_it_has_no_descriptor_of_its_parent(fork: Callable[..., Child], tmp_path: Path) -> None:
    with open(tmp_path / "file", "w", encoding="ascii"):
        child = fork(lambda _: [os.readlink(f"/proc/self/fd/{n}") for n in range(3, 200)
                                if os.path.exists(f"/proc/self/fd/{n}")])  # fmt: skip
        opened = ask(child, "")
    assert str(tmp_path / "file") not in opened


def test_only_its_own_socket_stays_open(fork: Callable[..., Child]) -> None:
    child = fork(
        lambda _: [n for n in map(int, os.listdir("/proc/self/fd")) if n > 2 and _is_open(n)]
    )
    assert len(ask(child, "")) == 1


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
def test_a_signal_to_the_group_does_not_end_it(fork: Callable[..., Child], number: int) -> None:
    child = fork(lambda request: request)
    assert ask(child, 1) == 1
    os.kill(child.pid, number)
    assert ask(child, 2) == 2


def test_its_signals_are_not_told_to_the_parent(fork: Callable[..., Child]) -> None:
    reader, writer = os.pipe2(os.O_NONBLOCK)
    before = signal.set_wakeup_fd(writer)
    try:
        child = fork(lambda request: request)
        ask(child, 1)
        os.kill(child.pid, signal.SIGTERM)
        ask(child, 2)
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)


def test_a_child_that_dies_is_told_of(fork: Callable[..., Child]) -> None:
    child = fork(lambda _: os._exit(1))
    child.send("")
    with pytest.raises(EOFError):
        receive(child)
    assert not child.idle
    child.kill()
    assert gone(child.pid)
    assert child.fileno() == -1
    assert not child.overdue


def test_what_it_has_answered_before_it_died_is_received(fork: Callable[..., Child]) -> None:
    child = fork(lambda request: request if request else os._exit(1))
    child.send(1)
    readable(child, "the answer")
    os.kill(child.pid, signal.SIGKILL)
    child.send(2)
    assert receive(child) == [1]
    with pytest.raises(EOFError):
        receive(child)


def test_an_exception_ends_it_and_is_shown(
    fork: Callable[..., Child],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open(2, "w", buffering=1, closefd=False) as stderr:
        # Like the interpreter's; that of pytest writes to a descriptor which the child closes.
        monkeypatch.setattr(sys, "stderr", stderr)
        child = fork(lambda request: 1 // request)
        monkeypatch.undo()
    child.send(0)
    with pytest.raises(EOFError):
        receive(child)
    child.kill()
    shown = capfd.readouterr().err
    assert shown.startswith("Traceback")
    assert "ZeroDivisionError" in shown


def test_a_child_that_hangs_can_be_killed(fork: Callable[..., Child], tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def hang(_: Any) -> None:
        begun.touch()
        while True:
            time.sleep(600)

    child = fork(hang)
    child.send("")
    until(begun.exists, "a request that hangs")
    with ending("the kill"):
        child.kill()
    assert gone(child.pid)
    child.kill()  # once more does no harm


def test_it_leaves_when_it_is_idle(fork: Callable[..., Child]) -> None:
    child = fork(lambda request: request)
    child.send(1, idle_s=0.2)
    assert receive(child) == [1]
    with pytest.raises(EOFError):
        receive(child)
    assert child.idle


def test_it_can_stay_though_it_is_idle(fork: Callable[..., Child], tmp_path: Path) -> None:
    asked = tmp_path / "asked"

    def stays() -> bool:
        asked.touch()
        return True

    child = fork(lambda request: request, stays=stays)
    child.send(1, idle_s=0.05)
    assert receive(child) == [1]
    until(asked.exists, "the question whether it stays")
    child.send(2, idle_s=0.05)
    assert receive(child) == [2]


def test_a_request_that_comes_when_it_has_left_was_not_taken(
    fork: Callable[..., Child], tmp_path: Path
) -> None:
    child = fork(lambda request: request and (tmp_path / "taken").touch())
    child.send("", idle_s=0.05)
    assert receive(child) == [""]
    readable(child, "the end of the idle child")
    child.send("late")
    with pytest.raises(EOFError):
        receive(child)
    assert child.idle
    assert not (tmp_path / "taken").exists()


def test_the_kernel_kills_what_is_overdue(fork: Callable[..., Child]) -> None:
    child = fork(lambda _: time.sleep(600), alarm_s=0.2)
    child.send("")
    with pytest.raises(EOFError):
        receive(child)
    child.kill()
    assert child.overdue


def test_one_that_does_not_read_is_ended(
    fork: Callable[..., Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_module, "_SEND_TIMEOUT", struct.pack("@ll", 0, 100_000))
    child = fork(lambda request: request)
    os.kill(child.pid, signal.SIGSTOP)
    child.send("x" * 3_000_000)
    with pytest.raises(EOFError):
        receive(child)


PARENT = """
import os, sys, time
from condor_pydagman.adapters.child import Child
child = Child(lambda request: time.sleep(600))
child.send("")
print(child.pid, flush=True)
if sys.argv[1] == "exit":
    os._exit(0)
time.sleep(600)
"""


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_it_dies_with_its_parent_whatever_it_does(end: str) -> None:
    """Nothing may be submitted for a DAGMan that is dead."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, end], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    if end == "kill":
        parent.kill()
    parent.wait(LIMIT_S)
    until(lambda: is_gone(pid), f"the end of the child {pid}")
    parent.stdout.close()


def test_a_machine_without_another_process_keeps_its_descriptors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse() -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", refuse)
    before = descriptors()
    for _ in range(3):
        with pytest.raises(BlockingIOError):
            Child(lambda request: request)
    assert not descriptors() - before
