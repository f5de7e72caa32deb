"""The worker: several placements at once, attempts, alternatives, and what it tells."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import FaultKind
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement import gfal_way, local_part, performer
from condor_pydagman.placement.attempt_lines import attempt_line
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints.local_files import LocalFiles
from condor_pydagman.placement.journal import Journal, NoJournal
from condor_pydagman.placement.make_worker import make_worker
from condor_pydagman.placement.rules.journal_text import key_of
from condor_pydagman.placement.rules.services import Service
from condor_pydagman.placement.stream_copy import partial_name
from condor_pydagman.placement.turns import Turns
from condor_pydagman.placement.way import Surroundings
from condor_pydagman.placement.worker import AttemptEnd, Worker
from condor_pydagman.placement.worker_processes import WorkerProcesses
from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED
from tests.placement import helpers
from tests.servers.faulty_http import FaultyServer, Wrong
from tests.waiting import LIMIT_S, until


class Listener:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.ends: list[AttemptEnd] = []

    def attempt_ended(self, end: AttemptEnd) -> None:
        self.ends.append(end)

    def states(self) -> list[str]:
        return [end.state for end in self.ends]


class Work:
    """A worker for the text of a request file."""

    def __init__(
        self, text: str, surroundings: Surroundings, journal: NoJournal | None = None
    ) -> None:
        self.placements = read_requests(text, "x.dap", Macros(), surroundings.directory).placements
        self.listener = Listener()
        self.stop = threading.Event()
        self.worker: Worker | WorkerProcesses = make_worker(
            self.placements, surroundings, self.listener, self.stop, journal
        )

    def run(self) -> set[FaultKind]:
        self.worker.start()
        assert self.worker.join(LIMIT_S)
        return self.worker.result()


def journal_of(done: dict[str, int]) -> NoJournal:
    journal = NoJournal()
    journal.done = done
    return journal


def transfer(source: str, destination: str, more: str = "") -> str:
    return f'[ dap_type = transfer; src_url = "{source}"; dest_url = "{destination}"; {more} ]\n'


def test_many_files_at_once(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files.update({f"/{n}": f"{n}".encode() for n in range(200)})
    text = "".join(transfer(server.url(f"/{n}"), f"out/{n}") for n in range(200))
    work = Work(text, surroundings)
    assert work.run() == set()
    assert work.listener.states() == [COMPLETED] * 200
    out = Path(surroundings.directory) / "out"
    assert {path.name: path.read_text() for path in out.iterdir()} == {
        f"{n}": f"{n}" for n in range(200)
    }


def test_a_directory_of_many_files(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files.update({f"/d/{n}/x": b"x" for n in range(50)})
    work = Work(transfer(server.url("/d/"), "out/"), surroundings)
    assert work.run() == set()
    assert len(list((Path(surroundings.directory) / "out").rglob("x"))) == 50


def test_a_directory_that_is_listed_slowly_keeps_nothing_else_waiting(
    server: FaultyServer, surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even what is to be tried again."""
    goes_on, expand = threading.Event(), DirectWay.expand

    def slow(way: DirectWay, *of: Any) -> Iterator[Transfer]:
        for number, file in enumerate(expand(way, *of)):
            assert not number or goes_on.wait(LIMIT_S)
            yield file

    monkeypatch.setattr(DirectWay, "expand", slow)
    server.files.update({"/d/1": b"x", "/d/2": b"x", "/a": b"xx"})
    server.fail("/a", Wrong(after=1))
    settings = surroundings.settings._replace(max_streams=2)
    text = transfer(server.url("/d/"), "out/") + transfer(server.url("/a"), "a")
    work = Work(text, surroundings._replace(settings=settings))
    work.worker.start()
    until(lambda: work.listener.states().count(COMPLETED) == 2, "two files")
    assert work.listener.states().count(RESCHEDULED) == 1
    goes_on.set()
    assert work.worker.join(LIMIT_S)
    assert (work.worker.result(), len(work.listener.ends)) == (set(), 4)


