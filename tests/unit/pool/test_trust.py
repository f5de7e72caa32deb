"""Whether what is run from a directory was put there by the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import trust


@pytest.fixture
def nested_directory(tmp_path: Path) -> Path:
    directory = tmp_path / "a/b/c"
    directory.mkdir(parents=True)
    return directory


def test_the_user_s_own(nested_directory: Path) -> None:
    trust.refuse_others(nested_directory, "go")
    nested_directory.chmod(0o775)  # a group is trusted
    trust.refuse_others(nested_directory, "go")


@pytest.mark.parametrize(
    ("where", "mode", "fine"),
    [
        (".", 0o777, False),
        (".", 0o1777, False),
        ("..", 0o777, False),
        ("..", 0o1777, True),
        ("../..", 0o757, False),
    ],
)
def test_what_is_open_to_all(nested_directory: Path, where: str, mode: int, fine: bool) -> None:
    (nested_directory / where).chmod(mode)
    if fine:
        trust.refuse_others(nested_directory, "go")
    else:
        with pytest.raises(PoolError, match=r"everybody may write to it.*; go"):
            trust.refuse_others(nested_directory, "go")


@pytest.mark.parametrize("where", ["a", "a/b", "a/b/c"])
def test_what_is_another_s(
    nested_directory: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (tmp_path / where).lstat().st_ino
    real = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        found = real(path)
        changed = [*found[:4], 41002, *found[5:]] if found.st_ino == other else found
        return os.stat_result(changed)

    monkeypatch.setattr(Path, "lstat", lstat)
    with pytest.raises(PoolError, match="belongs to user 41002"):
        trust.refuse_others(nested_directory, "go")


def test_links_are_followed_and_what_they_lead_to_is_looked_at(
    nested_directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "x").symlink_to("a/../a/b")
    (tmp_path / "y").symlink_to(tmp_path / "x")
    trust.refuse_others(tmp_path / "y" / "c", "go")
    nested_directory.parent.chmod(0o777)
    with pytest.raises(PoolError, match=r"/a/b: everybody may write"):
        trust.refuse_others(tmp_path / "y" / "c", "go")


def test_links_in_a_ring(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(PoolError, match="too many symbolic links"):
        trust.refuse_others(tmp_path / "a", "go")
