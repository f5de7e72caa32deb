"""What becomes of uploads at http servers: looked at, moved, and seen late."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement import waits
from tests.placement.helpers import Moves
from tests.servers.faulty_http import FaultyServer, Wrong

DATA = os.urandom(300_000)


@pytest.mark.parametrize("removal", [0, 403], ids=["removed", "its removal is refused"])
@pytest.mark.usefixtures("impatient")
def test_what_a_server_keeps_of_an_upload_is_compared(
    move: Moves, server: FaultyServer, tmp_path: Path, removal: int
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.is_dav = False
    server.fail("/b", Wrong(), Wrong(length=len(DATA) - 1), Wrong(status=removal))
    with pytest.raises(Fault, match="has 299999 bytes, 300000 were written") as error:
        move(tmp_path / "a", server.url("/b"))
    assert error.value.kind is FaultKind.MISMATCH
    assert list(server.files) == ["/b"] * bool(removal)


@pytest.mark.parametrize("seen", [Wrong(length=5), Wrong(status=404)], ids=["older", "nothing"])
@pytest.mark.parametrize("is_dav", [False, True], ids=["put", "put and moved"])
def test_an_upload_that_its_server_shows_late(
    move: Moves,
    server: FaultyServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seen: Wrong,
    *,
    is_dav: bool,
) -> None:
    monkeypatch.setattr(waits, "FIRST_PAUSE_S", 0.01)
    (tmp_path / "a").write_bytes(DATA)
    server.is_dav = is_dav
    said: list[str] = []
    move.around = move.around._replace(say=said.append)
    server.fail("/b", *[Wrong()] * (not is_dav), *[seen] * 3)
    move(tmp_path / "a", server.url("/b"))
    assert server.files == {"/b": DATA}
    assert [method for method, _, _ in server.requests].count("PUT") == 1
    assert said[0] == f"waits for {server.place} to show all of {server.url('/b')}"
    assert said[1].startswith("has waited")


@pytest.mark.parametrize("before", [None, b"other"], ids=["nothing there", "another file there"])
@pytest.mark.parametrize("scheme", ["http", "dav"])
@pytest.mark.usefixtures("impatient")
def test_a_server_that_only_says_that_it_has_moved_a_file(
    move: Moves, server: FaultyServer, tmp_path: Path, scheme: str, before: bytes | None
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    if before is not None:
        server.files["/b"] = before
    temporary: list[str] = []

    class Once(dict[str, list[Wrong]]):
        def get(self, path: str, default: Any = None) -> Any:
            if path.endswith(".part") and server.requests[-1][0] == "MOVE" and not temporary:
                temporary.append(path)
                return [Wrong(status=201)]
            return super().get(path, default)

    server._wrong = Once()
    there = "is not there" if before is None else "has 5 bytes"
    with pytest.raises(Fault, match=f"has moved a file to .*/b, which {there}") as error:
        move(tmp_path / "a", server.url("/b", scheme))
    assert (error.value.kind, error.value.transient) == (FaultKind.MISMATCH, True)
    move(tmp_path / "a", server.url("/b", scheme))
    assert server.files["/b"] == DATA


@pytest.mark.parametrize("copies", [False, True], ids=["put", "copied by the server"])
@pytest.mark.parametrize("status", [400, 404, 405, 501])
@pytest.mark.parametrize("scheme", ["http", "dav"])
def test_a_server_that_does_not_rename(
    move: Moves, server: FaultyServer, tmp_path: Path, scheme: str, status: int, *, copies: bool
) -> None:
    """It says so too late for the first file only."""
    (tmp_path / "a").write_bytes(DATA)
    server.files["/a"] = DATA
    server.move_status = status
    said: list[str] = []
    move.around = move.around._replace(say=said.append)
    for name in ("/b", "/c"):
        move(server.url("/a", scheme) if copies else tmp_path / "a", server.url(name, scheme))
    assert server.files == dict.fromkeys(("/a", "/b", "/c"), DATA)
    assert [method for method, _, _ in server.requests].count("MOVE") == 1
    assert said == [f"{server.place} can't rename: files have their final names at once"]


def test_a_webdav_server_that_tells_that_it_does_not_rename(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.is_dav = False
    move(tmp_path / "a", server.url("/b", "dav"))
    assert [path for method, path, _ in server.requests if method == "PUT"] == ["/b"]


def test_a_webdav_server_whose_root_leads_elsewhere(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.fail("/", Wrong(status=301, headers=(("Location", "gopher://elsewhere/"),)))
    move(tmp_path / "a", server.url("/b", "dav"))
    assert server.files == {"/b": DATA}
    assert [method for method, _, _ in server.requests].count("MOVE") == 1


@pytest.mark.parametrize("source", ["here", "there"])
def test_a_server_that_cuts_a_name(
    move: Moves, server: FaultyServer, tmp_path: Path, source: str
) -> None:
    (tmp_path / "here").write_bytes(DATA)
    server.files["/there"] = DATA
    server.cuts_names = True
    url = server.url("/there", "dav") if source == "there" else tmp_path / source
    server.files["/a"] = b"before"
    with pytest.raises(Fault, match=r"made .*/\.?a of .*/\.?a\?b.*: give the file a name") as error:
        move(url, server.url("/a%3Fb", "dav"))
    assert (error.value.kind, error.value.transient) == (FaultKind.DESTINATION, False)


def test_who_may_not_look_at_what_was_moved(
    move: Moves, server: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(DATA)
    server.fail("/b", Wrong(status=403))
    move(tmp_path / "a", server.url("/b"))
    assert server.files["/b"] == DATA
