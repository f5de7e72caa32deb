"""What tests of several tiers share, and what lets several processes run them (see scheduling)."""

from __future__ import annotations

import gc
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from condor_pydagman.pool import Pool
from tests.installation import CHECKOUT, Installation

MAX_PROCESSES = 8  # more find no work while the longest unit runs
DIRECTORY = pytest.StashKey[Path]()
NOTICES = pytest.StashKey[list[str]]()


# How long an example takes tells of the machine's load, not of the code.  Each run tries the same
# examples; `--hypothesis-profile=explore` tries new ones, and more of them.
settings.register_profile("condor_pydagman", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False, max_examples=1000)
settings.load_profile("condor_pydagman")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOTICES] = []
    given = getattr(config, "workerinput", None)
    config.stash[DIRECTORY] = (
        Path(given["directory"]) / given["workerid"]
        if given
        else CHECKOUT / "var" / f"tests.{os.getpid()}"
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the pools of processes that were killed, and remove the files of the test run."""
    directory = config.stash[DIRECTORY]
    if not hasattr(config, "workerinput") and directory.exists():
        for path in directory.rglob("lock/master.pid"):
            Pool(path.parents[1]).stop()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what collecting makes, a million objects that stay, to no search for garbage."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def run_directory(pytestconfig: pytest.Config) -> Iterator[Path]:
    """A directory for the tests of this process; not under /tmp unless the checkout is."""
    directory = pytestconfig.stash[DIRECTORY]
    directory.mkdir(parents=True)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def installation(run_directory: Path) -> Installation:
    """This checkout as pip installs it.  The pool's user must be able to reach it."""
    directory = run_directory / "installation"
    directory.mkdir()
    return Installation(directory)


@pytest.fixture(scope="session")
def notices(pytestconfig: pytest.Config) -> list[str]:
    """Lines that the test run ends with, whichever tests fail; for tests to add to."""
    return pytestconfig.stash[NOTICES]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say the notices, and how to run a test that failed alone."""
    for line in config.stash[NOTICES]:
        terminalreporter.write_line(line)
    stats = terminalreporter.stats
    failed = [report.nodeid for word in ("failed", "error") for report in stats.get(word, [])]
    if failed:
        words = shlex.join([".venv/bin/python", "-m", "pytest", failed[0]])
        terminalreporter.write_line(f"to run the first of them alone: {words}")


# The rest is for pytest-xdist (`-n`), where this file is loaded by the process that distributes the
# tests and by those that run them.


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`, more processes than CPUs, since most tests of a pool wait."""
    return min((os.cpu_count() or 1) + 2, MAX_PROCESSES)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that share fixtures run in one process."""
    from tests.scheduling import LongestFirst  # pytest-xdist is only needed for `-n`

    return LongestFirst(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process its directory before it starts."""
    node.workerinput["directory"] = str(node.config.stash[DIRECTORY])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the notices of this process."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["notices"] = session.config.stash[NOTICES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the notices of a process that has ended; one that was killed sent none."""
    node.config.stash[NOTICES] += getattr(node, "workeroutput", {}).get("notices", [])


@pytest.hookimpl(hookwrapper=True)
def pytest_report_to_serializable(config: pytest.Config) -> Iterator[None]:
    """Spell out what of a report can't be sent: bytes that are no text, in what a test printed."""
    outcome: Any = yield
    if hasattr(config, "workerinput"):
        outcome.force_result(_sendable(outcome.get_result()))


def _sendable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_sendable(key): _sendable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_sendable, value))
    return value
