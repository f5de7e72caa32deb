"""gfal2, by a module of ours with the same interface; tests/contract has the real one."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.settings import WAYS, Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement import child_process, gfal_way, waits
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.gfal_way import GfalWay
from condor_pydagman.placement.placement_directory import DestinationLocks
from condor_pydagman.placement.rules.ways import names_in_order
from condor_pydagman.placement.way import Progress, Surroundings
from tests.placement.helpers import progress, surroundings, transfer
from tests.waiting import until

DATA = b"some data\n"
SUM = "adler32:14fa0379"


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Surroundings:
    """Surroundings with a module gfal2, and the file root://a/x."""
    monkeypatch.setattr(waits, "LATE_S", 0.0)
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


def test_a_server_that_shows_a_copy_late(
    way: GfalWay, around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "LATE_S", 60.0)
    assert way.perform(transfer("root://a//x", "root://b//late"), around, progress()).size == 10


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


@pytest.mark.parametrize(
    ("source", "name", "kind", "words"),
    [
        ("x", "exits", FaultKind.MODULE, "gfal2 exited with code 0"),
        ("x", "odd-copy", FaultKind.MODULE, "gfal2: RuntimeError: no such thing"),
        ("x", "odd-stat", FaultKind.MODULE, "gfal2: RuntimeError: no such thing"),
        ("x", "leaves", FaultKind.MODULE, "gfal2: the copy has ended in an unknown way"),
        ("x", "no-code", FaultKind.MODULE, "gfal2: an error without a text"),
        ("x", "huge-code", FaultKind.SERVER, "gfal2: aaa"),
        ("x", "callback", FaultKind.MODULE, "gfal2: IndexError"),
        ("x", "no-answer", FaultKind.MODULE, "gfal2 did not answer"),
        ("no-size", "y", FaultKind.MODULE, "gfal2 exited with code 1: TypeError"),
        ("lies", "y", FaultKind.MISMATCH, "10 bytes were made of 11"),
        ("x", "lies", FaultKind.MISMATCH, "11 bytes were made of 10"),
    ],
)
@pytest.mark.parametrize("server", ["b", "norename"])
def test_a_library_that_is_broken(
    way: GfalWay,
    around: Surroundings,
    servers: Path,
    server: str,
    source: str,
    name: str,
    kind: FaultKind,
    words: str,
) -> None:
    """What was there before has the right size, and is not taken for what was to come."""
    (servers / server).mkdir()
    for one in ("no-size", "lies"):
        (servers / "a" / one).write_bytes(DATA)
    if server == "norename":
        way.perform(transfer("root://a//x", f"root://{server}//first"), around, progress())
    (servers / server / name).write_bytes(b"other dat\n")
    asked = transfer(f"root://a//{source}", f"root://{server}//{name}", ways=("gfal",))
    with pytest.raises(Fault, match=words) as caught:
        way.perform(asked, around, progress())
    assert (caught.value.kind, caught.value.transient) == (kind, True)
    if name != "no-answer":  # which comes after the copy, and leaves no time to remove anything
        if (servers / server / name).exists():
            assert (servers / server / name).read_bytes() == b"other dat\n"
        assert not [one for one in os.listdir(servers / server) if one.endswith(".part")]


def test_what_a_killed_attempt_left_at_a_server_that_can_t_rename(
    way: GfalWay, around: Surroundings, servers: Path
) -> None:
    """It is removed, though this worker makes no part there any more."""
    asked = transfer("root://a//x", "root://norename//y")
    way.perform(transfer("root://a//x", "root://norename//first"), around, progress())
    part = servers / "norename" / os.path.basename(gfal_way._temporary(asked).path)
    part.write_bytes(b"so")
    way.perform(asked, around, progress())
    assert sorted(os.listdir(servers / "norename")) == ["first", "y"]


@pytest.mark.parametrize("name", ["floods", "wild"])
def test_a_library_that_talks(way: GfalWay, around: Surroundings, servers: Path, name: str) -> None:
    told = progress()
    asked = transfer("root://a//x", f"root://b//{name}")
    assert way.perform(asked, around, told) == ("gfal root-root", 10, 10, False)
    assert told.moved == 10
    assert (servers / "b" / name).read_bytes() == DATA


def test_each_question_has_an_end(way: GfalWay, around: Surroundings, servers: Path) -> None:
    around = around._replace(settings=around.settings._replace(stall_timeout_s=1e12))
    way.perform(transfer("root://a//x", "root://b//y"), around, progress())
    asked = seen(servers, "stat")
    assert len(asked) == 2
    assert all(line.endswith(" True") for line in asked)


def test_a_copy_that_hangs(
    way: GfalWay, around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed, and keeps nothing from the next attempt."""
    monkeypatch.setattr(child_process, "GRACE_S", 0.1)
    around = around._replace(settings=around.settings._replace(module_timeout_s=0.5))
    asked = transfer("root://a//x", "root://b//hangs", ways=("gfal",))
    for _ in range(2):
        with pytest.raises(Fault, match=r"gfal2 took longer than 0.5 s") as caught:
            way.perform(asked, around, progress())
        assert (caught.value.kind, caught.value.transient) == (FaultKind.MODULE, True)
    assert not list((Path(around.directory) / "placement").rglob("write.*"))


def test_who_copies_to_a_server_has_the_lock_of_the_destination(
    way: GfalWay, around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a worker that is killed lets no other begin before its copy is gone."""
    held: list[str] = []
    run = child_process.run

    def noted(*words: Any, **more: Any) -> Any:
        held.extend(os.readlink(f"/proc/self/fd/{one}") for one in more["keeps"])
        return run(*words, **more)

    monkeypatch.setattr(child_process, "run", noted)
    way.perform(transfer("root://a//x", "root://b//y"), around, progress())
    (lock,) = held
    locks, file = DestinationLocks(), parse_url("root://b:1094//y")
    assert os.path.basename(lock).startswith("write.")
    with locks.held(file, around, progress()) as fd:  # as any other way has it
        assert os.path.basename(os.readlink(f"/proc/self/fd/{fd}")) == os.path.basename(lock)


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


def test_a_module_whose_process_is_killed_once(
    way: GfalWay, around: Surroundings, tmp_path: Path
) -> None:
    """Nobody is told that there is no way."""
    module = tmp_path / "module/gfal2.py"
    killed = "import os\nif not os.path.exists('was'): open('was', 'w'); os.kill(os.getpid(), 9)\n"
    module.write_text(killed + module.read_text())
    assert way.obstacle(transfer("root://a//x", "root://b//y"), around) == ""
