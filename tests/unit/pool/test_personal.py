"""Where a personal pool may live.  What it does there: tests/pool/test_pool_command.py."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import Pool, personal
from condor_pydagman.pool.privileges import Identity


def test_not_where_everybody_may_write(tmp_path: Path) -> None:
    place = tmp_path / "pool"
    place.mkdir()
    place.chmod(0o1777)
    with pytest.raises(PoolError, match="everybody may write to it"):
        Pool(place).start()
    assert os.listdir(place) == []
    with pytest.raises(PoolError, match=r"chmod.*then stop the pool"):
        Pool(place).stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another's directory")
def test_not_in_somebody_elses_directory(tmp_path: Path) -> None:
    place = tmp_path / "pool"
    place.mkdir()
    os.chown(place, 41002, 41002)
    with pytest.raises(PoolError, match="it belongs to user 41002"):
        Pool(place).start()
    assert os.listdir(place) == []


def test_only_what_daemons_write_is_given_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root writes beside it: whose directory that is could lead it anywhere with a link."""
    given: list[str] = []
    monkeypatch.setattr(
        os, "chown", lambda path, uid, gid, follow_symlinks: given.append(Path(path).name)
    )
    account = Identity("nobody", 65534, 65534, "account")
    monkeypatch.setattr(Identity, "can", lambda self, test, path: False)
    monkeypatch.setattr(personal, "identity", lambda: account)
    place = tmp_path / "pool"
    with pytest.raises(PoolError, match="can't use"):
        Pool(place).start()
    assert sorted(given) == ["execute", "home", "lock", "log", "private", "spool"]
    assert sorted(os.listdir(place)) == sorted([*given, "bin", "config.d"])


@pytest.mark.parametrize("name", ["log/.collector_address", "lock/master.pid"])
def test_links_and_pipes_of_the_daemons_account_are_not_read(tmp_path: Path, name: str) -> None:
    pool = Pool(tmp_path)
    planted = tmp_path / name
    planted.parent.mkdir()
    (tmp_path / "secret").write_text("1234\n")
    for make in (lambda: os.mkfifo(planted), lambda: planted.symlink_to(tmp_path / "secret")):
        make()
        assert pool.master() == 0
        assert pool._addresses() == {}
        planted.unlink()
