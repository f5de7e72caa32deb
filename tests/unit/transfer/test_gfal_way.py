"""gfal2, by a module of ours with the same interface; tests/contract has the real one."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path

import pytest

from condor_pydagman.data_requests.settings import WAYS, Settings
from condor_pydagman.transfer import gfal_way
from condor_pydagman.transfer.direct_way import DirectWay
from condor_pydagman.transfer.gfal_way import GfalWay
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.rules.ways import names_in_order
from condor_pydagman.transfer.way import Progress, Surroundings
from tests.unit.transfer.helpers import progress, surroundings, transfer
from tests.waiting import until

DATA = b"some data\n"
SUM = "adler32:14fa0379"


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    """Surroundings with a module gfal2, and the file root://a/x."""
    for name in ("scratch", "module", "module/servers/a", "placement"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    shutil.copy(Path(__file__).parent / "fake_gfal2.py", tmp_path / "module" / "gfal2.py")
    monkeypatch.setattr(gfal_way, "module_directory", lambda: str(tmp_path / "module"))
    (tmp_path / "module/servers/a/x").write_bytes(DATA)
    found = surroundings(tmp_path)
    return found._replace(settings=Settings(directory=str(tmp_path / "placement")))


@pytest.fixture
def servers(around: Surroundings) -> Path:
    return Path(around.directory) / "module/servers"


@pytest.fixture
def way() -> GfalWay:
    return GfalWay(DirectWay().obstacle)


def seen(servers: Path, word: str) -> list[str]:
    return [line for line in (servers / "seen").read_text().splitlines() if line.startswith(word)]


def test_servers_copy_to_each_other(way: GfalWay, around: Surroundings, servers: Path) -> None:
    asked = transfer("root://a//x", "root://b//d/y", checksum=SUM)
    assert way.obstacle(asked, around) == ""
    told = progress()
    assert way.perform(asked, around, told) == ("gfal root-root", 10, 10, False)
    assert (told.moved, told.offset) == (10, 0)
    assert os.listdir(servers / "b/d") == ["y"]
    assert (servers / "b/d/y").read_bytes() == DATA
    (copied,) = seen(servers, "copy")
    assert ".y." in copied
    assert copied.endswith(".part False False")  # no stream through this machine, no overwriting
    assert not os.listdir(Path(tempfile.gettempdir()) / f"condor_pydagman-gfal-{os.geteuid()}")[1:]


def test_what_is_there_already(way: GfalWay, around: Surroundings, servers: Path) -> None:
    asked = transfer("root://a//x", "root://b//y")
    (servers / "b").mkdir()
    (servers / "b/y").write_bytes(b"other")
    way.perform(asked, around, progress())
    assert (servers / "b/y").read_bytes() == DATA
    for more in ({}, {"checksum": SUM}):
        skipped = way.perform(asked._replace(if_exists="skip", **more), around, progress())
        assert skipped == ("gfal root-root", 10, 0, True)
    with pytest.raises(Fault, match="is there already") as caught:
        way.perform(asked._replace(if_exists="fail"), around, progress())
    assert caught.value.kind is FaultKind.DESTINATION
    assert os.listdir(servers / "b") == ["y"]


def test_a_server_that_can_t_rename(way: GfalWay, around: Surroundings, servers: Path) -> None:
    for name in ("y", "z"):
        way.perform(transfer("root://a//x", f"root://norename//{name}"), around, progress())
    assert sorted(os.listdir(servers / "norename")) == ["y", "z"]
    assert [".part" in line for line in seen(servers, "copy")] == [True, False, False]
    with pytest.raises(Fault, match="1 bytes were made of 10"):
        way.perform(transfer("root://a//x", "root://norename//short"), around, progress())
    assert not (servers / "norename/short").exists()


@pytest.mark.parametrize(
    ("source", "name", "kind", "words"),
    [
        ("gone", "y", FaultKind.MISSING, "Failed to stat"),
        ("x", "short", FaultKind.MISMATCH, "1 bytes were made of 10"),
        ("x", "broken", FaultKind.SERVER, r"Connection error: \(destination\)"),
        ("x", "refuse", FaultKind.REFUSED, "no copy from server to server: .*tpc not supported"),
        ("x", "crash", FaultKind.REFUSED, "to server: gfal2 was ended by signal SIGABRT"),
    ],
)
def test_failures(
    way: GfalWay,
    around: Surroundings,
    servers: Path,
    source: str,
    name: str,
    kind: FaultKind,
    words: str,
) -> None:
    asked = transfer(f"root://a//{source}", f"root://b//{name}")
    with pytest.raises(Fault, match=words) as caught:
        way.perform(asked, around, progress())
    assert (caught.value.kind, caught.value.transient) == (kind, kind.transient)
    assert not (servers / "b").exists() or not os.listdir(servers / "b")


def test_without_direct_a_fault_stays_what_it_is(way: GfalWay, around: Surroundings) -> None:
    asked = transfer("root://a//x", "root://b//crash", ways=("gfal",))
    with pytest.raises(Fault, match="ended by signal SIGABRT") as caught:
        way.perform(asked, around, progress())
    assert (caught.value.kind, caught.value.transient) == (FaultKind.MODULE, True)


def test_a_wrong_checksum(way: GfalWay, around: Surroundings, servers: Path) -> None:
    asked = transfer("root://a//x", "root://b//y", checksum="adler32:00000001")
    with pytest.raises(Fault, match="CHECKSUM MISMATCH") as caught:
        way.perform(asked, around, progress())
    assert caught.value.kind is FaultKind.MISMATCH
    assert not os.listdir(servers / "b")


def test_servers_that_refuse_are_asked_once(way: GfalWay, around: Surroundings) -> None:
    asked = transfer("root://a//x", "root://b//refuse")
    with pytest.raises(Fault):
        way.perform(asked, around, progress())
    other = transfer("root://a//x", "root://b//y")
    assert way.obstacle(other, around) == "a and b don't copy to each other"
    assert way.obstacle(transfer("root://a//x", "root://c//y"), around) == ""


def test_a_copy_is_cancelled(way: GfalWay, around: Surroundings, servers: Path) -> None:
    stop = threading.Event()
    told = Progress(stop)
    faults: list[Fault] = []

    def perform() -> None:
        try:
            way.perform(transfer("root://a//x", "root://b//slow"), around, told)
        except Fault as fault:
            faults.append(fault)

    thread = threading.Thread(target=perform)
    thread.start()
    until(lambda: told.moved == 1, "the copy has begun")
    stop.set()
    thread.join()
    assert [fault.kind for fault in faults] == [FaultKind.STOPPED]
    assert not os.listdir(servers / "b")


def test_what_direct_can_t_do_may_stream(
    way: GfalWay, around: Surroundings, servers: Path, tmp_path: Path
) -> None:
    told = way.perform(transfer("srm://a/x", tmp_path / "got", checksum=SUM), around, progress())
    assert told == ("gfal srm-file", 10, 10, False)
    assert (tmp_path / "got").read_bytes() == DATA
    told = way.perform(transfer(str(tmp_path / "got"), "srm://b/d/"), around, progress())
    assert (servers / "b/d/got").read_bytes() == DATA
    way.perform(transfer("srm://b/d/got", "https://c/y"), around, progress())
    assert len(seen(servers, "copy")) == 3
    assert all(" True " in line for line in seen(servers, "copy"))
    with pytest.raises(Fault, match="adler32 is"):
        way.perform(
            transfer("srm://a/x", tmp_path / "bad", checksum="adler32:1"), around, progress()
        )
    assert not (tmp_path / "bad").exists()


def test_tokens_go_to_servers_that_are_reached_encrypted(
    way: GfalWay, around: Surroundings, servers: Path
) -> None:
    around = around._replace(environment={**around.environment, "BEARER_TOKEN": "geheimnis"})
    way.perform(transfer("https://a/x", "http://b/y"), around, progress())
    assert seen(servers, "credential") == ["credential https://a/ BEARER geheimnis"]
    asked = transfer("https://a/x?authz=geheim", "davs://b/secret")
    with pytest.raises(Fault) as caught:
        way.perform(asked, around, progress())
    assert "geheim" not in caught.value.reason


def test_obstacles(way: GfalWay, around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    def obstacle(source: str, destination: str) -> str:
        return way.obstacle(transfer(source, destination), around)

    assert obstacle("srm://a/x", "/b") == obstacle("srm://a/x", "https://b/y") == ""
    assert "both ends are files" in obstacle("/a", "/b")
    assert obstacle("root://a//x/", "root://b//y/") == "it takes single files"
    assert "no user or password" in obstacle("https://me:pw@a/x", "https://b/y")
    assert obstacle("gsiftp://a/x", "root://b/y") == "its plugins don't know gsiftp"
    assert (
        obstacle("root://a//x", "davs://b/y") == "servers of root and davs don't copy to each other"
    )
    monkeypatch.setattr(gfal_way, "module_directory", lambda: "")
    assert obstacle("srm://a/x", "/b") == (
        "python3-gfal2 is not installed (dnf install python3-gfal2, apt install python3-gfal2)"
    )


def test_its_place_in_the_order() -> None:
    order = ("module", "gfal", "direct", "plugin", "cache")
    assert names_in_order(transfer("root://a//x", "root://b//y"), WAYS) == order
    for ends in (("root://a//x", "root://a//y"), ("/x", "root://a//y"), ("root://a//x", "/y")):
        assert names_in_order(transfer(*ends), WAYS) == WAYS
    asked = transfer("root://a//x", "root://b//y", ways=("direct", "gfal"))
    assert names_in_order(asked, WAYS) == ("direct", "gfal")
    assert names_in_order(asked._replace(ways=()), ("direct", "plugin")) == ("direct", "plugin")


def test_a_module_that_does_not_load(way: GfalWay, around: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "module/gfal2.py").write_text("raise ImportError('libgfal2.so.2: not there')")
    why = way.obstacle(transfer("root://a//x", "root://b//y"), around)
    assert why == "gfal2 exited with code 1: ImportError: libgfal2.so.2: not there"
