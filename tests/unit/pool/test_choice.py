"""Which HTCondor a pool runs: the one that is named, else an installed one, else a fetched one."""

from __future__ import annotations

import os
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import choice, fetch, release_tree
from condor_pydagman.pool.release_tree import Layout
from tests.unit.pool import releases


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without HTCondor, where none can be fetched."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("CONDOR_CONFIG", "/dev/null")
    monkeypatch.setattr(release_tree, "USUAL_SBIN", ())

    def refuse(cache: Path, say: object) -> Layout:
        raise PoolError("none can be fetched", transient=False)

    monkeypatch.setattr(fetch, "fetch", refuse)


def pack(release: Path, archive: Path) -> Path:
    with tarfile.open(archive, "w:gz") as stream:
        stream.add(release, release.name)
    return archive


def find(tmp_path: Path, named: Path | None = None) -> Layout:
    return choice.find(tmp_path / "cache", print, named)


def test_none(tmp_path: Path) -> None:
    with pytest.raises(PoolError, match="none can be fetched"):
        find(tmp_path)


def test_an_installed_one_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = releases.make(tmp_path / "installed")
    monkeypatch.setenv("PATH", f"{release}/sbin:/usr/bin:/bin")
    assert find(tmp_path).release == release


def test_the_one_of_the_configuration_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who installed a tarball without changing PATH has told only the configuration."""
    release = releases.make(tmp_path / "from_tarball")
    configuration = tmp_path / "condor_config"
    configuration.write_text(f"RELEASE_DIR = {release}\n")
    monkeypatch.setenv("CONDOR_CONFIG", str(configuration))
    assert find(tmp_path).release == release


def test_an_old_one_is_named_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    release = releases.make(tmp_path / "old", "23.9.6")
    monkeypatch.setenv("PATH", f"{release}/sbin:/usr/bin:/bin")
    with pytest.raises(PoolError, match="none can be fetched"):
        find(tmp_path)
    assert f"{release}/sbin/condor_master: HTCondor 23.9.6 is too old" in capsys.readouterr().out


@pytest.mark.parametrize("below", ["", "usr", "condor-25.14.1-1-x86_64"])
def test_a_directory_that_is_named(tmp_path: Path, below: str) -> None:
    """The release itself, a root of unpacked packages, or what a tarball was unpacked into."""
    release = releases.make(tmp_path / "named" / below)
    assert find(tmp_path, tmp_path / "named").release == release


def test_the_named_one_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = releases.make(tmp_path / "installed")
    monkeypatch.setenv("PATH", f"{installed}/sbin:/usr/bin:/bin")
    named = releases.make(tmp_path / "named")
    assert find(tmp_path, named).release == named


def test_a_tarball_is_unpacked_once(tmp_path: Path) -> None:
    archive = pack(releases.make(tmp_path / "condor-25.14.1"), tmp_path / "condor.tar.gz")
    first = find(tmp_path, archive).release
    assert first.is_relative_to(tmp_path / "cache")
    assert first.name == "condor-25.14.1"
    made = first.stat().st_mtime_ns
    moved = archive.rename(tmp_path / "other.tar.gz")
    assert find(tmp_path, moved).release == first
    assert first.stat().st_mtime_ns == made
    assert len(list(first.parent.parent.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent", r"absent: there is no such directory or tarball"),
        ("empty", r"empty: there is no HTCondor in it: no sbin/condor_master"),
        ("no.tar.gz", r"no\.tar\.gz: tar .* failed:(?s:.*)not in gzip format"),
        ("cv.tar.gz", r"cv\.tar\.gz: there is no HTCondor in it"),
        ("old", r"old.*HTCondor 23\.9\.6 is too old: 24\.12 or newer is needed"),
        ("mute", r"mute.*condor_version does not run here.*another system or processor"),
        ("garbled", r"garbled.*condor_version does not run here"),
        ("pipe", r"pipe: it is neither a directory nor a tarball"),
        ("file/x", r"file/x: there is no such directory or tarball"),
        ("a:b.tar", r"a:b\.tar: tar .* failed:(?s:.*)not look like a tar(?s:.*)download it again"),
        ("pipes.tar.gz", r"pipes\.tar\.gz: pipe in it is a device or a pipe"),
        ("a b", r"a b: .*/a b: HTCondor can't work in a path with ' ' in it; move it"),
    ],
)
def test_a_named_one_that_is_none(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.tar.gz").write_text("hello\n")
    pack(tmp_path / "empty", tmp_path / "cv.tar.gz")
    releases.make(tmp_path / "old", "23.9.6")
    says = releases.make(tmp_path / "garbled") / "bin/condor_version"
    says.write_bytes(b"#!/bin/sh\necho '\xff'\n")
    (tmp_path / "file").touch()
    (tmp_path / "a:b.tar").write_text("hello\n")
    os.mkfifo(tmp_path / "pipe")
    pack(tmp_path / "pipe", tmp_path / "pipes.tar.gz")
    releases.make(tmp_path / "a b")
    (releases.make(tmp_path / "mute") / "bin/condor_version").write_text("#!/no/such/program\n")
    with pytest.raises(PoolError, match=message):
        find(tmp_path, tmp_path / name)
    left = tmp_path / "cache" / choice.UNPACKED
    assert not left.exists() or list(left.iterdir()) == []


def test_what_is_unpacked_is_used_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = pack(releases.make(tmp_path / "condor-25.14.1"), tmp_path / "condor.tar.gz")
    found = find(tmp_path, archive)
    monkeypatch.delattr(fetch, "alone")
    assert find(tmp_path, archive) == found


def test_what_a_killed_process_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "cache" / choice.UNPACKED / "part").mkdir(parents=True)
    archive = pack(releases.make(tmp_path / "condor-25.14.1"), tmp_path / "condor.tar.gz")
    assert find(tmp_path, archive).release.name == "condor-25.14.1"


def test_no_file_of_a_tarball_changes_the_user(tmp_path: Path) -> None:
    """Who unpacks as root would give such a file to root."""
    release = releases.make(tmp_path / "condor-25.14.1")
    (release / "sbin/condor_master").chmod(0o6755)
    found = find(tmp_path, pack(release, tmp_path / "condor.tar.gz"))
    assert stat.S_IMODE(found.master.stat().st_mode) & 0o6000 == 0


def test_a_cache_that_others_can_change_is_not_used(tmp_path: Path) -> None:
    archive = pack(releases.make(tmp_path / "condor-25.14.1"), tmp_path / "condor.tar.gz")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    with pytest.raises(PoolError, match="everybody may write to it"):
        find(tmp_path, archive)


def test_a_configuration_that_cannot_be_read_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("python", 30)

    monkeypatch.setattr(subprocess, "run", fail)
    assert choice.of_configuration() == []
