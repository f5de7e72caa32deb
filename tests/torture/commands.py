"""What the commands of the torture test have in common: their words, their pool, what kills
DAGMan, who looks at the claims of sites, and what they say in the end."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from condor_pydagman.pool import Pool
from tests.pool.access_point import AccessPoint
from tests.pool.dagmans import dagmans_in
from tests.waiting import LIMIT_S


def words_of(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None = None
) -> argparse.Namespace:
    """The words of a command, with the seed and the directory that all have: the pool's user may
    enter it.  SIGTERM stops the command, and its pool, as ^C does."""
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path)
    words = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    words.directory = words.directory or Path(tempfile.mkdtemp(dir="/var/tmp"))
    words.directory.mkdir(exist_ok=True)
    words.directory.chmod(0o755)
    return words


def verdict(wrong: Sequence[str]) -> int:
    """Say what was wrong; returns the exit code."""
    for line in wrong:
        print(f"WRONG: {line}")
    return int(bool(wrong))


@contextlib.contextmanager
def own_pool(place: Path, knobs: str) -> Iterator[AccessPoint]:
    """A pool of the test's own, as long as it is needed."""
    pool = Pool(place / "pool")
    (pool.directory / "config.d").mkdir(parents=True, exist_ok=True)
    (pool.directory / "config.d" / "torture").write_text(knobs)
    try:
        pool.start(timeout_s=LIMIT_S)
        yield AccessPoint(pool)
    finally:
        pool.stop()


def kill_dagmans(work: Path, over: threading.Event, draw: Callable[[], float]) -> int:
    """Kill DAGMans of a directory after pauses so long, until it is over; returns how many."""
    kills = 0
    while not over.wait(draw()):
        for pid in dagmans_in(work):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                kills += 1
    return kills


def watch_claims(
    directory: Path, over: threading.Event, pause_s: float, look: Callable[[], None]
) -> None:
    """Look at claims under their lock, as between two decisions, until it is over."""
    fd = os.open(directory, os.O_RDONLY)
    while not over.wait(pause_s):
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            look()
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def started_monitor(
    access_point: AccessPoint, sites: Path, interval_s: int = 1
) -> subprocess.Popen[bytes]:
    """The monitor of sites that a directory describes."""
    words = ["condor_pydagman", "sites", "monitor", str(sites), "--interval", str(interval_s)]
    argv = access_point.pool.command(words)
    with (sites.parent / "monitor.out").open("ab") as out:
        return subprocess.Popen(argv, env=access_point.environment, stdout=out, stderr=out)
