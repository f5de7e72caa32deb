"""What wakes a DAGMan that sleeps, by the program that waits for it.

The program executes another Python here, which tells why it was woken, and which signals wait.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.inotify import DirectoryWatch, FileWatch
from tests.installation import CHECKOUT

SOURCE = CHECKOUT / "condor_pydagman" / "libexec" / "condor_dagman.c"
STRICT = "-std=c11 -Os -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Werror"
TELL = """
import os, signal
pending = sum(1 << (number - 1) for number in signal.sigpending())
print(os.getpid(), pending, os.environ["PYDAGMAN_WOKEN"], end="")
"""
EVENT = "{:03} (007.000.000) 2026-11-30 12:00:00 something\n\tmore\n...\n"
SUBMIT, END, IMAGE_SIZE = EVENT.format(0), EVENT.format(5), EVENT.format(6)


@pytest.fixture(scope="session")
def waiter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled without a warning."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        pytest.skip("there is no C compiler")
    made = tmp_path_factory.mktemp("waiter") / "condor_dagman"
    subprocess.run([compiler, *STRICT.split(), "-o", made, SOURCE], check=True)
    return made


class Waiting:
    """A process that waits.

    Attributes:
        pid: of it.
    """

    def __init__(
        self, waiter: Path, words: Sequence[Any], keep: Sequence[int], program: Path
    ) -> None:
        self._reader, writer = os.pipe()
        told = os.memfd_create("words")
        parent = [] if "parent" in words else ["parent", os.getpid()]
        command = ["exec", program, "python", "-I", "-S", "-c", TELL]
        data = b"".join(os.fsencode(str(word)) + b"\0" for word in [*words, *parent, *command])
        os.write(told, data)
        signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
        self.pid = os.fork()
        if not self.pid:
            os.dup2(writer, 1)
            for fd in (told, *keep):
                os.set_inheritable(fd, True)
            os.execve(waiter, ["condor_dagman"], {**os.environ, "PYDAGMAN_WAIT": str(told)})
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.close(writer)
        os.close(told)

    def asleep(self) -> Waiting:
        """Wait until it waits; returns itself."""
        process = Path(f"/proc/{self.pid}")
        while "S" not in process.joinpath("stat").read_text().split()[2]:
            time.sleep(0.001)
        return self

    def woken(self) -> tuple[str, int]:
        """Wait until it has executed Python; returns why, and the signals that wait."""
        with open(self._reader) as file:
            pid, pending, reason = file.read().split(" ", 2)
        os.waitpid(self.pid, 0)
        assert int(pid) == self.pid
        return reason, int(pending)


Start = Callable[..., Waiting]


@pytest.fixture
def start(waiter: Path) -> Iterator[Start]:
    """Start one: words, and descriptors that it keeps."""
    started: list[Waiting] = []

    def begin(
        *words: Any, keep: Sequence[int] = (), program: Path = Path(sys.executable)
    ) -> Waiting:
        started.append(Waiting(waiter, words, keep, program))
        return started[-1]

    yield begin
    for one in started:
        try:
            os.kill(one.pid, signal.SIGKILL)
            os.waitpid(one.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = tmp_path / "nodes.log"
    made.write_text(SUBMIT)
    return made


def of_log(log: Path) -> tuple[list[Any], FileWatch]:
    """What lets the program watch the log from its end on."""
    watch = FileWatch(str(log))
    words = ["log", log, log.stat().st_size, "skip", 6, "watch", watch.fileno()]
    return words, watch


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def bits(*numbers: int) -> int:
    return sum(1 << (number - 1) for number in numbers)


def test_a_deadline(start: Start) -> None:
    assert start("until", time.monotonic()).woken() == ("deadline", 0)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT, signal.SIGINT])
def test_a_signal_is_left_to_dagman(start: Start, number: int) -> None:
    waiting = start()
    os.kill(waiting.pid, number)  # before it waits, perhaps
    assert waiting.woken() == ("descriptor", bits(number))


def test_signals_without_effect_wait_for_the_next_wake(start: Start) -> None:
    waiting = start().asleep()
    others = (signal.SIGHUP, signal.SIGUSR2, signal.SIGCHLD)
    for number in (*others, signal.SIGTERM):
        os.kill(waiting.pid, number)
    assert waiting.woken() == ("descriptor", bits(*others, signal.SIGTERM))


@pytest.mark.parametrize(
    "news",
    [
        END,
        IMAGE_SIZE + END,
        END[:20],
        IMAGE_SIZE + IMAGE_SIZE[:-2],
        "x",
        "\0" * 9,
        IMAGE_SIZE * 2000,
    ],
)
def test_news_of_the_log(start: Start, log: Path, news: str) -> None:
    words, watch = of_log(log)
    waiting = start(*words, keep=[watch.fileno()]).asleep()
    append(log, news)
    assert waiting.woken() == ("log", 0)


def test_news_that_came_before(start: Start, log: Path) -> None:
    words, watch = of_log(log)
    append(log, END)
    assert start(*words, keep=[watch.fileno()]).woken() == ("log", 0)


@pytest.mark.parametrize("what", [lambda log: os.truncate(log, 3), os.remove])
def test_a_log_that_is_damaged(start: Start, log: Path, what: Callable[[Path], None]) -> None:
    words, watch = of_log(log)
    waiting = start(*words, keep=[watch.fileno()]).asleep()
    what(log)
    assert waiting.woken() == ("log", 0)


def test_events_that_can_wait_do_not_wake(start: Start, log: Path) -> None:
    words, watch = of_log(log)
    halt = DirectoryWatch(str(log.parent))
    words += ["halt", log.parent / "halt", 0, "watch", halt.fileno()]
    waiting = start(*words, keep=[watch.fileno(), halt.fileno()]).asleep()
    for _ in range(100):
        append(log, IMAGE_SIZE)
    (log.parent / "other").touch()
    (log.parent / "halt").touch()
    assert waiting.woken() == ("halt file", 0)


def test_a_halt_file_that_goes(start: Start, tmp_path: Path) -> None:
    (tmp_path / "halt").touch()
    watch = DirectoryWatch(str(tmp_path))
    words = ["halt", tmp_path / "halt", 1, "watch", watch.fileno()]
    waiting = start(*words, keep=[watch.fileno()]).asleep()
    (tmp_path / "halt").unlink()
    assert waiting.woken() == ("halt file", 0)


def test_a_lock_file_that_is_another(start: Start, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    there = lock.stat()
    words = ["same", lock, there.st_dev, there.st_ino, "look", 0.05]
    waiting = start(*words).asleep()
    lock.unlink()
    assert waiting.woken() == ("file", 0)


def test_a_client(start: Start) -> None:
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        waiting = start("poll", listener.fileno(), keep=[listener.fileno()]).asleep()
        client.connect(listener.getsockname())
        assert waiting.woken() == ("descriptor", 0)


def test_another_parent(start: Start) -> None:
    assert start("parent", 1).woken() == ("parent", 0)


def test_a_program_that_is_being_replaced(start: Start, tmp_path: Path) -> None:
    program = tmp_path / "program"
    waiting = start("until", time.monotonic(), program=program)
    new = tmp_path / "new"
    new.symlink_to(sys.executable)
    new.rename(program)
    assert waiting.woken() == ("deadline", 0)


@pytest.mark.parametrize(
    "words", [["nonsense"], ["poll", "x"], ["same", "a", "b", "c"], ["poll", 9] * 40]
)
def test_words_that_make_no_sense(start: Start, words: list[Any]) -> None:
    waiting = start(*words)
    assert os.waitstatus_to_exitcode(os.waitpid(waiting.pid, 0)[1]) == 3
