"""Where a personal pool may live.  What it does there: tests/pool/test_pool_command.py."""

from __future__ import annotations

import errno
import os
import platform
import sys
import tempfile
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import Pool, configuration, personal
from condor_pydagman.pool.privileges import Identity
from tests.unit.pool import releases


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
    monkeypatch.setattr(personal, "identity", lambda *_: account)
    place = tmp_path / "pool"
    with pytest.raises(PoolError, match="can't use"):
        Pool(place).start()
    assert sorted(given) == ["execute", "home", "lock", "log", "private", "spool"]
    assert sorted(os.listdir(place)) == sorted([*given, "bin", "config.d"])


def test_another_system_is_told_what_a_pool_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(PoolError, match=r"no pool can run here\n(?s:.*)needs Linux"):
        Pool(tmp_path / "pool").start()
    assert not (tmp_path / "pool").exists()


def test_a_running_pool_does_not_pass_for_another_htcondor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, first, second = (tmp_path / name for name in ("pool", "first", "second"))
    for release in (first, second):
        releases.make(release)
    place.mkdir()
    (place / "release").write_text(f"{first}\n")
    monkeypatch.setattr(Pool, "master", lambda self: 4242)
    monkeypatch.setattr(Pool, "_await_ready", lambda self, deadline: None)
    monkeypatch.setattr(Identity, "can", lambda self, test, path: True)
    assert Pool(place).start(release=first) is False
    assert Pool(place).start() is False
    with pytest.raises(PoolError, match=f"runs the HTCondor in {first}; stop it first"):
        Pool(place).start(release=second)


def test_a_full_disk_is_told_with_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel names no file if it is a write that fails."""

    place, sockets = tmp_path / "pool", list[Path]()

    def fail(*words: object) -> str:
        sockets.append(Path((place / "sockets").read_text().strip()))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(configuration, "render", fail)
    monkeypatch.setattr(Identity, "can", lambda self, test, path: True)
    with pytest.raises(PoolError, match=f"{place}: No space left on device; choose another"):
        Pool(place).start(release=releases.make(tmp_path / "release"))
    (kept,) = sockets
    assert not kept.exists()
    (place / "release").write_text("")
    with pytest.raises(PoolError, match="there is no pool in"):
        Pool(place).environment()


def test_a_pipe_in_place_of_the_directory_of_sockets_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It was below /tmp, where everybody may take its name after a restart of the machine."""
    planted = Path(tempfile.mkdtemp(prefix="pydag"))
    planted.rmdir()
    os.mkfifo(planted)
    try:
        (tmp_path / "sockets").write_text(str(planted))
        Pool(tmp_path)._clear()
        assert planted.exists()
    finally:
        planted.unlink()


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
