"""Facts of files for nodes with a CACHE command."""

from __future__ import annotations

import os
from pathlib import Path

from condor_pydagman.features.cache.adapters.file_states import CachedFiles


def fact(path: Path, checksum: bool = False) -> str:
    look = CachedFiles().look(str(path), checksum=checksum)
    assert bool(look.fact) != bool(look.problem)
    return look.fact or look.problem


def test_size_and_time_to_the_nanosecond(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("abc")
    os.utime(file, ns=(5, 1_000_000_007))
    assert fact(file) == "3 bytes of 1000000007"
    assert fact(file) == fact(file)


def test_a_checksum_does_not_change_with_the_time(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"a" * (3 << 20))
    first = fact(file, checksum=True)
    assert first.startswith("sha256 ")
    os.utime(file, ns=(5, 5))
    assert fact(file, checksum=True) == first
    file.write_bytes(b"b" * (3 << 20))
    assert fact(file, checksum=True) != first


def test_a_file_of_many_nodes_is_read_once(tmp_path: Path) -> None:
    file, files = tmp_path / "x", CachedFiles()
    file.write_text("abc")
    first = files.look(str(file), checksum=True)
    files._checksums = dict.fromkeys(files._checksums, "remembered")
    assert files.look(str(file), checksum=True).fact == "remembered" != first.fact
    file.write_text("abcd")
    assert files.look(str(file), checksum=True).fact.startswith("sha256 ")


def test_what_is_no_ordinary_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("link")
    for checksum in (False, True):
        assert fact(tmp_path / "no", checksum) == "is not there"
        assert fact(tmp_path, checksum) == "is a directory: name the files in it"
        assert fact(tmp_path / "fifo", checksum) == "is not a regular file"
        assert fact(Path("/dev/zero"), checksum) == "is not a regular file"
        assert fact(tmp_path / "link", checksum).startswith("can't be read: ")
        assert fact(tmp_path / "a$(x)", checksum) == "has a macro that no VARS of the node sets"
