"""A slice of the torture tests of data placement: DAGs with DATA nodes, on pools of their own.

The whole of it are commands: `python -m tests.torture.data`, `python -m tests.torture.data_sites`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture import data, data_sites
from tests.torture.data_sites import DAGMAN, HELPERS, WORKERS

SEED = 7
DISTURBANCES = 40


def test_every_file_is_made_once_and_right(place: Path) -> None:
    directory = place / "torture-data"
    directory.mkdir()
    with data.started(directory, SEED) as torture:
        torture.play(1, 16, lambda: torture.done >= DISTURBANCES)
    assert torture.wrong == []
    assert torture.done > 0


@pytest.mark.parametrize("kills", [(HELPERS, WORKERS), (HELPERS, WORKERS, DAGMAN)], ids=len)
def test_two_dags_share_sites_whatever_is_killed(place: Path, kills: tuple[str, ...]) -> None:
    directory = place / f"torture-data-sites-{len(kills)}"
    directory.mkdir()
    with data_sites.started(directory, SEED, kills) as torture:
        torture.play(8)
    assert torture.wrong == []
    assert torture.kills
    assert any(one.contested for one in torture.watch.grants)