def test_a_host_works_when_its_first_bytes_come(
    server: FaultyServer, surroundings: Surroundings
) -> None:
    """What waits behind its rest does not wait for the end of a terabyte."""
    surroundings = surroundings._replace(
        settings=surroundings.settings._replace(host_rest_s=0.01, max_streams=3)
    )
    Turns(surroundings.settings, surroundings.say).service_failed(Service("http", server.place), 0)
    server.files.update({"/long": b"x" * 10, **{f"/{n}": b"x" for n in range(5)}})
    server.fail("/long", Wrong(after=1, stalls=True))
    server.stall_s = LIMIT_S
    text = transfer(server.url("/long"), "out/long", "priority = 9")
    text += "".join(transfer(server.url(f"/{n}"), f"out/{n}") for n in range(5))
    work = Work(text, surroundings)
    work.worker.start()
    until(lambda: work.listener.states() == [COMPLETED] * 5, "all but the long one")
    server.resumed.set()
    assert work.worker.join(LIMIT_S)
    assert work.worker.result() == set()


def test_a_host_works_when_it_has_taken_more_than_buffers_hold() -> None:
    """What is uploaded first goes into buffers on the way."""
    worked: list[Service] = []
    turns = SimpleNamespace(service_worked=worked.append)
    service = Service("http", "data.example")
    working = performer._Working(None, service, turns)  # type: ignore[arg-type]
    assert not working.note(performer._TAKEN_BYTES - 1)
    assert worked == working.services == []
    assert working.note(performer._TAKEN_BYTES)
    assert worked == working.services == [service]


@pytest.mark.parametrize(
    "wrong",
    [(Wrong(after=2),), (Wrong(after=2), Wrong(wrong_range=True)), (Wrong(status=423),)],
    ids=["broken off", "range", "locked"],
)
def test_a_fault_of_a_file_is_not_its_hosts(
    server: FaultyServer, surroundings: Surroundings, wrong: tuple[Wrong, ...]
) -> None:
    said: list[str] = []
    surroundings = surroundings._replace(say=said.append)
    server.files["/a"] = b"xyz"
    server.fail("/a", *wrong)
    work = Work(transfer(server.url("/a"), "out/a"), surroundings)
    assert work.run() == set()
    assert RESCHEDULED in work.listener.states()
    assert not [line for line in said if "left alone" in line]


