"""A slice of the torture test of data placement: a DAG with DATA nodes, on a pool of its own.

The whole of it is a command: `python -m tests.torture.data`.
"""

from __future__ import annotations

from pathlib import Path

from tests.torture import data

SEED = 7
DISTURBANCES = 40


def test_every_file_is_made_once_and_right(place: Path) -> None:
    directory = place / "torture-data"
    directory.mkdir()
    with data.started(directory, SEED) as torture:
        torture.play(1, 16, lambda: torture.done >= DISTURBANCES)
    assert torture.wrong == []
    assert torture.done > 0
