"""One pool for all pool tests of a test run; every test gets a directory of its own."""

from __future__ import annotations

import contextlib
import fcntl
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.pool import Pool
from tests import recordings
from tests.conftest import RUN
from tests.installation import CHECKOUT
from tests.pool import scenes, second_user
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.stock import Stock, file_of
from tests.waiting import LIMIT_S
from tools import record_submit_corpus

# Stock DAGMan looks at its log every 5 seconds; once a second makes comparisons bearable.
# A checkout may be under /tmp, where DAGMan refuses to keep its log.
KNOBS = """
DAGMAN_USER_LOG_SCAN_INTERVAL = 1
DAGMAN_AVOID_SLASH_TMP = False
DAGMAN_QUEUE_UPDATE_INTERVAL = 1
DAGMAN_CHECK_QUEUE_INTERVAL = 15
STARTER_UPDATE_INTERVAL = 5
STARTER_INITIAL_UPDATE_INTERVAL = 2
SYSTEM_PERIODIC_HOLD = (HeldByThePool =?= true && DAGManBundleNodes =!= undefined)
PERIODIC_EXPR_INTERVAL = 5
"""
# Jobs for other pools and batch systems, by the grid universe: how they are is asked once a second.
# BATCH_GAHP is written by the test that needs it.
GRID_KNOBS = """
CONDOR_JOB_POLL_INTERVAL = 1
GRIDMANAGER_JOB_PROBE_INTERVAL = 1
GRIDMANAGER_CONTACT_SCHEDD_DELAY = 1
C_GAHP_CONTACT_SCHEDD_DELAY = 1
CGAHP_SCHEDD_INTERACTION_TIME = 1
INFN_JOB_POLL_INTERVAL = 1
BATCH_GAHP = $(LOCAL_DIR)/bin/blahpd
"""


def pytest_itemcollected(item: pytest.Item) -> None:
    """All tests of this folder need the pool."""
    item.add_marker(pytest.mark.pool)


@pytest.fixture(scope="session")
def place(run_directory: Path) -> Path:
    """A directory for all tests of the pool."""
    return run_directory


def set_knobs(pool: Path, more: str = "") -> None:
    """Give a pool that has not started yet the knobs of the tests, and `more`."""
    (pool / "config.d").mkdir(parents=True)
    knobs = KNOBS + GRID_KNOBS + second_user.KNOBS + record_submit_corpus.KNOBS + more
    (pool / "config.d" / "tests").write_text(knobs)


@contextlib.contextmanager
def running_pool(directory: Path, more: str = "") -> Iterator[Pool]:
    """A new pool with the knobs of the tests, and `more`; stopped afterwards."""
    pool = Pool(directory)
    set_knobs(directory, more)
    pool.start(timeout_s=LIMIT_S)
    try:
        yield pool
    finally:
        pool.stop()


@pytest.fixture(scope="session")
def access_point(pytestconfig: pytest.Config) -> AccessPoint:
    """The access point of the one pool that all processes of the test run share.

    The first that needs it starts it; it is stopped when the test run ends.
    """
    directory = pytestconfig.stash[RUN] / "pool"
    pool = Pool(directory)
    with open(pytestconfig.stash[RUN] / "pool.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.exists():
            set_knobs(directory)
        pool.start(timeout_s=LIMIT_S)
    return AccessPoint(pool)


@pytest.fixture(scope="session")
def all_played(
    access_point: AccessPoint, place: Path, request: pytest.FixtureRequest
) -> dict[scenes.Stage, scenes.Played]:
    """How the scenes of all modules went."""
    recording = bool(request.config.getoption("--record-stock"))
    items = request.session.items
    return scenes.play(access_point, place / "scenes", items, recording=recording)


@pytest.fixture(scope="module")
def stock(access_point: AccessPoint, request: pytest.FixtureRequest, notices: list[str]) -> Stock:
    """What the stock program does in the tests of a module, by the recording."""
    told = f"*** HTCONDOR {access_point.version} WAS COMPARED WITH THE RECORDING OF ANOTHER ***"
    if access_point.version not in recordings.versions() and told not in notices:
        notices.append(told)
    given = request.config.getoption("--record-stock")
    module = Path(request.module.__file__).stem[len("test_") :]
    record_in = Path(given) / access_point.version / file_of(module) if given else None
    return Stock(module, record_in, (str(request.config.stash[RUN]), str(CHECKOUT)))


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
    return new_directory(place / name)
