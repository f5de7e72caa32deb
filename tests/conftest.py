"""What tests of several tiers share: which of them run, where they work, what a failure says.

Without arguments a test run is the gate: the tiers without a pool, less what is marked `long`, and
the scenes of `tests/gate.py`.  `--all`, and paths of tests, run all that is there.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import shlex
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import gate, run_directories
from tests.installation import CHECKOUT, Installation
from tests.waiting import LIMIT_S

MAX_PROCESSES = 8  # more find no work while the longest unit runs
RUN = pytest.StashKey[Path]()
DIRECTORY = pytest.StashKey[Path]()
NOTICES = pytest.StashKey[list[str]]()


# How long an example takes tells of the machine's load, not of the code.  Each run tries the same
# examples; `--hypothesis-profile=explore` tries new ones, and more of them.
settings.register_profile("condor_pydagman", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False, max_examples=1000)
settings.load_profile("condor_pydagman")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("condor_pydagman")
    group.addoption("--all", action="store_true", help="the long run: every test there is")
    group.addoption(
        "--record-stock",
        metavar="DIRECTORY",
        help="run only what records the stock program (tests/pool/stock.py), into this directory",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    os.umask(0o022)  # the pools' user reads what the tests write
    for name in ("COLUMNS", "LINES", "PYTHONWARNINGS"):
        os.environ.pop(name, None)  # what programs say depends on them
    config.stash[NOTICES] = []
    given = getattr(config, "workerinput", None)
    if given:
        config.stash[RUN] = Path(given["directory"])
        config.stash[DIRECTORY] = Path(given["directory"]) / given["workerid"]
        return
    try:
        obstacle = run_directories.obstacle(CHECKOUT)
        if obstacle:
            raise pytest.UsageError(obstacle)
        run_directories.remove_leftovers(CHECKOUT / "var")
        config.stash[RUN] = run_directories.make(CHECKOUT / "var")
    except OSError as error:
        raise pytest.UsageError(f"the tests need a place for their files: {error}") from None
    config.stash[DIRECTORY] = config.stash[RUN] / "main"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the pools, and remove the files of the test run."""
    if not hasattr(config, "workerinput") and RUN in config.stash:
        run_directories.remove(config.stash[RUN])


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what collecting makes, a million objects that stay, to no search for garbage."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what this test run is not for."""
    if config.getoption("--record-stock"):
        kept = [item for item in items if "stock" in getattr(item, "fixturenames", ())]
    elif is_gate(config) and not _repeats_failures(config):
        ignored = config.getoption("ignore") or config.getoption("ignore_glob")
        kept = gate.of(items, complete=not (ignored or session.testsfailed))
    else:
        return
    left = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = kept


def is_gate(config: pytest.Config) -> bool:
    """Whether the test run is the gate: whoever names tests wants all of these."""
    given = getattr(config, "workerinput", None)
    if given:
        return bool(given["gate"])
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return not (named or config.getoption("--all"))


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is left out."""
    if not is_gate(config):
        return None
    return "the gate: tests/gate.py says what is left to --all, the long run"


def _repeats_failures(config: pytest.Config) -> bool:
    """Whether the test run is for what failed the last time (`--lf`), of the gate or not."""
    if not config.getoption("lf", default=False):  # pytest can be run without its cache
        return False
    return config.cache is not None and bool(config.cache.get("cache/lastfailed", {}))


@pytest.fixture(scope="session")
def run_directory(pytestconfig: pytest.Config) -> Path:
    """A directory for the tests of this process; not under /tmp unless the checkout is."""
    directory = pytestconfig.stash[DIRECTORY]
    directory.mkdir(parents=True)
    return directory


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
    """Say the notices, and how to run each test that failed alone."""
    for line in config.stash[NOTICES]:
        terminalreporter.write_line(line)
    stats = terminalreporter.stats
    failed = [report.nodeid for word in ("failed", "error") for report in stats.get(word, [])]
    seed = getattr(config.option, "randomly_seed", None)
    order = [] if seed is None else [f"--randomly-seed={seed}"]
    profile = getattr(config.option, "hypothesis_profile", None)
    examples = [] if profile is None else [f"--hypothesis-profile={profile}"]
    python = os.path.relpath(sys.executable)
    for test in dict.fromkeys(failed):
        path, *names = test.split("::", 1)
        named = "::".join([os.path.relpath(config.rootpath / path), *names])
        words = shlex.join([python, "-m", "pytest", *order, *examples, named])
        terminalreporter.write_line(f"to run it again: {words}")


# The rest is for pytest-xdist (`-n`), where this file is loaded by the process that distributes the
# tests and by those that run them.


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """With `-n auto`, more processes than CPUs, since tests of a pool mostly wait."""
    return min((os.cpu_count() or 1) + (1 if is_gate(config) else 2), MAX_PROCESSES)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that share fixtures run in one process."""
    from tests.scheduling import LongestFirst  # pytest-xdist is only needed for `-n`

    return LongestFirst(config, log, is_gate=is_gate(config))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of which test run it is, before it starts."""
    node.workerinput["directory"] = str(node.config.stash[RUN])
    node.workerinput["gate"] = is_gate(node.config)


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


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs to its end, but not for ever."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}
    # In a thread of its own: the browser of other tests may have a loop in this one.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, asyncio.wait_for(test(**given), LIMIT_S)).result()
    return True


@pytest.fixture
def work_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
