"""Allocations by the ledger: room, ids, durations, transfers within them, damaged files."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.shared_directory import label
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Allocate, Release, Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.data_requests.work_order import FINAL, FINAL_STATUS, WorkOrder
from condor_pydagman.placement import dag_allocations
from condor_pydagman.placement.allocations import Known, Space
from condor_pydagman.placement.dag_allocations import OwnAllocations
from condor_pydagman.placement.rules import allocation_rules
from condor_pydagman.placement.rules.allocation_rules import Allocation, ledger_text
from condor_pydagman.placement.way import Progress, Surroundings
from tests.descriptors import descriptors
from tests.locks import prove_life
from tests.placement.helpers import program
from tests.waiting import LIMIT_S, until

KB = 1024


class Bench:
    """A worker's space in a directory of the test's."""

    def __init__(self, path: Path) -> None:
        path.mkdir(exist_ok=True)
        path.chmod(0o1777)
        self.path = path
        self.said: list[str] = []
        self.settings = Settings(directory=str(path), capacities=(("/disk", 10 * KB),))
        self.opened = contextlib.ExitStack()
        self.space = self.space_of("")
        self.surroundings = Surroundings(self.settings, {}, "/", self.said.append)

    def allocate(self, identity: str, size: int = KB, host: str = "/disk", **more: object) -> None:
        request = Allocate(host, identity, size, **{"wait": False, **more})  # type: ignore[arg-type]
        self.space.allocate(request, self.surroundings, progress())

    def release(self, identity: str, host: str = "/disk") -> None:
        self.space.release(Release(host, identity), self.surroundings, progress())

    def transfer(self, size: int, name: str = "f", identity: str = "1") -> None:
        """As a way does it that knows the size."""
        self.stream([size], size, name, identity)

    def stream(
        self, blocks: list[int], total: int | None, name: str = "f", identity: str = "1"
    ) -> None:
        of = progress()
        with self.space.reserved(file(name, identity), of) as settle:
            of.begin(0, total)
            for block in blocks:
                of.add(block)
            settle(None)

    @property
    def ledger(self) -> Path:
        return self.path / f"ledger.{os.geteuid()}.txt"

    def of_dag(self, dag: str, node: str = "") -> Bench:
        """The same for a node of a DAG."""
        other = Bench.__new__(Bench)
        other.__dict__.update(self.__dict__)
        other.space = self.space_of(dag, node)
        return other

    def space_of(self, dag: str, node: str = "") -> Space:
        """Closed with the test, as what `own` gives."""
        space = Space(self.settings, self.said.append, dag, node)
        return self.opened.enter_context(contextlib.closing(space))

    def own(self) -> OwnAllocations:
        own = OwnAllocations(self.settings, self.said.append)
        return self.opened.enter_context(contextlib.closing(own))


def file(name: str, identity: str = "1") -> Transfer:
    return Transfer(parse_url("/source"), parse_url(f"/disk/{name}"), allocation_id=identity)


def _opened(path: Path) -> int:
    """How often this process has a file open."""
    return descriptors()[str(path)]


def progress() -> Progress:
    return Progress(threading.Event())


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "shared")
    with bench.opened:
        yield bench


def test_twice_with_one_id_is_one_allocation(bench: Bench) -> None:
    bench.allocate("1", 6 * KB)
    bench.allocate("1", 6 * KB, "/disk/")
    with pytest.raises(Fault, match="is allocated already, with 6144 bytes, not 1024"):
        bench.allocate("1", KB)


def test_without_room_it_fails_or_waits(bench: Bench) -> None:
    bench.allocate("1", 6 * KB)
    with pytest.raises(Fault, match="are free at /disk") as raised:
        bench.allocate("2", 6 * KB)
    assert raised.value.kind is FaultKind.NO_SPACE
    thread = threading.Thread(target=bench.allocate, args=("2", 6 * KB), kwargs={"wait": True})
    thread.start()
    until(lambda: any("waits for" in line for line in bench.said), "one that waits")
    bench.release("1")
    thread.join(LIMIT_S)
    assert not thread.is_alive()
    assert bench.space.room("/disk", "2") == 6 * KB
    assert not list(bench.path.glob("room.*"))


def test_who_waits_for_much_is_not_overtaken(bench: Bench) -> None:
    bench.allocate("1", 6 * KB)
    thread = threading.Thread(target=bench.allocate, args=("big", 9 * KB), kwargs={"wait": True})
    thread.start()
    until(lambda: list(bench.path.glob("room.*")), "one that waits")
    time.sleep(0.005)  # who waits longer is told by milliseconds
    with pytest.raises(Fault, match="are free"):
        bench.allocate("small", KB)
    bench.allocate("urgent", KB, priority=1)
    bench.release("1")
    thread.join(LIMIT_S)
    assert bench.space.room("/disk", "big") == 9 * KB


def test_what_can_never_be_fails_at_once(bench: Bench) -> None:
    with pytest.raises(Fault, match="more than all of /disk"):
        bench.allocate("1", 11 * KB, wait=True)
    with pytest.raises(Fault, match=r"PYDAGMAN_PLACEMENT_CAPACITY, and has set /disk \(10.0 kB\)"):
        bench.allocate("1", host="/other", wait=True)
    with pytest.raises(Fault, match="needs a size"):
        bench.allocate("1", 0)


def test_it_ends_after_its_duration(bench: Bench) -> None:
    bench.allocate("1", 10 * KB, duration_s=0.05)
    bench.allocate("2", 10 * KB, wait=True)
    bench.release("1")  # which has ended: nothing to do
    with pytest.raises(Fault, match="there is no allocation 1"):
        bench.space.room("/disk", "1")


def test_release_twice_is_done_and_of_an_unknown_id_a_fault(bench: Bench) -> None:
    bench.allocate("run1")
    bench.release("run1")
    bench.release("run1")
    bench.allocate("run2")
    with pytest.raises(Fault, match="there is no allocation run3 of /disk; you have run2"):
        bench.release("run3")


def test_the_final_node_of_a_failed_dag_need_not_find_what_it_releases(bench: Bench) -> None:
    bench.allocate("run2")
    final = bench.of_dag("/d/one.dag")
    request = Release("/disk", "run3")
    for status in ({}, {FINAL_STATUS: "0"}):
        around = final.surroundings._replace(environment={FINAL: "1", **status})
        with pytest.raises(Fault, match="there is no allocation run3 of /disk; you have run2"):
            final.space.release(request, around, progress())
    around = around._replace(environment={FINAL: "1", FINAL_STATUS: "2"})
    final.space.release(request, around, progress())
    assert final.said == [
        "the DAG has failed before it was made: there is no allocation run3 of /disk; you have run2"
    ]
    assert [one.allocation.allocation_id for one in bench.own().all()] == ["run2"]


def test_transfers_together_may_not_exceed_it(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    bench.transfer(3 * KB, "a")
    with pytest.raises(Fault, match="the allocation has 2048 of 5120 left") as raised:
        bench.transfer(3 * KB, "b")
    assert raised.value.kind is FaultKind.ALLOCATION
    bench.transfer(2 * KB, "b")
    bench.transfer(2 * KB, "b")  # again: in the place of the first
    assert bench.space.room("/disk", "1") == 0


def test_several_at_once_may_not_exceed_it(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    one, two = progress(), progress()
    with bench.space.reserved(file("a"), one) as settle:
        one.begin(0, 4 * KB)
        with pytest.raises(Fault, match="1024 of 5120 left"), bench.space.reserved(file("b"), two):
            two.begin(0, 2 * KB)
        settle(4 * KB)
    assert bench.space.room("/disk", "1") == KB


def test_a_size_that_is_not_known_grows(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    with pytest.raises(Fault, match="left"):
        bench.stream([KB] * 6, None)
    bench.stream([KB] * 5, None)
    assert bench.space.room("/disk", "1") == 0


def test_a_transfer_that_fails_uses_nothing(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    of = progress()
    with pytest.raises(ZeroDivisionError), bench.space.reserved(file("a"), of):
        of.begin(0, 5 * KB)
        raise ZeroDivisionError
    assert of.room is None
    assert bench.space.room("/disk", "1") == 5 * KB


def test_what_a_killed_worker_has_reserved_is_free(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        of = progress()
        with Bench(bench.path).space.reserved(file("a"), of):
            of.begin(0, 5 * KB)
            os.write(write, b"x")
            time.sleep(600)
        os._exit(0)
    os.read(read, 1)
    with pytest.raises(Fault, match="0 of 5120 left"):
        bench.transfer(KB, "b")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    bench.transfer(KB, "b")


def test_it_keeps_nothing_open_when_it_is_closed_and_can_be_used_again(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    bench.transfer(KB)
    path = Path(bench.space.use()._path)
    assert _opened(path) == _opened(bench.path) == 1
    bench.space.close()
    assert _opened(path) == _opened(bench.path) == 0
    bench.transfer(KB, "g")
    assert _opened(path) == 1
    bench.space.close()
    assert _opened(path) == 0


def test_a_transfer_needs_the_allocation_it_names(bench: Bench) -> None:
    bench.allocate("run1")
    with pytest.raises(Fault, match="there is no allocation run2; you have run1"):
        bench.transfer(1, identity="run2")
    bench.transfer(KB, identity="run1")


def test_an_allocation_released_meanwhile_gives_no_more(bench: Bench) -> None:
    bench.allocate("1", 5 * KB)
    of = progress()
    with bench.space.reserved(file("a"), of):
        bench.release("1")
        with pytest.raises(Fault, match="released meanwhile"):
            of.begin(0, KB)


def with_modules(bench: Bench, tmp_path: Path, *words: str) -> Bench:
    """Modules for `nest` do these; they say so."""
    for word in words:
        program(tmp_path / f"stork.{word}.nest", f"echo {word} $2 >> {tmp_path}/said")
    bench.settings = bench.settings._replace(module_directories=(str(tmp_path),))
    bench.surroundings = bench.surroundings._replace(settings=bench.settings)
    return bench.of_dag("/d/one.dag")


def test_what_a_module_has_allocated_has_no_limit_here(bench: Bench, tmp_path: Path) -> None:
    site = with_modules(bench, tmp_path, "allocate", "release")
    site.allocate("1", KB, "nest")
    site.transfer(10**9)
    site.release("1", "nest")
    with pytest.raises(Fault, match="there is no allocation 1"):
        site.transfer(1)
    assert (tmp_path / "said").read_text() == "allocate 1\nrelease 1\n"


def test_who_has_made_an_allocation_releases_it(bench: Bench, tmp_path: Path) -> None:
    """Of a request, and when the DAG is removed; what nobody knows, a module may."""
    bench.settings = bench.settings._replace(capacities=(("nest", 10 * KB),))
    bench.surroundings = bench.surroundings._replace(settings=bench.settings)
    before = bench.of_dag("/d/one.dag")
    for identity in ("ledger's", "too"):
        before.allocate(identity, KB, "nest")
    site = with_modules(bench, tmp_path, "allocate", "release")
    site.allocate("module's", KB, "nest")
    site.release("ledger's", "nest")
    own = site.own()
    assert own.release(own.of_dag("/d/one.dag"))
    site.release("unknown", "nest")
    assert (tmp_path / "said").read_text() == (
        "allocate module's\nrelease module's\nrelease unknown\n"
    )


def test_the_final_node_gives_back_what_a_module_has_allocated(
    bench: Bench, tmp_path: Path
) -> None:
    site = with_modules(bench, tmp_path, "allocate", "release")
    site.allocate("1", KB, "nest")
    final = site.surroundings._replace(environment={FINAL: "1"})
    site.space.release(Release("nest", "1"), final, progress())
    (request,) = bench.of_dag("/d/one.dag").space.given_back(file("f"))
    assert (request.host, request.size) == ("nest", KB)


def test_a_damaged_ledger_of_ones_own_is_not_taken_for_an_empty_one(bench: Bench) -> None:
    bench.allocate("1")
    whole = bench.ledger.read_bytes()
    bench.ledger.write_bytes(whole[:-5])
    with pytest.raises(Fault, match=r"is damaged: .*; move the file away"):
        bench.allocate("2")
    assert bench.ledger.read_bytes() == whole[:-5]


def test_a_full_disk_leaves_the_ledger_as_it_was(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.allocate("1")
    whole = bench.ledger.read_bytes()

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Fault, match="No space left on device") as raised:
        bench.allocate("2")
    assert raised.value.transient
    assert raised.value.kind is FaultKind.NO_SPACE
    assert bench.ledger.read_bytes() == whole
    assert not list(bench.path.glob("own.*/*.tmp"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_ledgers_of_others_are_counted_once_if_they_are_sound(bench: Bench) -> None:
    text = ledger_text([Allocation("/disk", "1", 6 * KB, time.time())])
    hostile = {
        "ledger.65534.txt": (65534, text.encode()),
        "ledger.65534.0123456789abcdef.txt": (65534, text.encode()),  # a second of the same user
        "ledger.0.txt": (65533, b"\xff" * 10),  # in the place of ours
        "ledger.5.txt": (65532, b"x" * (allocation_rules.MAX_LEDGER_BYTES + 1)),
    }
    for name, (user, data) in hostile.items():
        (bench.path / name).write_bytes(data)
        os.chown(bench.path / name, user, -1)
    os.mkfifo(bench.path / "ledger.7.txt")
    (bench.path / "ledger.8.txt").symlink_to("/dev/zero")
    bench.allocate("1", 4 * KB)
    with pytest.raises(Fault, match=r"0 bytes of 10\.0 kB are free"):
        bench.allocate("2", 1)
    assert sum("is not counted" in line for line in bench.said) == 2
    assert list(bench.path.glob("ledger.0.????????????????.txt"))


def test_workers_of_the_version_before_wait_and_lock_as_we_do(bench: Bench) -> None:
    bench.allocate("1", 6 * KB)
    name = f"room.{label('/disk')}.0.{4 * KB}.{int(time.time() * 1000) - 1}.{1:016x}"
    waits = os.open(bench.path / name, os.O_RDWR | os.O_CREAT, 0o644)
    prove_life(waits)
    with pytest.raises(Fault, match="0 bytes of"):
        bench.allocate("2", KB)
    os.close(waits)  # it is killed
    bench.allocate("2", KB)
    assert not (bench.path / name).exists()
    lock = os.open(bench.path / "ledger.lock", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    stopped = progress()
    stopped._stop.set()
    release = Release("/disk", "2")
    with pytest.raises(Fault) as error:  # it waits
        bench.space.release(release, bench.surroundings, stopped)
    assert error.value.kind is FaultKind.STOPPED
    os.close(lock)
    bench.space.release(release, bench.surroundings, stopped)
    line = r"\n/disk 1 6144 \d+\.\d{3} 0\.000 0\.000\n"
    assert re.search(line, bench.ledger.read_text())


@pytest.mark.parametrize("kind", ["unreadable", "directory", "link", "fifo"])
def test_a_lock_that_not_all_can_use_stops_nobody(bench: Bench, kind: str) -> None:
    lock = bench.path / "ledger.lock"
    if kind == "unreadable":
        lock.touch(0o600)
    elif kind == "directory":
        lock.mkdir()
    elif kind == "link":
        lock.symlink_to("/dev/null")
    else:
        os.mkfifo(lock)
    bench.allocate("1")
    bench.release("1")
    assert any("remove it" in line for line in bench.said)


def test_all_can_use_the_lock_whatever_the_umask_is(bench: Bench) -> None:
    before = os.umask(0o077)
    try:
        bench.allocate("1")
    finally:
        os.umask(before)
    assert (bench.path / "ledger.lock").stat().st_mode & 0o777 == 0o644
    assert not [name for name in os.listdir(bench.path) if name.endswith(".tmp")]


@pytest.mark.parametrize("text", ["", "x" * 901, "\ud800"])
def test_an_id_that_no_ledger_can_hold_is_a_wrong_request(bench: Bench, text: str) -> None:
    with pytest.raises(Fault, match="allocation_id") as error:
        bench.allocate(text)
    assert error.value.kind is FaultKind.REQUEST


def test_what_a_removed_dag_has_allocated_is_released_and_allocated_again(bench: Bench) -> None:
    """Its rescue run does not repeat the node that has allocated."""
    one, other = bench.of_dag("/d/one.dag"), bench.of_dag("/d/other.dag")
    one.allocate("mine", 2 * KB, duration_s=3600.0)
    one.allocate("shared")
    other.allocate("shared")
    bench.allocate("by hand")
    own = bench.own()
    found = {known.allocation.allocation_id: known.dags for known in own.all()}
    assert found == {
        "mine": ("/d/one.dag",), "shared": ("/d/one.dag", "/d/other.dag"), "by hand": ("",)
    }  # fmt: skip
    assert own.release(own.of_dag("/d/one.dag"), for_now=True)
    assert "released: mine of /disk" in bench.said
    assert [known.allocation.allocation_id for known in own.all()] == ["shared", "by hand"]
    assert other.space.given_back(file("f", "mine")) == []
    again = bench.of_dag("/d/one.dag")
    (request,) = again.space.given_back(file("f", "mine"))
    assert (request.host, request.size, request.duration_s) == ("/disk", 2 * KB, 3600)
    again.space.allocate(request, again.surroundings, progress())
    assert again.space.given_back(file("f", "mine")) == []
    again.transfer(2 * KB, identity="mine")
    assert own.release(own.of_dag("/d/one.dag"), for_now=True)
    again.release("mine")  # it is not needed any more
    assert bench.of_dag("/d/one.dag").space.given_back(file("f", "mine")) == []


def test_what_the_final_node_releases_is_allocated_again(bench: Bench) -> None:
    """As often as the DAG is finished from a rescue file; what others use too is not."""
    one, other = bench.of_dag("/d/one.dag"), bench.of_dag("/d/other.dag")
    final = one.surroundings._replace(environment={FINAL: "1"})
    one.allocate("mine")
    one.allocate("shared")
    other.allocate("shared")
    for _ in range(2):  # the second FINAL node finds it released already
        for identity in ("mine", "shared"):
            one.space.release(Release("/disk", identity), final, progress())
    assert bench.of_dag("/d/one.dag").space.given_back(file("f", "shared")) == []
    (request,) = bench.of_dag("/d/one.dag").space.given_back(file("f", "mine"))
    assert (request.host, request.size) == ("/disk", KB)
    one.allocate("mine")
    one.release("mine")
    assert bench.of_dag("/d/one.dag").space.given_back(file("f", "mine")) == []


def test_an_id_of_two_lines_is_allocated_again_by_its_whole_name(bench: Bench) -> None:
    one, identity = bench.of_dag("/d/one.dag"), "a\nb"
    one.allocate(identity, host="/disk/x\ny")
    own = bench.own()
    assert own.release(own.all(), for_now=True)
    again = bench.of_dag("/d/one.dag").space
    assert again.given_back(file("f", "a")) == []
    (request,) = again.given_back(file("f", identity))
    assert (request.host, request.allocation_id) == ("/disk/x\ny", identity)


def test_what_is_released_by_hand_is_not_allocated_again(bench: Bench) -> None:
    one = bench.of_dag("/d/one.dag")
    one.allocate("a")
    own = bench.own()
    assert own.release(own.all())
    assert bench.of_dag("/d/one.dag").space.given_back(file("f", "a")) == []


def test_what_is_released_for_nodes_that_have_left_a_site(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of others, and nothing that has been allocated since; none is allocated again."""
    dag = str(tmp_path / "t.dag")
    (tmp_path / "t.dag.placements").mkdir()
    one, two = bench.of_dag(dag, "one"), bench.of_dag(dag, "two")
    for made in ("left", "shared", "later", "meanwhile"):
        one.allocate(made)
    two.allocate("shared")
    two.allocate("two's")
    bench.of_dag("/d/other.dag", "one").allocate("other's")
    left = {"one": time.time()}
    one.allocate("later")
    end = Space.end

    def ends(space: Space, known: Known, *rest: Any, **how: Any) -> None:
        one.allocate("meanwhile")
        end(space, known, *rest, **how)

    monkeypatch.setattr(Space, "end", ends)
    order = WorkOrder("", "", 0, "", "", {}, f"{dag}.placements", "", {}, bench.settings, left)
    monkeypatch.setattr(sys, "stdin", io.StringIO(order.to_text()))
    assert dag_allocations.main() == 0
    ids = [known.allocation.allocation_id for known in bench.own().all()]
    assert sorted(ids) == ["later", "meanwhile", "other's", "shared", "two's"]
    assert bench.of_dag(dag, "one").space.given_back(file("f", "left")) == []


def test_the_process_that_releases_for_a_removed_dag(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dag = str(tmp_path / "t.dag")
    (tmp_path / "t.dag.placements").mkdir()
    bench.of_dag(dag).allocate("a")
    order = WorkOrder("", "", 0, "", "", {}, f"{dag}.placements", "", {}, bench.settings)
    monkeypatch.setattr(sys, "stdin", io.StringIO(order.to_text()))
    assert dag_allocations.main() == 0
    assert bench.own().all() == []
    assert "released: a of /disk" in (tmp_path / "t.dag.placements/released.out").read_text()
