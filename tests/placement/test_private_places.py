"""Directories for one user alone: what is refused, and what killed processes have left."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from condor_pydagman.placement import private_places
from condor_pydagman.placement.private_places import locked, make_private, scratch_directory
from tests.installation import CHECKOUT


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def place(tmp_path: Path) -> Path:
    return tmp_path / f"condor_pydagman-x-{os.geteuid()}"


def test_a_scratch_directory_goes_again(tmp_path: Path) -> None:
    with scratch_directory("x") as first, scratch_directory("x") as second:
        assert first != second
        assert os.path.dirname(first) == str(place(tmp_path))
        assert os.stat(first).st_mode & 0o777 == 0o700
    assert os.listdir(place(tmp_path)) == ["lock"]


def test_what_a_killed_process_has_left_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, signal, tempfile\n"
        f"tempfile.tempdir = {str(tmp_path)!r}\n"
        "from condor_pydagman.placement.private_places import scratch_directory\n"
        "with scratch_directory('x') as directory:\n"
        "    open(directory + '/secret', 'w').write('password')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, check=False)
    assert list(tmp_path.rglob("secret"))
    with scratch_directory("x"), scratch_directory("x"):
        assert not list(tmp_path.rglob("secret"))


@pytest.mark.parametrize("kind", ["link", "file", "open"])
def test_a_name_that_is_somebody_elses(tmp_path: Path, kind: str) -> None:
    (tmp_path / "trap").mkdir()
    if kind == "link":
        place(tmp_path).symlink_to("trap")
    elif kind == "file":
        place(tmp_path).write_text("")
    else:
        place(tmp_path).mkdir()
        place(tmp_path).chmod(0o777)
    with pytest.raises(PermissionError, match="only its user may enter"):
        make_private(str(place(tmp_path)))
    with scratch_directory("x") as directory:
        assert os.path.dirname(directory) == str(tmp_path)
    assert os.listdir(tmp_path / "trap") == []


def test_a_lock_is_one_holders(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    fd = locked(path)
    assert fd is not None
    assert locked(path) is None
    os.close(fd)
    (tmp_path / "link").symlink_to("lock")
    with pytest.raises(OSError, match="symbolic"):
        private_places.locked(str(tmp_path / "link"))
