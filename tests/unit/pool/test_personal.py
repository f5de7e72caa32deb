"""Where a personal pool may live.  What it does there: tests/pool/test_pool_command.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import Pool


def test_not_where_everybody_may_write(tmp_path: Path) -> None:
    place = tmp_path / "pool"
    place.mkdir()
    place.chmod(0o1777)
    with pytest.raises(PoolError, match="everybody may write to it"):
        Pool(place).start()
    assert os.listdir(place) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another's directory")
def test_not_in_somebody_elses_directory(tmp_path: Path) -> None:
    place = tmp_path / "pool"
    place.mkdir()
    os.chown(place, 41002, 41002)
    with pytest.raises(PoolError, match="it belongs to user 41002"):
        Pool(place).start()
    assert os.listdir(place) == []
