"""A directory that several processes and threads share."""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from condor_pydagman.adapters import shared_directory
from condor_pydagman.adapters.shared_directory import OPEN, LiveFile, SharedDirectory
from tests.descriptors import descriptors


def test_threads_that_list_it_at_once_get_all_names(tmp_path: Path) -> None:
    """One position in the directory for all of them would have some get none, others each twice."""
    names = sorted(f"{number}" for number in range(40))
    for name in names:
        (tmp_path / name).touch()
    shared = SharedDirectory(str(tmp_path), os.open(tmp_path, OPEN))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: sorted(shared.names()), range(4000)))
    shared.close()
    assert [one for one in found if one != names] == []


def test_it_is_closed_with_the_object(tmp_path: Path) -> None:
    before = descriptors()
    shared = SharedDirectory(str(tmp_path), os.open(tmp_path, OPEN))
    del shared
    assert not descriptors() - before


def test_a_file_of_a_killed_process_can_be_read_by_others_when_it_is_used_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "x").touch(0o600)
    shared = SharedDirectory(str(tmp_path), os.open(tmp_path, OPEN))
    LiveFile(shared, "x", again=True).close()
    shared.close()
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    "owner, mode, is_shared, good",
    [
        *((0, 0o700, False, True), (0, 0o755, False, True), (1, 0o700, False, False)),
        *((-1, 0o700, False, False), (0, 0o720, False, False), (0, 0o1702, False, False)),
        *((1, 0o1777, True, True), (1, 0o755, True, True), (1, 0o1755, True, True)),
        *((0, 0o777, True, False), (0, 0o775, True, False), (0, 0o757, True, False)),
    ],
)
def test_who_may_write_to_it(owner: int, mode: int, is_shared: bool, good: bool) -> None:
    there = os.stat_result((mode, 0, 0, 0, os.geteuid() + owner, 0, 0, 0, 0, 0))
    with contextlib.nullcontext() if good else pytest.raises(PermissionError):
        shared_directory._check(there, is_shared)


def test_a_lock_that_is_not_there_is_made_for_who_wants_it(tmp_path: Path) -> None:
    shared = SharedDirectory(str(tmp_path), os.open(tmp_path, OPEN))
    with pytest.raises(FileNotFoundError):
        shared.try_lock("x")
    os.close(shared.try_lock("x", make=True))
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("owner, trusted", [(0, True), (41, False), (42, True), (43, False)])
def test_whose_directory_is_trusted(
    owner: int, trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = SharedDirectory(str(tmp_path), os.open(tmp_path, OPEN))
    monkeypatch.setattr(shared_directory, "_user_number", {"condor": 42}.get)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fstat", lambda _: os.stat_result((0, 0, 0, 0, owner, 0, 0, 0, 0, 0)))
        assert bool(shared_directory.distrusted(shared)) is not trusted
