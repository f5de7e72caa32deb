"""`condor_pydagman sites monitor`: rounds of the monitor, until somebody ends it."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import signal
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.features.sites.adapters import ads as site_ads
from condor_pydagman.features.sites.adapters import overview as site_overview
from condor_pydagman.features.sites.adapters.files import read_sites
from condor_pydagman.features.sites.adapters.monitor import Collected, Monitor
from condor_pydagman.printable import printable

_TRIES, _PAUSE_S = 5, 1.0  # to take the ads back in the end


class _Ended(Exception):
    """Somebody ends the monitor."""


def run(arguments: argparse.Namespace) -> int:
    """Publish the sites of a directory; returns the exit code.

    Raises:
        FileError: the directory can't be read, or another monitor has it.
        PydagmanError: with --once, the collector does not take the ads.
    """
    directory = Path(arguments.directory)
    if arguments.check:
        return _check(directory)
    if arguments.log:
        _log_to(arguments.log)
    lock = _locked(directory)
    try:
        monitor = Monitor(
            directory,
            Collected(site_ads.publish, site_ads.take_back),
            _counts,
            _say,
            interval_s=arguments.interval,
            probe_timeout_s=arguments.probe_timeout,
        )
        if arguments.once:
            outcome = monitor.round()
            return int(bool(outcome.problems))
        return _go_on(monitor, arguments.interval)
    finally:
        os.close(lock)


def _log_to(path: str) -> None:
    """Standard output and error are that file from now on; condor_master has none for them."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)


def _check(directory: Path) -> int:
    try:
        sites = read_sites(directory)
    except OSError as error:
        raise FileError(f"{directory}: {error.strerror}") from None
    for site in sites:
        for line in (*site.problems, *site.warnings):
            print("\n".join(map(printable, line.split("\n"))))
    wrong = sum(bool(site.problems) for site in sites)
    print(f"{len(sites)} sites, {wrong} of them wrong")
    return int(wrong > 0)


def _go_on(monitor: Monitor, interval_s: float) -> int:
    """Round after round; SIGTERM and Ctrl-C end it, SIGHUP begins the next one."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, _end)
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP,))
    said = ""
    try:
        while True:
            try:
                monitor.round()
                said = ""
            except PydagmanError as error:
                if str(error) != said:
                    said = str(error)
                    _say(f"{said}; retrying every {interval_s:g} s")
            signal.sigtimedwait((signal.SIGHUP,), interval_s)
    except _Ended:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return _take_back(monitor)


def _take_back(monitor: Monitor) -> int:
    """All ads; the collector may be too busy at first."""
    for left in reversed(range(_TRIES)):
        try:
            monitor.end()
            return 0
        except PydagmanError as error:
            if not left:
                _say(f"the ads stay until they are too old: {error}")
        time.sleep(bool(left) * _PAUSE_S)
    return 1


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended


def _locked(directory: Path) -> int:
    """The directory, which one monitor alone may publish."""
    try:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise FileError(f"{directory}: {error.strerror}") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise FileError(f"{directory}: another monitor publishes these sites") from None
    return fd


def _counts() -> Counter[str]:
    claims = site_overview.all_claims(lookup("PYDAGMAN_SITES_DIR") or "", _say)
    return sum((one.counts() for one in claims), Counter[str]())


def _say(text: str) -> None:
    when = time.strftime("%m/%d/%y %H:%M:%S")
    lines = text.split("\n")
    told = "\n".join([f"{when} {printable(lines[0])}", *map(printable, lines[1:])]) + "\n"
    with contextlib.suppress(OSError):  # the sites stay where they are though the disk is full
        os.write(1, told.encode())
