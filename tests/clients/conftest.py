"""The pool of the pool tests, for the clients; these tests run in the long run, or when they are
named.  They need what `environments.sh` installs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.client import Client
from tests.pool.access_point import AccessPoint
from tests.pool.conftest import access_point, place, pytest_itemcollected, work  # noqa: F401

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Leave these tests out of all but the long run, unless an argument of pytest names them."""
    if config.getoption("--all"):
        return None
    start = Path(config.invocation_params.dir)
    named = [(start / argument.split("::")[0]).resolve() for argument in config.args]
    return None if any(HERE in (path, *path.parents) for path in named) else True


@pytest.fixture(scope="session")
def client(access_point: AccessPoint, place: Path) -> Client:  # noqa: F811
    """What runs clients, as the pool's user."""
    home = place / "home"
    home.mkdir()
    home.chmod(0o777)
    return Client(access_point, home)
