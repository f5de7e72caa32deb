"""The command lines of `tests/pool/test_submit_files.py` without a pool: ours beside what is
recorded of stock."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.pool import privileges
from tests.installation import CHECKOUT
from tests.pool import test_submit_files as on_pool
from tests.pool.access_point import OURS
from tests.pool.stock import Stock

STOCK = Stock("submit_files")
USUAL = on_pool.Usual(*STOCK("the usual output and submit file", tuple))


@pytest.fixture(scope="module")
def results(run_directory: Path) -> list[on_pool.Result]:
    """What each command line does, as a user who is not root."""
    pool = run_directory / "submit_command_lines" / "pool"
    pool.mkdir(parents=True)
    configuration = pool / "condor_config"
    configuration.write_text(f"LOCAL_CONFIG_DIR =\nSPOOL = {pool}/spool\n")
    access_point: Any = SimpleNamespace(
        environment={"PATH": "/usr/bin:/bin", "CONDOR_CONFIG": str(configuration)},
        pool=SimpleNamespace(directory=pool, command=privileges.identity().command),
        which=lambda command, ours: str(CHECKOUT / "scripts" / command),
    )
    return on_pool.run_all(access_point, pool.parent / "home", on_pool.LINES, OURS)


@pytest.mark.parametrize("title", dict.fromkeys(line.title for line in on_pool.LINES))
def test_command_lines(results: list[on_pool.Result], title: str) -> None:
    for line, ours in zip(on_pool.LINES, results):
        if line.title == title:
            on_pool.check(STOCK, line, ours, USUAL)


def test_an_error_changes_nothing(results: list[on_pool.Result]) -> None:
    """What was there is as it was when ours has ended with an error, and nothing else is there.

    Sub-DAGs are prepared before what is around them is looked at.
    """
    for line, ours in zip(on_pool.LINES, results):
        made = {name: text for name, text in ours.files.items() if name not in ours.before}
        if line.title == "sub-DAGs":
            made = {name: text for name, text in made.items() if not name.endswith(".condor.sub")}
        if ours.code:
            left = {name: ours.files.get(name) for name in ours.before}
            assert left == ours.before, f"{line.title}: {line.text}"
            assert made == {}, f"{line.title}: {line.text}"
