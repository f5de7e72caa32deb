"""What wakes a DAGMan that sleeps, by the program that waits for it.

The program executes another Python here, which tells why it was woken, and which signals wait.
"""

from __future__ import annotations

import contextlib
import os
import re
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
from tests.waiting import until

SOURCE = CHECKOUT / "condor_pydagman" / "libexec" / "condor_dagman.c"
STRICT = (
    "-std=c11 -O2 -D_FORTIFY_SOURCE=2 -Werror -Wall -Wextra -Wpedantic -Wconversion -Wshadow"
    " -Wsign-conversion -Wdouble-promotion -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual"
    " -Wold-style-definition -Wwrite-strings -Wformat=2 -Wnull-dereference -Wundef -Wvla"
)
SANITIZED = (
    "-std=c11 -O1 -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
)
TELL = """
import os, signal
pending = sum(1 << (number - 1) for number in signal.sigpending())
print(os.getpid(), pending, os.environ["PYDAGMAN_WOKEN"], end="")
"""
EVENT = "{:03} (007.000.000) 2026-11-30 12:00:00 something\n\tmore\n...\n"
START_AGAIN = 3
SUBMIT, END, IMAGE_SIZE = EVENT.format(0), EVENT.format(5), EVENT.format(6)


def compiled(directory: Path, flags: str, notices: list[str], before: str = "") -> Path:
    """The program, compiled with flags and lines before its own; skips the test if it can't be."""
    made, compiler = directory / "condor_dagman", os.environ.get("CC", "cc")

    def build(text: str) -> bool:
        words = [compiler, *flags.split(), "-x", "c", "-", "-o", str(made)]
        return not subprocess.run(words, input=text, text=True, check=False).returncode

    if not shutil.which(compiler) or not build("int main(void) { return 0; }\n"):
        notices.append(f"*** SLEEP WAS NOT TRIED: there is no {compiler}, or not for {flags} ***")
        pytest.skip("there is no such C compiler")
    assert build(f'{before}#include "{SOURCE}"\n')
    return made


@pytest.fixture(
    scope="session", params=["strict", pytest.param("sanitized", marks=pytest.mark.long)]
)
def waiter(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, notices: list[str]
) -> Path:
    """The program, compiled without a warning, or with sanitizers, which end it."""
    flags = STRICT if request.param == "strict" else SANITIZED
    return compiled(tmp_path_factory.mktemp("waiter"), flags, notices)


def launch(
    waiter: Path, told: bytes, keep: Sequence[int] = (), **options: Any
) -> subprocess.Popen[str]:
    """Start the program with words and descriptors that it has; all signals are blocked."""
    options.setdefault("args", ["condor_dagman"])
    fd = os.memfd_create("words")
    os.write(fd, told)
    before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    try:
        return subprocess.Popen(
            executable=waiter,
            text=True,
            pass_fds=[fd, *keep],
            env={**os.environ, "PYDAGMAN_WAIT": str(fd)},
            **options,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(fd)


class Waiting:
    """A process that waits.

    Args:
        keep: descriptors that it has.
        program: what it executes.
    """

    def __init__(
        self, waiter: Path, words: Sequence[Any], keep: Sequence[int], program: Path
    ) -> None:
        parent = [] if "parent" in words else ["parent", os.getpid()]
        told = [os.fsencode(f"{word}") + b"\0" for word in [*words, *parent, "exec", program]]
        command = ["python", "-I", "-S", "-c", TELL, *["some.dag"] * 5000]  # as many as people give
        self.process = launch(waiter, b"".join(told), keep, stdout=subprocess.PIPE, args=command)

    def asleep(self) -> Waiting:
        """Wait until it waits; returns itself."""
        state = Path(f"/proc/{self.process.pid}/stat")
        until(lambda: state.read_text().split()[2] == "S", "its sleep")
        return self

    def woken(self) -> tuple[str, int]:
        """Wait until it has executed Python; returns why, and the signals that wait."""
        pid, pending, reason = self.process.communicate()[0].split(" ", 2)
        assert int(pid) == self.process.pid
        return reason, int(pending)


Start = Callable[..., Waiting]


@pytest.fixture
def start(waiter: Path) -> Iterator[Start]:
    """Start one: words, and watches and descriptors that it has."""
    with contextlib.ExitStack() as stack:

        def begin(
            *words: Any,
            watches: Sequence[FileWatch | DirectoryWatch] = (),
            keep: Sequence[int] = (),
            program: Path = Path(sys.executable),
        ) -> Waiting:
            for watch in watches:
                stack.callback(watch.close)
                words += ("watch", watch.fileno())
            keep = [*keep, *(watch.fileno() for watch in watches)]
            started = Waiting(waiter, words, keep, program)
            stack.enter_context(started.process)
            stack.callback(started.process.kill)
            return started

        yield begin


@pytest.fixture
def log(tmp_path: Path) -> Path:
    made = tmp_path / "nodes.log"
    made.write_text(SUBMIT)
    return made


def of_log(log: Path) -> tuple[list[Any], list[FileWatch]]:
    """What lets the program watch the log from its end on."""
    return ["log", log, log.stat().st_size, "skip", 6], [FileWatch(str(log))]


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def bits(*numbers: int) -> int:
    return sum(1 << (number - 1) for number in numbers)


@pytest.mark.parametrize("compiler", ["gcc -fanalyzer", "clang"])
def test_no_compiler_warns(compiler: str, tmp_path: Path) -> None:
    words = [*compiler.split(), *STRICT.split(), "-o", str(tmp_path / "made"), str(SOURCE)]
    if not shutil.which(words[0]):
        pytest.skip(f"there is no {words[0]}")
    subprocess.run(words, check=True)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT, signal.SIGINT])
