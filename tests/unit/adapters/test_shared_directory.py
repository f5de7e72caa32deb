"""A directory that several processes and threads share."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from condor_pydagman.adapters.shared_directory import OPEN, SharedDirectory


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
    before = os.listdir("/proc/self/fd")
    shared = SharedDirectory(str(tmp_path), os.open(tmp_path, OPEN))
    del shared
    assert os.listdir("/proc/self/fd") == before
