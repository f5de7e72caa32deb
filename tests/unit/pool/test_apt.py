"""What apt prints, taken apart."""

from __future__ import annotations

import pytest

from condor_pydagman.pool import apt
from condor_pydagman.pool.apt import Archive

DEPENDS = """\
condor
  Depends: adduser
  PreDepends: libc6
 |Depends: libcurl4t64
  Depends: libcurl3:i386
  Depends: <perl:any>
    perl
  Depends: zlib1g
patchelf
  Depends: libc6
"""


def test_archives_from_indextargets() -> None:
    text = "http://a/debian/ bookworm main\nhttp://a/debian/ bookworm main\nhttp://b/ stable\n"
    assert apt.parse_indextargets(text) == [Archive("http://a/debian/", "bookworm", "main")]


def test_no_archives_from_nothing() -> None:
    assert apt.parse_indextargets("") == []


def test_mirror_is_that_of_the_release_in_use() -> None:
    known = [
        Archive("http://vendor/apt", "nodistro", "main"),
        Archive("http://security/", "bookworm-security", "main"),
        Archive("http://mirror/debian/", "bookworm", "main"),
        Archive("http://mirror/debian/", "bookworm-updates", "main"),
        Archive("http://other/", "bookworm", "contrib"),
    ]
    assert apt.mirrors(known, "bookworm") == ["http://mirror/debian/"]


def test_mirror_of_a_system_without_code_name() -> None:
    assert apt.mirrors([Archive("http://m/", "sid", "main")], "") == ["http://m/"]


def test_no_mirror_among_strangers() -> None:
    assert apt.mirrors([Archive("http://vendor/", "nodistro", "main")], "bookworm") == []


def test_madison_gives_the_first_version() -> None:
    text = (
        "    condor | 25.14.1+dfsg-1 | http://m/debian unstable/main amd64 Packages\n"
        "    condor | 23.9.6+dfsg-2 | http://m/debian trixie/main amd64 Packages\n"
    )
    assert apt.parse_madison(text) == "25.14.1+dfsg-1"


def test_madison_of_a_source_package_only_is_no_version() -> None:
    assert apt.parse_madison("  condor | 25.14.1 | http://m/debian unstable/main Sources\n") == ""
    assert apt.parse_madison("") == ""


def test_depends_gives_real_packages_once() -> None:
    assert apt.parse_depends(DEPENDS) == ["adduser", "libc6", "libcurl4t64", "libcurl3", "zlib1g"]


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("libc6", True),
        ("zlib1g", True),
        ("libcurl4t64", True),
        ("libjs-jquery", False),
        ("libdate-manip-perl", False),
        ("python3", False),
    ],
)
def test_is_library(package: str, expected: bool) -> None:
    assert apt.is_library(package) is expected