def test_a_signal_is_left_to_dagman(start: Start, number: int) -> None:
    waiting = start()
    waiting.process.send_signal(number)  # before it waits, perhaps
    assert waiting.woken() == ("request or signal", bits(number))


LEAVE = ("leave", signal.SIGTERM, "100 %s", "leave", 0, "orphan")
STAMP = r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d "


@pytest.mark.parametrize(
    ("words", "numbers", "said"),
    [
        (LEAVE, [signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT], "100 %s"),
        (("parent", 1, *LEAVE), [], "orphan"),
    ],
)
def test_it_leaves(
    start: Start, tmp_path: Path, words: Sequence[Any], numbers: Sequence[int], said: str
) -> None:
    with (tmp_path / "out").open("a+") as out:
        waiting = start("out", out.fileno(), "the end", *words, keep=[out.fileno()])
        for number in numbers:
            waiting.process.send_signal(number)
        assert waiting.process.wait() == 3
        assert re.sub(STAMP, "* ", (tmp_path / "out").read_text()) == f"* {said}\n* the end\n"


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGQUIT])  # the first: jobs are removed
def test_it_does_not_leave(start: Start, tmp_path: Path, number: int) -> None:
    with (tmp_path / "out").open("a+") as out:
        waiting = start("out", out.fileno(), "the end", *LEAVE, keep=[out.fileno()]).asleep()
        os.kill(waiting.process.pid, signal.SIGSTOP)
        waiting.process.send_signal(number)
        if number == signal.SIGUSR1:
            waiting.process.send_signal(signal.SIGTERM)
        os.kill(waiting.process.pid, signal.SIGCONT)
        assert waiting.woken()[0] == "request or signal"
        assert (tmp_path / "out").read_text() == ""


def test_it_does_not_leave_in_silence(start: Start) -> None:
    with open("/dev/full", "w") as out:
        waiting = start("out", out.fileno(), "the end", *LEAVE, keep=[out.fileno()])
        waiting.process.send_signal(signal.SIGTERM)
        assert waiting.woken() == ("request or signal", bits(signal.SIGTERM))


def test_signals_without_effect_wait_for_the_next_wake(start: Start) -> None:
    waiting = start().asleep()
    others = (signal.SIGHUP, signal.SIGUSR2, signal.SIGCHLD)
    for number in (*others, signal.SIGTERM):
        waiting.process.send_signal(number)
    assert waiting.woken() == ("request or signal", bits(*others, signal.SIGTERM))


NEWS = (END, IMAGE_SIZE + END, END[:20], IMAGE_SIZE + IMAGE_SIZE[:-2], "x", "\0" * 9)


@pytest.mark.parametrize("news", [*NEWS, IMAGE_SIZE.replace("more", "\0"), IMAGE_SIZE * 2000])
def test_news_of_the_log(start: Start, log: Path, news: str) -> None:
    words, watches = of_log(log)
    waiting = start(*words, watches=watches).asleep()
    append(log, news)
    assert waiting.woken() == ("nodes log", 0)


