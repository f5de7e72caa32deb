"""One pool for all pool tests; every test gets a directory of its own, never under /tmp."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.pool import Pool
from tests.pool import cases, scenes, second_user
from tests.pool.access_point import AccessPoint
from tools import record_submit_corpus

CHECKOUT = Path(__file__).resolve().parents[2]

# Stock DAGMan looks at its log every 5 seconds; once a second makes comparisons bearable.
# A checkout may be under /tmp, where DAGMan refuses to keep its log.
KNOBS = """
DAGMAN_USER_LOG_SCAN_INTERVAL = 1
DAGMAN_AVOID_SLASH_TMP = False
DAGMAN_QUEUE_UPDATE_INTERVAL = 1
"""


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    """A directory for this test run."""
    directory = CHECKOUT / "var" / f"tests.{os.getpid()}"
    directory.mkdir(parents=True)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


def set_knobs(pool: Path) -> None:
    """Give a pool that has not been started yet the knobs of the tests."""
    (pool / "config.d").mkdir(parents=True)
    knobs = KNOBS + second_user.KNOBS + record_submit_corpus.KNOBS
    (pool / "config.d" / "tests").write_text(knobs)


@pytest.fixture(scope="session")
def access_point(place: Path) -> Iterator[AccessPoint]:
    """The access point of a pool that runs as long as the tests do."""
    pool = Pool(place / "pool")
    set_knobs(place / "pool")
    pool.start(timeout=120)
    try:
        yield AccessPoint(pool)
    finally:
        pool.stop()


@pytest.fixture(scope="session")
def all_played(
    access_point: AccessPoint, place: Path, request: pytest.FixtureRequest
) -> dict[scenes.Stage, scenes.Played]:
    """How the scenes of all modules went."""
    return scenes.play(access_point, place / "scenes", request.session.items)


@pytest.fixture(scope="module")
def played(
    all_played: dict[scenes.Stage, scenes.Played], request: pytest.FixtureRequest
) -> scenes.Played:
    """How the scenes of a module went."""
    return all_played[request.module.STAGE]


@pytest.fixture
def work(place: Path, request: pytest.FixtureRequest) -> Path:
    """A directory for one test."""
    name = re.sub(r"\W+", "-", request.node.name).strip("-")
    directory = place / name
    directory.mkdir()
    directory.chmod(0o777)
    return directory


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the cases that were not the same as stock's at once."""
    if cases.RUN_AGAIN:
        terminalreporter.write_line("compared again: " + " ".join(sorted(cases.RUN_AGAIN)))
