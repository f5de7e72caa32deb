"""Many processes of a test that are killed at any time, and slots that tell how many run."""

from __future__ import annotations

import contextlib
import fcntl
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.waiting import until

Task = Callable[[int], None]


class Slots:
    """So many may hold one at once; the kernel takes it from a process that is killed.

    When a process is killed, the kernel closes the file with the highest number first (fput runs as
    task work, the last first): the slot is free before the turn is.
    """

    def __init__(self, directory: Path, name: str, count: int) -> None:
        self._name = name
        self._directory = directory
        self._fds = []
        for path in _slots(directory, name, count):
            fd = os.open(path, os.O_RDWR)
            self._fds.append(fcntl.fcntl(fd, fcntl.F_DUPFD, 500))
            os.close(fd)

    @staticmethod
    def make(directory: Path, name: str, count: int) -> None:
        """Make their files, for all users."""
        for path in _slots(directory, name, count):
            path.touch()
            path.chmod(0o666)

    def take(self) -> int:
        """A slot; a file tells the test if there is none."""
        for fd in self._fds:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            return fd
        (self._directory / f"violated.{self._name}.{os.getpid()}").touch()
        return -1

    @staticmethod
    def give_back(fd: int) -> None:
        if fd >= 0:
            fcntl.flock(fd, fcntl.LOCK_UN)


class Crowd:
    """Processes that run a task, each with its number; a killed one is replaced.

    Args:
        users: that they run as, in turn; empty for the test's own.
    """

    def __init__(self, task: Task, errors: Path, seed: int, users: tuple[int, ...] = ()) -> None:
        self._task = task
        self._errors = errors
        self._random = random.Random(seed)
        self._users = users
        self._running: dict[int, int] = {}
        self._failed = 0
        self.killed = 0

    def run(self, count: int, kills: int, pause_s: float) -> None:
        """Start `count`, kill so many at random times, then wait for the rest."""
        for number in range(count):
            self._start(number)
        for _ in range(kills):
            time.sleep(self._random.uniform(0, 2 * pause_s))
            self._reap(os.WNOHANG)
            if not self._running:
                break
            pid = self._random.choice(list(self._running))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            self.killed += 1
            self._start(self._running.pop(pid))

        def over() -> bool:
            self._reap(os.WNOHANG)
            return not self._running

        try:
            until(over, "the end of all", story=lambda: self._running, pause_s=0.01)
        finally:
            for pid in self._running:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        assert not self._failed, f"{self._failed} failed: {faults(self._errors)[:2]}"

    def _start(self, number: int) -> None:
        pid = os.fork()
        if pid:
            self._running[pid] = number
            return
        code = 1
        try:
            if self._users:
                user = self._users[number % len(self._users)]
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            self._task(number)
            code = 0
        except BaseException:
            with contextlib.suppress(OSError):
                (self._errors / f"error.{os.getpid()}").write_text(traceback.format_exc())
        finally:
            sys.stdout.flush()
            os._exit(code)

    def _reap(self, flags: int) -> None:
        for pid in list(self._running):
            ended, status = os.waitpid(pid, flags)
            if ended == pid:
                del self._running[pid]
                self._failed += status != 0


def _slots(directory: Path, name: str, count: int) -> list[Path]:
    return [directory / f"{name}.{number}" for number in range(count)]


def faults(directory: Path) -> list[str]:
    """What the processes have said to have gone wrong."""
    said = [path.name for path in directory.glob("violated.*")]
    return said + [path.read_text() for path in directory.glob("error.*")]