def test_news_that_came_before(start: Start, log: Path) -> None:
    words, watches = of_log(log)
    append(log, END)
    assert start(*words, watches=watches).woken() == ("nodes log", 0)


def by_a_fifo(path: Path) -> None:
    """Replace a file by a FIFO; whoever opened that would wait."""
    os.mkfifo(path.with_name("fifo"))
    path.with_name("fifo").rename(path)


def by_a_link(path: Path) -> None:
    """Replace a file by a link to it."""
    path.with_name("link").symlink_to("aside")
    os.link(path, path.with_name("aside"))
    path.with_name("link").rename(path)


@pytest.mark.parametrize(
    "what",
    [
        lambda log: os.truncate(log, 3),
        lambda log: os.truncate(log, 1 << 40),  # it is not read
        os.remove,
        by_a_fifo,
    ],
)
def test_a_log_that_is_damaged(start: Start, log: Path, what: Callable[[Path], None]) -> None:
    words, watches = of_log(log)
    waiting = start(*words, watches=watches).asleep()
    what(log)
    assert waiting.woken() == ("nodes log", 0)


def test_events_that_can_wait_do_not_wake(start: Start, log: Path) -> None:
    words, watches = of_log(log)
    halt = DirectoryWatch(str(log.parent))
    words += ["halt", log.parent / "halt", 0]
    waiting = start(*words, watches=[*watches, halt]).asleep()
    for _ in range(40):  # within a page of memory: at its end half an event can be seen
        append(log, IMAGE_SIZE)
    (log.parent / "other").touch()
    os.mkfifo(log.parent / "halt")  # which is not opened, as DAGMan does not open it
    assert waiting.woken() == ("halt file", 0)


def test_a_halt_file_that_goes(start: Start, tmp_path: Path) -> None:
    (tmp_path / "halt").touch()
    watches = [DirectoryWatch(str(tmp_path))]
    waiting = start("halt", tmp_path / "halt", 1, watches=watches).asleep()
    (tmp_path / "halt").unlink()
    assert waiting.woken() == ("halt file", 0)


@pytest.mark.parametrize("what", [os.remove, by_a_fifo, by_a_link])
def test_a_file_that_is_another(start: Start, tmp_path: Path, what: Callable[[Path], None]) -> None:
    """Lock or log: what is there now is DAGMan's to judge."""
    lock = tmp_path / "lock"
    lock.touch()
    there = lock.stat()
    words = ["same", lock, there.st_dev, there.st_ino, "look", 0.05]
    waiting = start(*words).asleep()
    what(lock)
    assert waiting.woken() == ("files gone", 0)


def test_a_fifo_is_not_waited_for(start: Start, tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    by_a_fifo(tmp_path / "log")
    assert start("log", tmp_path / "log", 0, "until", 0).woken() == ("deadline", 0)


def test_a_number_of_a_file_may_have_64_bits(start: Start, tmp_path: Path) -> None:
    assert start("same", tmp_path, 2**64 - 1, 2**64 - 1).woken() == ("files gone", 0)


def test_a_client(start: Start) -> None:
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        waiting = start("poll", listener.fileno(), keep=[listener.fileno()]).asleep()
        client.connect(listener.getsockname())
        assert waiting.woken() == ("request or signal", 0)


def test_another_parent(start: Start) -> None:
    assert start("parent", 1).woken() == ("end of the schedd", 0)


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
    assert start(*words).process.wait() == START_AGAIN


@pytest.mark.parametrize(
    "told",
    [b"", b"poll", b"poll\0", b"exec\0", b"x" * 1_000_000, b"until\0" * 9000],
    ids=lambda told: repr(told[:9]),
)
def test_words_that_do_not_end(waiter: Path, told: bytes) -> None:
    assert launch(waiter, told).wait() == START_AGAIN


@pytest.mark.parametrize("path", ["/", "/dev/zero", "/dev/null"])
def test_descriptors_that_have_no_words(waiter: Path, path: str) -> None:
    environments = [{"PYDAGMAN_WAIT": name} for name in ("0", "", "x", "-1", "99", "9" * 20)]
    fd = os.open(path, os.O_RDONLY)
    for environment in [{}, *environments]:
        done = subprocess.run([waiter], env=environment, stdin=fd, check=False)
        assert done.returncode == START_AGAIN, environment
    os.close(fd)
