"""Turns in a real directory: what disturbs them, and rests of hosts."""

from __future__ import annotations

import fcntl
import os
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from condor_pydagman.adapters import shared_directory
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement import placement_directory, turns
from condor_pydagman.placement.rules.services import Service
from condor_pydagman.placement.turns import Turn, Turns
from condor_pydagman.placement.way import Progress
from tests.locks import is_proven, prove_life
from tests.waiting import LIMIT_S, until


class Bench:
    """One worker's turns in a directory of the test's."""

    def __init__(self, path: Path, **settings: object) -> None:
        self.said: list[str] = []
        self.path = path
        path.mkdir(exist_ok=True)
        path.chmod(0o1777)
        values = {"directory": str(path), "max_transfers": 1, **settings}
        self.turns = Turns(Settings(**values), self.said.append)  # type: ignore[arg-type]

    def take(self, *hosts: str, stop: threading.Event | None = None, **more: int) -> Turn:
        progress = Progress(stop or threading.Event())
        turn = self.turns.take([Service("http", host) for host in hosts], progress=progress, **more)
        assert turn is not None
        return turn

    def soon(self, *hosts: str, **more: int) -> Later:
        return Later(self, hosts, more)


class Later:
    """A turn that a thread waits for."""

    def __init__(self, bench: Bench, hosts: tuple[str, ...], more: dict[str, int]) -> None:
        self._stop = threading.Event()
        self.turn: Turn | None = None
        self.fault: Fault | None = None
        self._thread = threading.Thread(target=self._run, args=(bench, hosts, more))
        self._thread.start()

    def _run(self, bench: Bench, hosts: tuple[str, ...], more: dict[str, int]) -> None:
        try:
            self.turn = bench.take(*hosts, stop=self._stop, **more)
        except Fault as fault:
            self.fault = fault

    def get(self) -> Turn:
        self._thread.join(LIMIT_S)
        assert self.turn is not None
        return self.turn

    def end(self) -> Fault | None:
        self._stop.set()
        self._thread.join(LIMIT_S)
        return self.fault


def waiting(bench: Bench) -> int:
    return sum(name.startswith("turn.w.") for name in os.listdir(bench.path))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "shared")


def test_the_highest_priority_goes_first(bench: Bench) -> None:
    first = bench.take()
    low = bench.soon(priority=1)
    high = bench.soon(priority=2)
    until(lambda: waiting(bench) == 2, "2 that wait")
    first.close()
    turn = high.get()
    assert low.turn is None
    turn.close()
    low.get().close()
    assert os.listdir(bench.path) == []
    assert any("one of 1 transfers of this access point" in line for line in bench.said)


def test_stop_ends_the_wait_and_leaves_nothing(bench: Bench) -> None:
    first = bench.take()
    later = bench.soon()
    until(lambda: waiting(bench) == 1, "1 that wait")
    fault = later.end()
    assert fault is not None
    assert fault.kind is FaultKind.STOPPED
    first.close()
    assert os.listdir(bench.path) == []


def test_a_turn_goes_on_until_somebody_waits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = bench.take("a")
    with monkeypatch.context() as still:
        now = time.monotonic()
        clock = SimpleNamespace(monotonic=lambda: now, time=time.time, time_ns=time.time_ns)
        still.setattr(turns, "time", clock)
        assert turn.renew()
        still.setattr(os, "fstat", pytest.fail)  # another look, at most five times a second
        assert all(turn.renew() for _ in range(1000))
    later = bench.soon("a")
    until(lambda: not turn.renew(), "a look that finds the other")
    turn.close()
    later.get().close()


def test_a_ticket_that_was_removed_is_made_again(bench: Bench) -> None:
    first = bench.take()
    later = bench.soon()
    until(lambda: waiting(bench) == 1, "1 that wait")
    for path in bench.path.glob("turn.w.*"):
        path.unlink()
    first.close()
    turn = later.get()
    assert len(os.listdir(bench.path)) == 1
    turn.close()


