"""Slices of the torture test (tests/torture): some DAGs, killed and starved on this pool, and DAGs
with everything at once on a pool of their own, with another seed each time.

The whole of it is a command: `python -m tests.torture.run`.
"""

from __future__ import annotations

import secrets
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.pool.access_point import OURS, AccessPoint
from tests.torture import run
from tests.torture.disturbances import DISTURBANCES
from tests.torture.judge import BAD
from tests.torture.play import PlannedRun, Player, Settings
from tests.torture.world import World

SLICE = ("kill", "points", "submits", "files", "remove", "truncate", "stranger")


@pytest.fixture(scope="module")
def records(
    access_point: AccessPoint, place: Path, request: pytest.FixtureRequest
) -> dict[str, dict[str, Any]]:
    """What came of each run; all are played at once."""
    world = World(access_point, place / "torture")
    player = Player(
        world,
        Settings(7, stop_seconds=2, keep=True, max_disturbances=3, max_size=22),
    )
    with ThreadPoolExecutor(len(SLICE)) as threads:
        runs = [PlannedRun(number, name, OURS) for number, name in enumerate(SLICE)]
        return dict(zip(SLICE, threads.map(player.play, runs)))


@pytest.mark.parametrize("disturbance", SLICE)
def test_nothing_runs_twice_and_nothing_is_lost(
    records: dict[str, dict[str, Any]], disturbance: str
) -> None:
    record = records[disturbance]
    assert DISTURBANCES[disturbance].to_all is None
    bad = {word: record[word] for word in BAD}
    assert not any(bad.values()), bad
    assert record["jobs"] > 0


@pytest.mark.long
def test_everything_at_once(place: Path) -> None:
    words = ["--only", "everything", "--kills", "20", "--at-once", "3"]
    words += ["--seed", str(secrets.randbelow(1_000_000))]
    print("python -m tests.torture.run", *words)
    assert run.main([*words, "--dir", str(place / "torture-everything")]) == 0
