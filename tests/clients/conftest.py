"""The pool of the pool tests, for the clients; these tests only run when they are asked for.

They need what `run.sh` installs, and minutes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.client import Client
from tests.pool.access_point import AccessPoint
from tests.pool.conftest import access_point, place, work  # noqa: F401

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Leave these tests out unless an argument of pytest names this directory or a file in it."""
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
