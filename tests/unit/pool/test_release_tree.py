"""Finding the parts of an HTCondor release."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import release_tree

DEBIAN = [
    "bin/condor_submit",
    "sbin/condor_master",
    "lib/condor/x",
    "libexec/condor/condor_shared_port",
    "share/condor/x",
]
RPM = [
    "bin/condor_submit",
    "sbin/condor_master",
    "lib/x",
    "lib64/condor/x",
    "libexec/condor/condor_shared_port",
    "share/condor/x",
]
TARBALL = ["bin/condor_submit", "sbin/condor_master", "lib/x", "libexec/condor_shared_port"]


def make(release: Path, files: list[str]) -> Path:
    for name in files:
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).touch(mode=0o755)
    return release


@pytest.mark.parametrize(
    ("files", "lib", "libexec"),
    [
        (DEBIAN, "lib/condor", "libexec/condor"),
        (RPM, "lib64/condor", "libexec/condor"),
        ([*TARBALL, "share/x"], "lib", "libexec"),
    ],
)
def test_layouts(tmp_path: Path, files: list[str], lib: str, libexec: str) -> None:
    found = release_tree.detect(make(tmp_path, files))
    assert (found.lib, found.libexec) == (tmp_path / lib, tmp_path / libexec)
    assert found.master == tmp_path / "sbin/condor_master"


def test_merged_sbin(tmp_path: Path) -> None:
    files = [name.replace("sbin/", "bin/") for name in RPM]
    assert release_tree.detect(make(tmp_path, files)).master == tmp_path / "bin/condor_master"


@pytest.mark.parametrize("missing", ["bin/condor_submit", "libexec/condor/condor_shared_port"])
def test_an_incomplete_release_is_refused(tmp_path: Path, missing: str) -> None:
    make(tmp_path, [name for name in RPM if name != missing])
    with pytest.raises(PoolError, match=missing):
        release_tree.detect(tmp_path)


def test_masters_on_path_come_first_with_links_resolved(tmp_path: Path) -> None:
    make(tmp_path / "real", RPM)
    (tmp_path / "links").mkdir()
    (tmp_path / "links/condor_master").symlink_to(tmp_path / "real/sbin/condor_master")
    assert release_tree.masters(str(tmp_path / "links"))[0] == tmp_path / "real/sbin/condor_master"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$CondorVersion: 25.14.1 2026-10-16 PackageID: x $\n$CondorPlatform: X $", (25, 14, 1)),
        ("$CondorVersion: 9.0.17 Oct 04 2022 $", (9, 0, 17)),
        ("condor_version: not found", None),
        ("", None),
    ],
)
def test_version(text: str, expected: tuple[int, int, int] | None) -> None:
    assert release_tree.parse_version(text) == expected
