"""The shared directory is checked before it is used; what is not safe is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.adapters import shared_directory
from condor_pydagman.placement.faults import Fault
from condor_pydagman.transfer import placement_directory
from condor_pydagman.transfer.placement_directory import open_shared, private_directory


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(placement_directory, "DEFAULT", str(tmp_path / "default"))
    monkeypatch.setattr(shared_directory, "_MAKING_S", 0.05)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def opened(path: Path | str) -> tuple[str, list[str]]:
    said: list[str] = []
    directory = open_shared(str(path), said.append)
    directory.close()
    return directory.path, said


def test_the_first_worker_makes_the_default(home: Path) -> None:
    old = os.umask(0o077)
    try:
        assert opened("") == (str(home / "default"), [])
    finally:
        os.umask(old)
    assert (home / "default").stat().st_mode & 0o7777 == 0o1777


def test_one_whose_maker_was_killed_is_completed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_directory, "_MAKING_S", 3600.0)  # by oneself it is not waited for
    (home / "default").mkdir(mode=0o700)
    assert opened("") == (str(home / "default"), [])
    assert (home / "default").stat().st_mode & 0o7777 == 0o1777


@pytest.mark.parametrize("kind", ["link", "file", "fifo", "open to all", "open to the group"])
def test_an_unsafe_one_is_not_used(home: Path, kind: str) -> None:
    path = home / "it"
    if kind == "link":
        (home / "real").mkdir()
        path.symlink_to(home / "real")
    elif kind == "file":
        path.touch()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
        path.chmod(0o777 if kind == "open to all" else 0o770)
    used, said = opened(path)
    assert used == f"{home}/default.{os.geteuid()}"
    assert "hold only for this user" in said[0]
    assert os.stat(used).st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_that_of_another_user_is_used_only_by_default(home: Path) -> None:
    for name in ("default", "configured"):
        (home / name).mkdir()
        os.chown(home / name, 65534, -1)
        (home / name).chmod(0o1777)
    used, said = opened("")
    assert used == str(home / "default")
    assert "could remove files of others in it" in said[0]
    assert opened(home / "configured")[0] == f"{home}/default.0"


def test_without_any_place_it_is_a_fault(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "none"))
    monkeypatch.setattr(placement_directory, "DEFAULT", str(home / "none" / "default"))
    with pytest.raises(Fault, match="no directory to keep limits in"):
        opened("")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_the_usual_private_name_may_be_taken(home: Path) -> None:
    shared = open_shared("", [].append)
    taken = Path(shared.path) / "own.0"
    taken.mkdir()
    os.chown(taken, 65534, -1)
    first, again = private_directory(shared), private_directory(shared)
    assert first.path == again.path
    assert first.path.startswith(f"{shared.path}/own.0.")
