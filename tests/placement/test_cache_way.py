"""Two steps through the cache: its bound, what is kept, and who may use it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.placement import cache_way
from condor_pydagman.placement.cache_way import Cache, CacheWay
from condor_pydagman.placement.module_way import ModuleWay
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from tests.placement.helpers import program, progress, surroundings, transfer
from tests.waiting import until

ASKED = transfer("in://h/a", "out://h/b")


class Known:
    """A way that makes a file of a size that it knows beforehand."""

    name = "direct"

    def __init__(self, size: int) -> None:
        self.size = size

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        return "" if transfer.source.scheme == "in" else "it fetches only"

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        progress.begin(0, self.size)
        Path(transfer.destination.path).write_bytes(b"x" * self.size)
        progress.add(self.size)
        return Outcome("direct in-file", self.size, self.size)


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path) -> None:
    for name in ("modules", "cache"):
        (tmp_path / name).mkdir(mode=0o755)
    get = 'echo x >> fetched; head -c 1000 /dev/zero > "${2#file://}"'
    program(tmp_path / "modules" / "stork.transfer.in-file", get)
    put(tmp_path, 'cat "${1#file://}" > sent; echo "$2" > to')


def put(tmp_path: Path, text: str) -> None:
    program(tmp_path / "modules" / "stork.transfer.file-out", text)


def around(tmp_path: Path, size: int = 10000, said: list[str] | None = None) -> Surroundings:
    return surroundings(
        tmp_path, said, module_directories=(str(tmp_path / "modules"),), cache_bytes=size,
        cache_directory=str(tmp_path / "cache"),
    )  # fmt: skip


def entries(tmp_path: Path) -> list[str]:
    own = tmp_path / "cache" / str(os.geteuid())
    return sorted(set(os.listdir(own)) - {"lock"})


def test_two_steps_are_for_what_no_way_before_takes_in_one(tmp_path: Path) -> None:
    program(tmp_path / "modules" / "stork.transfer.in-out", "true")
    way = CacheWay([ModuleWay()])
    assert way.obstacle(ASKED, around(tmp_path)) == "not needed, module takes it in one step"
    for ways in (("cache",), ("cache", "module")):
        assert not way.obstacle(ASKED._replace(ways=ways), around(tmp_path))


def test_two_steps(tmp_path: Path) -> None:
    way = CacheWay([ModuleWay()])
    assert not way.obstacle(ASKED, around(tmp_path))
    done = way.perform(ASKED, around(tmp_path), progress())
    assert done.size == 1000
    assert done.way == (
        "cache (module stork.transfer.in-file, then module stork.transfer.file-out)"
    )
    assert (tmp_path / "sent").stat().st_size == 1000
    assert (tmp_path / "to").read_text() == "out://h/b\n"
    assert entries(tmp_path) == []
    assert (tmp_path / "cache" / str(os.geteuid())).stat().st_mode & 0o777 == 0o700


def test_obstacles(tmp_path: Path) -> None:
    way, place = CacheWay([ModuleWay()]), around(tmp_path)
    (tmp_path / "modules" / "stork.transfer.file-out").unlink()
    why = way.obstacle(ASKED, place)
    assert why == "no way for the second step, file-out"
    assert "one end is a file" in way.obstacle(transfer("/a", "out://h/b"), place)
    assert "single files" in way.obstacle(transfer("in://h/a/", "out://h/b/"), place)
    assert way.obstacle(ASKED, around(tmp_path, 0)) == "it is switched off"


def test_what_was_fetched_is_used_by_the_next_attempt(tmp_path: Path) -> None:
    good = (tmp_path / "modules" / "stork.transfer.file-out").read_text()
    put(tmp_path, "exit 75")
    way, place = CacheWay([ModuleWay()]), around(tmp_path)
    for _ in range(2):
        with pytest.raises(Fault, match="code 75"):
            way.perform(ASKED, place, progress())
    assert len(entries(tmp_path)) == 1
    assert (tmp_path / "fetched").read_text() == "x\n"
    put(tmp_path, good.partition("\n")[2])
    done = way.perform(ASKED, place, progress())
    assert done.way == "cache (kept file, then module stork.transfer.file-out)"
    put(tmp_path, "exit 65")
    with pytest.raises(Fault, match="code 65"):
        way.perform(ASKED, place, progress())
    assert entries(tmp_path) == []


def test_the_bound(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="no room for 1000 bytes") as caught:
        CacheWay([ModuleWay()]).perform(ASKED, around(tmp_path, 999), progress())
    assert (caught.value.kind, caught.value.transient) == (FaultKind.NO_SPACE, False)
    with pytest.raises(Fault, match="it has 1000 bytes, and the cache for two steps 999") as caught:
        CacheWay([Known(1000), ModuleWay()]).perform(ASKED, around(tmp_path, 999), progress())
    assert (caught.value.kind, caught.value.transient) == (FaultKind.NO_SPACE, False)
    assert entries(tmp_path) == []


def test_it_waits_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_way, "WAIT_S", 0.01)
    said: list[str] = []
    place = around(tmp_path, 1500, said)
    other = Cache(place.settings).enter("other", progress())
    other.reserve(600, progress(), said.append)
    done: list[Outcome] = []
    way = CacheWay([Known(1000), ModuleWay()])
    thread = threading.Thread(target=lambda: done.append(way.perform(ASKED, place, progress())))
    thread.start()
    until(lambda: said, "what it says when it waits")
    assert said[0].startswith("waits for 1000 bytes in the cache")
    with pytest.raises(Fault, match="no room for 901 bytes") as caught:
        Cache(place.settings).enter("third", progress()).grow(901)
    assert caught.value.transient
    assert not done
    other.leave(keep=False)
    thread.join()
    assert done[0].size == 1000


def test_what_nobody_uses_makes_room(tmp_path: Path) -> None:
    place = around(tmp_path, 1500)
    cache = Cache(place.settings)
    for name in ("new", "old", "very-old"):
        entry = cache.enter(name, progress())
        path = Path(entry.directory, "file")
        path.write_bytes(b"x" * 500)
        entry.leave(keep=True)
        age = {"new": 0, "old": 100, "very-old": 2 * cache_way.OLD_S}[name]
        for file in (path, path.with_name("lock")):
            os.utime(file, (time.time() - age,) * 2)
    CacheWay([ModuleWay()]).perform(ASKED, place, progress())
    assert entries(tmp_path) == ["new"]


def test_many_never_exceed_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_way, "WAIT_S", 0.005)
    settings = around(tmp_path, 1000).settings
    used, most = [0], [0]
    lock = threading.Lock()

    def one(number: int) -> None:
        entry = Cache(settings).enter(str(number), progress())
        entry.reserve(400, progress(), lambda line: None)
        with lock:
            used[0] += 400
            most[0] = max(most[0], used[0])
        time.sleep(0.01)
        with lock:
            used[0] -= 400
        entry.leave(keep=False)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 1000
    assert entries(tmp_path) == []


def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "cache" / str(os.geteuid())
    own.mkdir(mode=0o755)
    own.chmod(0o755)
    with pytest.raises(Fault, match="only its user may enter"):
        CacheWay([ModuleWay()]).perform(ASKED, around(tmp_path), progress())
    own.rmdir()
    own.symlink_to(tmp_path)
    with pytest.raises(Fault, match="only its user may enter"):
        CacheWay([ModuleWay()]).perform(ASKED, around(tmp_path), progress())
