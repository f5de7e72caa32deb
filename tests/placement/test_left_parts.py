"""What interrupted transfers have left is removed, and nothing else."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement import left_parts
from condor_pydagman.placement.endpoints.endpoint import Entry
from condor_pydagman.placement.endpoints.http_files import HttpFiles
from condor_pydagman.placement.left_parts import Place, place_of_transfer, remove_parts
from condor_pydagman.placement.local_part import local_part
from condor_pydagman.placement.stream_copy import partial_name
from condor_pydagman.placement.way import Surroundings
from tests.placement import helpers
from tests.servers.faulty_http import FaultyServer

SOURCE = parse_url("http://h/a")


def part(name: str) -> str:
    return partial_name(SOURCE, "1", name)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.placement.left_parts.LOOK_AGAIN_S", 0.0)


def removed(place: Place, directory: Path) -> list[str]:
    said: list[str] = []
    settings = Settings(directory=str(directory / "shared"))
    remove_parts(place, Surroundings(settings, {}, str(directory), said.append))
    return said


def test_parts_of_one_file(tmp_path: Path) -> None:
    long = "ü" * 120
    kept = [part("other"), "b", ".b.txt.part", ".b.12345678.part.bak"]
    for name in (part("b"), part(long), *kept):
        (tmp_path / name).write_text("x")
    for name in ("b", long):
        place = place_of_transfer(helpers.transfer("http://h/a", tmp_path / name))
        assert removed(place, tmp_path) == [f"removed: {tmp_path / part(name)}"]
    assert {path.name for path in tmp_path.iterdir()} == set(kept)


def test_parts_of_a_directory(tmp_path: Path) -> None:
    for name in ("to/d", "to/e"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / part("b")).write_text("x")
    place = place_of_transfer(helpers.transfer("http://h/a/", f"{tmp_path}/to/"))
    assert len(removed(place, tmp_path)) == 2
    (tmp_path / "to/d" / part("b")).write_text("x")
    assert removed(Place(parse_url(f"{tmp_path}/to/")), tmp_path) == [], "only what is in it"


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    path = tmp_path / part("b")
    path.write_text("x")
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (line,) = removed(Place(parse_url(f"{tmp_path}/")), tmp_path)
    assert line == f"left alone, as it may be in use: {path}"
    assert path.exists()


def test_what_modules_have_left(tmp_path: Path, surroundings: Surroundings) -> None:
    final = str(tmp_path / "b")
    with local_part(SOURCE, final, surroundings, helpers.progress()) as busy:
        Path(busy.path).write_text("x")
        (line,) = removed(Place(parse_url(f"{tmp_path}/")), tmp_path)
        assert "in use" in line
        left = os.path.dirname(os.path.dirname(busy.path))
    os.makedirs(f"{left}/new", 0o700)
    os.chmod(left, 0o700)
    Path(f"{left}/new/b").write_text("x")
    assert removed(Place(parse_url(f"{tmp_path}/")), tmp_path) == [f"removed: {left}"]
    assert not os.path.exists(left)


@pytest.mark.parametrize("busy", [False, True])
def test_parts_at_a_server(
    server: FaultyServer, tmp_path: Path, busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files.update({f"/d/{part('b')}": b"x", "/d/b": b"y"})
    if busy:
        monkeypatch.setattr(
            "condor_pydagman.adapters.shared_directory.SharedDirectory.try_lock",
            lambda *_, **__: -1,
        )
    said = removed(Place(parse_url(server.url("/d/"))), tmp_path)
    assert len(said) == 1
    expected: dict[str, Any] = {"/d/b"} if not busy else {"/d/b", f"/d/{part('b')}"}
    assert set(server.files) == expected


def test_a_part_that_grows_at_a_server_stays(
    server: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another access point writes it; its locks are not seen here."""
    grows, stands = f"/d/{part('b')}", f"/d/{part('c')}"
    server.files.update({grows: b"x", stands: b"x"})
    monkeypatch.setattr("time.sleep", lambda _: server.files.update({grows: b"xx"}))
    said = removed(Place(parse_url(server.url("/d/"))), tmp_path)
    assert sorted(line.split(":")[0] for line in said) == [
        "left alone, as it may be in use",
        "removed",
    ]
    assert list(server.files) == [grows]


@pytest.mark.parametrize(
    ("version", "age"),
    [
        ("1000000000.5", 100.0),
        ("20010909014640", 100.0),
        ("20010909014640.12", 100.0),
        ("Sun, 09 Sep 2001 01:46:40 GMT", 100.0),
        ('"1a, 2b"', None),
        ("20019999014640", None),
        ('"abc"', None),
        ("", None),
    ],
)
def test_the_age_that_a_server_tells(
    version: str, age: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000_100.0)
    entry = Entry("", 5, version=version)
    assert left_parts._age(entry) == age
    assert left_parts._is_old(entry) == (age is None)
    monkeypatch.setattr("time.time", lambda: 1_000_000_300.0)
    assert left_parts._is_old(entry)
    assert not left_parts._is_old(Entry("", None)), "nothing would tell of a change"


@pytest.fixture
def listing(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the server list these paths."""

    def lists(*paths: str) -> None:
        entries = [Entry(path, 1) for path in paths]
        monkeypatch.setattr(HttpFiles, "files_below", lambda *_, **__: iter(entries))

    return lists


@pytest.mark.parametrize("outside", [f"../{part('b')}", f"/d/{part('b')}", f"e/../{part('b')}"])
def test_a_server_that_lists_what_is_outside(
    server: FaultyServer, tmp_path: Path, outside: str, listing: Callable[..., None]
) -> None:
    inside = f"/d/{part('b')}"
    server.files.update({inside: b"x", f"/{part('b')}": b"x"})
    listing(part("b"), outside)
    with pytest.raises(Fault, match="outside of it"):
        removed(Place(parse_url(server.url("/d/"))), tmp_path)
    assert len(server.files) == 2


def test_a_server_that_lists_directories_below(
    server: FaultyServer, tmp_path: Path, listing: Callable[..., None]
) -> None:
    server.files[f"/d/e/{part('b')}"] = b"x"
    listing(f"e/{part('b')}")
    directory = parse_url(server.url("/d/"))
    assert removed(Place(directory), tmp_path) == []
    assert len(removed(Place(directory, is_deep=True), tmp_path)) == 1
    assert not server.files


def test_what_is_no_file_stays(work_directory: Path) -> None:
    link, pipe, kept, last = (part(name) for name in ("link", "pipe", "socket", "z"))
    os.symlink("/nowhere", link)
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(kept)
    Path(last).write_text("x")
    said = removed(Place(parse_url(f"{work_directory}/")), work_directory)
    assert sorted(said) == [
        *(f"left alone, as it is no file: {work_directory}/{name}" for name in (link, pipe, kept)),
        f"removed: {work_directory}/{last}",
    ]


def test_a_program_that_runs_stays(tmp_path: Path) -> None:
    program, other = tmp_path / part("b"), tmp_path / part("c")
    shutil.copy("/bin/sleep", program)
    other.write_text("x")
    with subprocess.Popen(["sleep", "1000"], executable=program) as running:
        said = removed(Place(parse_url(f"{tmp_path}/")), tmp_path)
        running.kill()
    expected = [f"left alone, as it may be in use: {program}", f"removed: {other}"]
    assert sorted(said) == expected


def test_names_are_printable(tmp_path: Path) -> None:
    (tmp_path / part("a\nb")).write_text("x")
    (line,) = removed(Place(parse_url(f"{tmp_path}/")), tmp_path)
    assert "a\\x0ab" in line
    assert "\n" not in line