def test_without_a_limit_what_killed_workers_have_left_goes_after_a_while(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "shared", max_transfers=0)
    turn = bench.take("a")
    (name,) = os.listdir(bench.path)
    words = name.split(".")
    others = []
    for ago_s, number in ((4000, "a"), (10, "b"), (4000, "c")):
        words[4:6] = str(int(name.split(".")[4]) - ago_s * 1000), number * 16
        others.append(".".join(words))
        (bench.path / others[-1]).touch()
    _, fresh, lives = others
    with open(bench.path / lives, "r+b") as file:
        prove_life(file.fileno())
        Bench(bench.path, max_transfers=0).take("a").close()
        assert sorted(os.listdir(bench.path)) == sorted((name, fresh, lives))
    turn.close()


def test_workers_of_the_version_before_count_and_see_who_lives(bench: Bench) -> None:
    path = bench.path / f"turn.r.0.-.{int(time.time() * 1000)}.{1:016x}.1."
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o000)
    prove_life(fd)
    os.fchmod(fd, 0o644)
    later = bench.soon()
    until(lambda: waiting(bench) == 1, "1 that waits")
    (ours,) = bench.path.glob("turn.w.*")
    assert re.fullmatch(r"turn\.w\.0\.-\.\d{13}\.[0-9a-f]{16}\.1\..*", ours.name)
    until(lambda: ours.stat().st_mode & 0o777 == 0o644, "a ticket that all can read")
    seen = os.open(ours, os.O_RDONLY)
    assert is_proven(seen)
    os.close(fd)  # it is killed
    turn = later.get()
    assert not path.exists()
    assert is_proven(seen)
    turn.close()
    assert not is_proven(seen)
    os.close(seen)


def test_files_that_are_in_the_way_do_no_harm(bench: Bench) -> None:
    name = "turn.r.0.-.1000.{:016x}.1."
    os.mkfifo(bench.path / name.format(1))
    (bench.path / name.format(2)).symlink_to("/dev/zero")
    (bench.path / name.format(3)).mkdir()
    (bench.path / name.format(4)).write_bytes(b"x" * 1000)
    (bench.path / "rest.zzz").touch()
    (bench.path / "turn.r.\udcff").touch()
    bench.take().close()