def test_transient_faults_are_tried_again(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files["/a"] = b"x"
    server.fail("/a", Wrong(times=2, status=503))
    work = Work(transfer(server.url("/a"), "a"), surroundings)
    assert work.run() == set()
    assert work.listener.states() == [RESCHEDULED, RESCHEDULED, COMPLETED]
    assert [end.attempt for end in work.listener.ends] == [1, 2, 3]


def test_lasting_faults_are_not(server: FaultyServer, surroundings: Surroundings) -> None:
    work = Work(transfer(server.url("/a"), "a"), surroundings)
    assert work.run() == {FaultKind.MISSING}
    assert work.listener.states() == [FAILED]
    assert len([path for _, path, _ in server.requests if path == "/a"]) == 1


def test_a_pattern_to_a_file_says_what_is_wrong(surroundings: Surroundings) -> None:
    (Path(surroundings.directory) / "a.txt").write_text("a")
    work = Work(transfer("*.txt", "out"), surroundings)
    assert work.run() == {FaultKind.MISSING}
    (end,) = work.listener.ends
    assert end.fault is not None
    assert f"{surroundings.directory}/out is no directory: end it in /" in end.fault.reason


def test_a_name_of_two_lines_is_told_in_one(surroundings: Surroundings) -> None:
    """A server's list of files could forge lines of the node's output."""
    (Path(surroundings.directory) / "a\nb").write_text("a")
    work = Work(transfer("a\\nb", "c"), surroundings)
    assert work.run() == set()
    (line,) = attempt_line(work.listener.ends[0]).splitlines()
    assert line.startswith(rf"done: {surroundings.directory}/a\x0ab -> ")


def test_retries_end(server: FaultyServer, surroundings: Surroundings) -> None:
    server.fail("/a", Wrong(times=99, status=503))
    work = Work(transfer(server.url("/a"), "a", "max_retries = 2;"), surroundings)
    assert work.run() == {FaultKind.SERVER}
    assert work.listener.states() == [RESCHEDULED, RESCHEDULED, FAILED]


def test_alternative_protocols(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files["/a"] = b"x"
    port = server.place.rpartition(":")[2]
    more = f'alt_protocols = "gopher-file, http:{port}-file";'
    work = Work(transfer("nest://127.0.0.1/a", "a", more), surroundings)
    assert work.run() == set()
    assert [end.way for end in work.listener.ends] == ["direct http-file"]


def slow_to_return(surroundings: Surroundings) -> Surroundings:
    """Whoever waits for a retry or a rest does not end within the test."""
    settings = surroundings.settings._replace(host_rest_s=10_000, first_delay_s=10_000)
    return surroundings._replace(settings=settings._replace(max_delay_s=100_000))


def test_an_alternative_is_tried_at_once_while_the_other_service_rests(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    """Both are of the same host; the first transfer finds out, the second knows it already."""
    surroundings = slow_to_return(surroundings)
    server.files.update({"/a": b"x", "/b": b"y"})
    port = server.place.rpartition(":")[2]
    more = f'alt_protocols = "http:{port}-file";'
    for name, states in (("a", [RESCHEDULED, COMPLETED]), ("b", [COMPLETED])):
        url = f"ftp://127.0.0.1:{closed_port}/{name}"
        work = Work(transfer(url, f"out/{name}", more), surroundings)
        assert work.run() == set()
        assert work.listener.states() == states
        assert not any(end.delay_s for end in work.listener.ends)


def test_an_alternative_is_tried_at_once_if_the_server_redirects_to_a_dead_one(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    """The service that fails is none of the URL's."""
    server.files["/a"] = b"x"
    dead = f"http://127.0.0.1:{closed_port}/a"
    server.fail("/a", Wrong(status=307, headers=(("Location", dead),)))
    port = server.place.rpartition(":")[2]
    work = Work(
        transfer(server.url("/a"), "a", f'alt_protocols = "dav:{port}-file";'),
        slow_to_return(surroundings),
    )
    assert work.run() == set()
    ways = [(end.way, end.delay_s) for end in work.listener.ends]
    assert ways == [("direct http-file", 0), ("direct dav-file", 0)]


def test_an_alternative_is_tried_at_once_while_another_tries_the_service_that_has_rested(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    turns = Turns(surroundings.settings, surroundings.say)
    tried = Service("ftp", f"127.0.0.1:{closed_port}")
    turns.service_failed(tried, 0)
    turn = turns.take([tried], progress=helpers.progress())  # after its rest
    assert turn is not None
    server.files["/a"] = b"x"
    port = server.place.rpartition(":")[2]
    more = f'alt_protocols = "http:{port}-file";'
    work = Work(transfer(f"ftp://127.0.0.1:{closed_port}/a", "a", more), surroundings)
    assert work.run() == set()
    assert [end.way for end in work.listener.ends] == ["direct http-file"]
    turn.close()


def test_retries_are_counted_over_all_protocols(
    server: FaultyServer, surroundings: Surroundings
) -> None:
    """When they are used up, what is left is tried once."""
    server.fail("/a", Wrong(times=99, status=503))
    port = server.place.rpartition(":")[2]
    more = f'alt_protocols = "dav:{port}-file"; max_retries = 2;'
    work = Work(transfer(server.url("/a"), "a", more), surroundings)
    assert work.run() == {FaultKind.SERVER}
    assert {end.way for end in work.listener.ends} == {"direct http-file", "direct dav-file"}
    assert work.listener.states() == [RESCHEDULED] * 3 + [FAILED]


def test_the_delay_that_is_told_is_not_shorter_than_the_rest(
    server: FaultyServer, surroundings: Surroundings
) -> None:
    settings = surroundings.settings._replace(host_rest_s=10_000, max_delay_s=100_000)
    server.fail("/a", Wrong(status=503))
    work = Work(transfer(server.url("/a"), "a"), surroundings._replace(settings=settings))
    work.worker.start()
    until(lambda: work.listener.ends, "the end of the first attempt")
    work.stop.set()
    assert work.worker.join(LIMIT_S)
    (first, *_) = work.listener.ends
    assert 10_000 - LIMIT_S < first.delay_s < 10_001
    assert "; again in 2 h" in attempt_line(first)


def test_a_directory_whose_service_is_dead_comes_from_the_alternative(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    surroundings = slow_to_return(surroundings)
    server.files.update({"/d/a": b"x", "/d/b": b"y"})
    port = server.place.rpartition(":")[2]
    url, more = f"ftp://127.0.0.1:{closed_port}/d/", f'alt_protocols = "dav:{port}-file";'
    work = Work(transfer(url, "out/", more), surroundings)
    assert work.run() == set()
    assert sorted(os.listdir(Path(surroundings.directory) / "out")) == ["a", "b"]


def test_a_service_that_rests_is_gone_back_to_if_the_alternative_has_no_such_file(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    port = server.place.rpartition(":")[2]
    more = f'alt_protocols = "http:{port}-file"; max_retries = 3;'
    work = Work(transfer(f"ftp://127.0.0.1:{closed_port}/a", "a", more), surroundings)
    assert work.run() == {FaultKind.SERVER}
    ways = [end.way for end in work.listener.ends]
    assert ways.count("direct http-file") == 1
    assert ways[-1] == "direct ftp-file"


def test_what_waits_for_its_turn_turns_to_the_alternative_when_its_service_begins_to_rest(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    surroundings = slow_to_return(surroundings)
    settings = surroundings.settings._replace(limits=(("ftp", 1),))
    surroundings = surroundings._replace(settings=settings)
    dead = Service("ftp", f"127.0.0.1:{closed_port}")
    turns = Turns(surroundings.settings, surroundings.say)
    turn = turns.take([dead], progress=helpers.progress())
    assert turn is not None
    server.files["/a"] = b"x"
    port = server.place.rpartition(":")[2]
    url, more = f"ftp://127.0.0.1:{closed_port}/a", f'alt_protocols = "http:{port}-file";'
    work = Work(transfer(url, "a", more), surroundings)
    work.worker.start()
    waits = lambda: any(Path(settings.directory).glob("turn.w.*"))  # noqa: E731
    until(waits, "one that waits")
    turns.service_failed(dead, 0)
    turn.close()
    assert work.worker.join(LIMIT_S)
    assert [end.way for end in work.listener.ends] == ["direct http-file"]


def test_no_way_names_every_way(surroundings: Surroundings) -> None:
    work = Work(transfer("nest://h/a", "a"), surroundings)
    assert work.run() == {FaultKind.NO_WAY}
    (end,) = work.listener.ends
    assert end.fault is not None
    for way in ("module", "direct", "gfal", "plugin", "cache"):
        assert f"{way}: " in end.fault.reason


def test_servers_that_don_t_copy_to_each_other_are_asked_once(
    server: FaultyServer, surroundings: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Path(surroundings.directory) / "module"
    (directory / "servers").mkdir(parents=True)
    fake = (Path(__file__).parent / "fake_gfal2.py").read_text()
    (directory / "gfal2.py").write_text(fake.replace("Stat(self.size(url))", "Stat(1)"))
    monkeypatch.setattr(gfal_way, "module_directory", lambda: str(directory))
    server.files.update({"/a": b"x", "/b": b"x"})
    other = server.url("/refuse").replace("127.0.0.1", "localhost")
    text = "".join(transfer(server.url(f"/{name}"), f"{other}/{name}") for name in "ab")
    settings = surroundings.settings._replace(max_streams=1)
    work = Work(text, surroundings._replace(settings=settings))
    assert work.run() == set()
    assert server.files["/refuse/a"] == server.files["/refuse/b"] == b"x"
    told = [(end.state, end.way.split()[0]) for end in work.listener.ends]
    assert told == [(RESCHEDULED, "gfal"), (COMPLETED, "direct"), (COMPLETED, "direct")]


def test_what_is_done_is_not_done_again(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files.update({"/a": b"x", "/d/b": b"x", "/d/c": b"x"})
    text = transfer(server.url("/a"), "a") + transfer(server.url("/d/"), "d/")
    first = Work(text, surroundings)
    assert first.run() == set()
    done = {end.key: 1 for end in first.listener.ends}
    assert key_of(first.placements[0]) in done
    second = Work(text, surroundings, journal_of(done))
    assert second.run() == set()
    assert second.listener.ends == []
    os.unlink(second.placements[1].destination.path + "b")
    third = Work(text, surroundings, journal_of(done))
    assert third.run() == set()
    (end,) = third.listener.ends
    assert end.placement.source.name == "b"


def test_priorities(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files.update({f"/{n}": b"x" for n in range(6)})
    settings = surroundings.settings._replace(max_streams=1)
    text = "".join(transfer(server.url(f"/{n}"), f"{n}", f"priority = {n};") for n in range(6))
    work = Work(text, surroundings._replace(settings=settings))
    assert work.run() == set()
    done: list[Placement] = [end.placement for end in work.listener.ends]
    assert [one.priority for one in done] == [5, 4, 3, 2, 1, 0]


def test_it_stops_soon(server: FaultyServer, surroundings: Surroundings) -> None:
    server.files["/a"] = b"x" * 1_000_000
    server.fail("/a", Wrong(times=99, after=1000, stalls=True), Wrong(times=99, status=503))
    settings = surroundings.settings._replace(stall_timeout_s=0.2, first_delay_s=10_000)
    text = transfer(server.url("/a"), "a") + transfer(server.url("/a"), "b")
    work = Work(text, surroundings._replace(settings=settings))
    work.worker.start()
    until(lambda: work.listener.ends, "the first end")
    work.stop.set()
    until(lambda: work.worker.join(0.01), "the end of the worker")
    assert work.worker.result() == {FaultKind.STOPPED}


def test_a_bug_is_not_hidden(surroundings: Surroundings) -> None:
    work = Work(transfer("a", "b"), surroundings)
    work.listener.attempt_ended = None  # type: ignore[assignment, method-assign]
    with pytest.raises(TypeError):
        work.run()


def test_what_waits_for_space_holds_up_no_transfer(surroundings: Surroundings) -> None:
    """It may wait for the release that comes after that transfer."""
    settings = surroundings.settings._replace(max_transfers=1, capacities=(("/disk", 10),))
    said: list[str] = []
    surroundings = surroundings._replace(settings=settings, say=said.append)
    (Path(surroundings.directory) / "a").write_text("a")

    def space(what: str, number: int) -> str:
        return f'[ dap_type = {what}; dest_host = "/disk"; size = 10; allocation_id = {number} ]'

    assert Work(space("allocate", 1), surroundings).run() == set()
    waits = Work(space("allocate", 2), surroundings)
    waits.worker.start()
    until(lambda: said, "what it says when it waits")
    assert Work(transfer("a", "b"), surroundings).run() == set()
    release = '[ dap_type = release; dest_host = "/disk"; allocation_id = 1 ]'
    assert Work(release, surroundings).run() == set()
    assert waits.worker.join(LIMIT_S)
    assert waits.worker.result() == set()


def with_space(surroundings: Surroundings) -> Surroundings:
    """Twenty bytes of space can be allocated."""
    settings = surroundings.settings._replace(capacities=(("/", 20),))
    return surroundings._replace(settings=settings)


def space_of(what: str, size: int = 20) -> str:
    more = f"size = {size};" * (what == "allocate")
    return f'[ dap_type = {what}; dest_host = "/"; allocation_id = a; {more} ]\n'


IN_IT = "allocation_id = a;"


def test_what_names_an_allocation_of_its_file_runs_in_the_order_of_the_file(
    server: FaultyServer, surroundings: Surroundings
) -> None:
    """Also if it is tried again, or a directory; twice, in the space of the first."""
    server.files.update({"/a": b"a", "/d/a": b"a", "/d/b": b"b"})
    server.fail("/a", Wrong(times=1, status=503))
    server.fail("/d/b", Wrong(times=1, status=503))
    text = ""
    for number in range(2):
        text += space_of("allocate")
        text += transfer(server.url("/a"), f"{number}/a", IN_IT)
        text += transfer(server.url("/d/"), f"{number}/d/", IN_IT)
        text += space_of("release")
    work = Work(text, with_space(surroundings))
    assert work.run() == set()
    done = [end.number for end in work.listener.ends if end.state == COMPLETED]
    assert [sorted(done[:1]), sorted(done[1:4]), done[4:5]] == [[0], [1, 2, 2], [3]]
    assert [done[5:6], sorted(done[6:9]), done[9:]] == [[4], [5, 6, 6], [7]]


def test_what_names_an_allocation_that_was_not_made_fails_as_it_does(
    surroundings: Surroundings,
) -> None:
    (Path(surroundings.directory) / "a").write_text("a")
    text = space_of("allocate", 30) + transfer("a", "b", IN_IT) + space_of("release")
    work = Work(text, with_space(surroundings))
    assert work.run() == {FaultKind.NO_SPACE}
    assert work.listener.states() == [FAILED] * 3
    assert not (Path(surroundings.directory) / "b").exists()


def test_an_allocation_is_released_after_a_transfer_that_fails_and_again_the_next_time(
    surroundings: Surroundings,
) -> None:
    surroundings = with_space(surroundings)
    text = space_of("allocate") + transfer("a", "b", IN_IT) + space_of("release")
    work = Work(text, surroundings)
    assert work.run() == {FaultKind.MISSING}
    done = {end.key: -1 for end in work.listener.ends if end.state == COMPLETED}
    assert len(done) == 2
    (Path(surroundings.directory) / "a").write_text("a")
    again = Work(text, surroundings, journal_of(done))
    assert again.run() == set()
    assert len(again.listener.ends) == 3
    assert Work(space_of("allocate"), surroundings).run() == set(), "nothing is left of it"


def left_by_kill(place: Path, way: str) -> Path:
    """What is beside the file if the worker was killed just after that got its name."""
    source = parse_url(str(place / "a"))
    if way == "module":
        left = Path(local_part._part_name(source, str(place / "b")))
        (left / "new").mkdir(parents=True)
        left.chmod(0o700)
    else:
        found = LocalFiles().look(source)
        assert found is not None
        left = place / partial_name(source, found.version, "b")
        os.link(place / "b", left)
    return left


@pytest.mark.parametrize("way", ["direct", "module"])
def test_a_file_that_a_killed_worker_has_named_is_its_own(
    surroundings: Surroundings, tmp_path: Path, way: str
) -> None:
    """Killed before it could note that the placement was done."""
    if way == "module":
        module = tmp_path / "stork.transfer.file-file"
        module.write_text('#!/bin/sh\ncp "${1#file://}" "${2#file://}"\n')
        module.chmod(0o755)
        settings = surroundings.settings._replace(module_directories=(str(tmp_path),))
        surroundings = surroundings._replace(settings=settings)
    place = Path(surroundings.directory)
    (place / "a").write_text("x")
    text = transfer("a", "b", f"if_exists = fail; ways = {way}")
    journal = Journal(str(tmp_path / "journal"))
    journal.add = lambda done: None  # type: ignore[method-assign]
    assert Work(text, surroundings, journal).run() == set()
    again = Journal(str(tmp_path / "journal"))
    assert again.done == {}
    left = left_by_kill(place, way)
    assert Work(text, surroundings, again).run() == set()
    assert not left.exists()
    (place / "b").rename(place / "c")
    (place / "b").write_text("somebody else's")
    assert Work(text, surroundings, again).run() == {FaultKind.DESTINATION}
    assert Work(text, surroundings).run() == {FaultKind.DESTINATION}


def test_a_dead_server_does_not_hold_the_streams(
    server: FaultyServer, surroundings: Surroundings, closed_port: int
) -> None:
    surroundings = slow_to_return(surroundings)
    surroundings = surroundings._replace(settings=surroundings.settings._replace(max_streams=2))
    server.files.update({"/a": b"x", "/b": b"y"})
    text = "".join(transfer(f"http://127.0.0.1:{closed_port}/{n}", f"{n}") for n in range(6))
    text += "".join(transfer(server.url(f"/{name}"), name) for name in "ab")
    work = Work(text, surroundings)
    work.worker.start()
    until(lambda: work.listener.states().count(COMPLETED) == 2, "the files of the other server")
    assert max(end.attempt for end in work.listener.ends) == 1
    work.stop.set()
    assert work.worker.join(LIMIT_S)
