"""A slice of the torture test of sites: some DAGs that share sites, on a pool of its own.

The whole of it is a command: `python -m tests.torture.sites`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.torture import site_world, sites

DAGS = 2


def test_groups_keep_their_sites_and_nothing_is_lost(place: Path) -> None:
    directory = place / "torture-sites"
    directory.mkdir()
    with site_world.started(directory, Random("a slice")) as world:
        numbers = iter(range(1, DAGS + 1))
        tally = sites.play(world, directory, "a slice", numbers, seconds=4.0, at_once=DAGS)
    assert tally.wrong == []
    assert tally.dags == DAGS
    assert tally.matches > 0
    assert tally.kills or tally.steps