def test_a_held_lock_of_the_directory_leaves_the_user_alone(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_LOCK_S", 0.05)
    monkeypatch.setattr(
        placement_directory, "DEFAULT", f"{tmp_path}/none/condor_pydagman-placement"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    fd = os.open(bench.path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    bench.take().close()
    os.close(fd)
    assert (tmp_path / ".condor_pydagman-placement").is_dir()
    assert any("only for this user" in line for line in bench.said)


def test_streams_that_fail_with_the_shared_directory_together_all_leave_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        placement_directory, "DEFAULT", f"{tmp_path}/none/condor_pydagman-placement"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(turns, "_LOCK_S", 0.5)
    bench.turns.settings = bench.turns.settings._replace(max_transfers=3)
    fd = os.open(bench.path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    streams = [bench.soon() for _ in range(3)]
    for stream in streams:
        stream.get().close()
    os.close(fd)
    own = bench.turns.board()
    with pytest.raises(Fault, match="limits can't be kept: it is full"):
        bench.turns.leave_shared("it is full", own)


def test_a_wait_that_goes_on_is_told_by_another_stream(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_SAY_AGAIN_S", 0.2)
    held = bench.take()
    streams = [bench.soon(), bench.soon()]
    told = lambda: [line for line in bench.said if line.startswith("waits for")]  # noqa: E731
    until(lambda: len(told()) == 2, "what both wait for")
    held.close()
    until(lambda: any(stream.turn for stream in streams), "a turn")
    for stream in sorted(streams, key=lambda one: one.turn is None):
        stream.get().close()
    assert len([line for line in bench.said if line.startswith("has waited")]) == 2


def test_too_many_files_leave_the_user_alone(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_directory, "MAX_ENTRIES", 10)
    monkeypatch.setattr(
        placement_directory, "DEFAULT", f"{tmp_path}/none/condor_pydagman-placement"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    for number in range(20):
        (bench.path / str(number)).touch()
    bench.take().close()
    assert any("more than 10 files" in line for line in bench.said)


def test_a_directory_that_was_removed_is_made_again(bench: Bench) -> None:
    bench.take().close()
    bench.path.rmdir()
    bench.take().close()
    assert bench.path.is_dir()
    assert bench.path.stat().st_mode & 0o7777 == 0o1777


def test_a_host_that_fails_is_left_alone_then_tried_by_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "shared", max_transfers=0, host_rest_s=0.4)
    begun = time.monotonic()
    bench.turns.service_failed(Service("http", "a"), 0)
    bench.take("b").close()
    first, second = bench.soon("a"), bench.soon("a")
    until(lambda: first.turn or second.turn, "a turn")
    assert time.monotonic() - begun > 0.2
    time.sleep(0.05)
    assert (first.turn is None) != (second.turn is None)
    bench.turns.service_worked(Service("http", "a"))
    first.get().close()
    second.get().close()
    assert sum("works again" in line for line in bench.said) == 1


def test_another_service_of_a_host_that_fails_goes_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "shared", max_transfers=0, max_per_host=1, host_rest_s=10_000)
    ftp = Service("ftp", "a")
    progress = Progress(threading.Event())
    running = bench.turns.take([ftp], progress=progress)
    assert running is not None
    bench.turns.service_failed(ftp, 0)
    bench.take("a").close()
    bench.take("a:8080").close()
    assert bench.turns.take([ftp], progress=progress, elsewhere=lambda: True) is None
    running.close()
    assert bench.turns.rested_at([ftp]) > time.time()
    assert bench.turns.rested_at([Service("http", "a")]) == 0


def test_tickets_of_the_version_before_count_for_their_service(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "shared", max_transfers=0, max_per_host=1)
    host = shared_directory.label("a")
    path = bench.path / f"turn.r.0.-.{int(time.time() * 1000)}.{1:016x}.0.h{host}-1+p_http-0"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    prove_life(fd)
    ftp = bench.turns.take([Service("ftp", "a")], progress=Progress(threading.Event()))
    assert ftp is not None
    later = bench.soon("a")
    until(lambda: waiting(bench) == 1, "1 that waits")
    (ours,) = bench.path.glob("turn.w.*")
    assert ours.name.endswith(f".h{host}-1+p_http-0"), "which the version before counts as before"
    os.close(fd)
    later.get().close()
    ftp.close()


def test_what_began_before_a_host_failed_keeps_nobody_from_trying(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "shared", max_transfers=0, host_rest_s=0.01)
    long = bench.take("a")
    bench.turns.service_failed(Service("http", "a"), 0)
    bench.soon("a").get().close()
    long.close()


def test_another_worker_hears_of_rests(tmp_path: Path) -> None:
    one = Bench(tmp_path / "shared", host_rest_s=100)
    other = Bench(tmp_path / "shared", host_rest_s=100)
    one.turns.service_failed(Service("http", "a"), 0)
    later = other.soon("a")
    until(lambda: waiting(other) == 1, "1 that wait")
    one.turns.service_worked(Service("http", "a"))
    later.get().close()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_another_user_cannot_keep_a_host_resting_for_ever(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "shared", max_delay_s=0.3)
    now = int(time.time() * 1000)
    label = turns.label_of(Service("http", "a"))
    for failures in range(1, 5):
        path = bench.path / f"rest.{label}.{failures}.{now + 50_000}.{now + 50_000}"
        path.touch()
        os.chown(path, 65534, 65534)
    begun = time.monotonic()
    bench.soon("a").get().close()
    assert time.monotonic() - begun > 0.2
    assert time.time() * 1000 < now + 50_000, "it has waited until the rests were over"
    rests, shared = bench.turns.rests, bench.turns.board().directory
    rests._known.clear()  # as after a second
    bench.turns.service_worked(Service("http", "a"))
    time.sleep(0.002)  # names have milliseconds
    found = rests.limits(shared.names(), shared, time.time(), [label])
    assert found == {}, "a success begins no new wait"
