"""Allocations and releases by modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Allocate, Release
from condor_pydagman.data_requests.space import space_module
from condor_pydagman.placement.site_modules import manage_space
from condor_pydagman.placement.way import Surroundings
from tests.placement.helpers import program, progress, surroundings

SAY = 'echo "$@" >> said'


def around(tmp_path: Path) -> Surroundings:
    return surroundings(tmp_path, module_directories=(str(tmp_path),))


def test_by_host_then_by_protocol(tmp_path: Path) -> None:
    place = around(tmp_path)
    asked = Allocate("srm://Bob:pw@Nest.example:81/x", "1", 100, 3600, arguments=("-v",))
    assert space_module(asked, [str(tmp_path)]) == ""
    names = ["stork.reserve.srm", "stork.allocate.srm", "stork.allocate.nest.example",
             "stork.allocate.nest.example:81"]  # fmt: skip
    for name in names:
        program(tmp_path / name, SAY)
        assert manage_space(asked, place, progress()) == f"module {name}"
    assert (tmp_path / "said").read_text().splitlines() == [
        "srm://Bob@nest.example:81/x 1 100 3600 -v"
    ] * len(names)


def test_hosts_directories_and_releases(tmp_path: Path) -> None:
    place = around(tmp_path)
    for name in ("release.nest", "release.file", "allocate.file"):
        program(tmp_path / f"stork.{name}", SAY)
    manage_space(Release("Nest", "7", arguments=("a",)), place, progress())
    manage_space(Release("/data/x", "8"), place, progress())
    manage_space(Allocate("/data/x", "9"), place, progress())
    assert (tmp_path / "said").read_text() == "Nest 7 a\n/data/x 8\n/data/x 9 0 0\n"
    assert space_module(Allocate("nest", "1"), [str(tmp_path)]) == ""


def test_faults(tmp_path: Path) -> None:
    place = around(tmp_path)
    path = program(tmp_path / "stork.release.nest", "echo full >&2; exit 69")
    asked = Release("nest:9", "7")
    with pytest.raises(Fault, match="exited with code 69: full") as caught:
        manage_space(asked, place, progress())
    assert (caught.value.kind, caught.value.host) == (FaultKind.SERVER, "nest:9")
    path.chmod(0o600)
    with pytest.raises(Fault, match="is not executable"):
        space_module(asked, [str(tmp_path)])
    path.unlink()
    with pytest.raises(Fault, match=r"there is no stork\.release\.nest:9 any more"):
        manage_space(asked, place, progress())
    with pytest.raises(Fault, match="dest_host: no host after srm"):
        space_module(Release("srm://", "7"), [])
