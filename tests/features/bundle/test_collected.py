"""What jobs of bundles have left is brought home, whatever it is, again and again."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from condor_pydagman.adapters import files
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.bundle.adapters import collected
from condor_pydagman.features.bundle.adapters.collected import (
    CollectOrder,
    collect,
    forget,
)
from condor_pydagman.features.bundle.messages import Collect, Collected
from condor_pydagman.records.event_text import CommonEvents
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind

NAMES = ("A", "B", "C")
TIME = 1_800_000_000.0


class Home:
    """The directories of a DAG's bundles, and of its nodes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known = collected.Known()
        self.bundle = path / "x.dag.bundles" / "7"
        self.bundle.mkdir(parents=True)
        self.nodes = path / "nodes"
        self.nodes.mkdir()
        self.tasks([self.task(number, name) for number, name in enumerate(NAMES, 1)])

    def task(self, number: int, name: str, **fields: Any) -> dict[str, Any]:
        streams = {"output": f"{name}.out", "error": ""}
        where = {"directory": str(self.nodes), "remaps": {}}
        return {"n": number, "name": name, **streams, **where, **fields}

    def tasks(self, lines: list[Any]) -> None:
        head = {"format": 1, "bundle": 7}
        text = "".join(json.dumps(line) + "\n" for line in [head, *lines])
        (self.bundle / "tasks").write_text(text)

    def results(self, *lines: Any, to: str = "results") -> None:
        """Objects, or bytes as they are."""
        data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
        (self.bundle / to).write_bytes(b"".join(one + b"\n" for one in data))

    def left(self, number: int, *names: str) -> None:
        """A task of a job with file transfer has left files."""
        for name in names:
            path = self.bundle / "out" / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{number} {name}")

    def collect(
        self,
        *,
        removed: bool = False,
        names: Sequence[str] = NAMES,
        why: str = "it has ended",
        waiting: int = 0,
    ) -> list[LogEvent]:
        """The events, in the form in which DAGMan reads them."""
        retries = (0, 2, *[0] * len(names))[: len(names)]
        order = self.order(Collect(7, 5, (), retries, removed, why, waiting), names)
        answer = collect(order, self.known)
        self.took, data = answer.took, answer.events.encode()
        events, end = CommonEvents(lambda stamp: 0.0).read(data, 0, 1000)
        assert end == len(data), answer.events
        assert all(one >= 0 for one in self.took)
        return [event._replace(stamp="") for event in events]

    def live(self, names: Sequence[str] = NAMES, *, streams: bool = False) -> Collected:
        """The answer while its job runs."""
        lines = (self.bundle / "tasks").read_text().split("\n", 1)
        head = json.dumps({"format": 1, "bundle": 7, "release": 1.0, "stream": streams})
        (self.bundle / "tasks").write_text(f"{head}\n{lines[1]}")
        order = self.order(Collect(7, 5, (), (0,) * len(names), False, ""), names)
        return collect(order, self.known)

    def order(self, asked: Collect, names: Sequence[str] = NAMES) -> CollectOrder:
        return CollectOrder(asked, str(self.bundle.parent), names, (False, False, True))

    def values(self, **how: Any) -> dict[int, int]:
        """By number of a task, how it has ended."""
        events = self.collect(**how)
        ends = [event for event in events if event.kind == EventKind.JOB_TERMINATED]
        assert [event.record for event in events].count("UNBUNDLED") == 1
        assert events[-1].record == "UNBUNDLED"
        return {event.subproc: event.value for event in ends}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def started(number: int) -> dict[str, Any]:
    return {"started": number, "run": 1, "time": TIME}


def ended(number: int, code: int = 0, **fields: Any) -> dict[str, Any]:
    times = {"time": TIME + 3, "begun": TIME, "user": 1.5, "system": 0.1, "rss": 12288}
    signal = max(0, -code)
    return {"ended": number, "run": 1, "code": code, "signal": signal, **times, **fields}


BEGUN = {"run": 1, "host": "exec1", "time": TIME}


def test_each_node_has_the_life_of_a_job(home: Home) -> None:
    home.results(BEGUN, started(1), ended(1), started(2), ended(2, 3), started(3), ended(3, -9))
    events = home.collect()
    kinds = (EventKind.SUBMIT, EventKind.EXECUTE, EventKind.JOB_TERMINATED)
    assert [event[:4] for event in events[:-1]] == [
        (kind, 5, 0, number) for number in (1, 2, 3) for kind in kinds
    ]
    assert [event.node for event in events[:-1:3]] == list(NAMES)
    assert [event.value for event in events[2:-1:3]] == [0, 3, -9]
    end = events[-1]
    assert (end.record, end.value, end.text) == ("UNBUNDLED", 7, "it has ended\n")


def test_the_bindings_read_the_same(home: Home) -> None:
    home.results(BEGUN, ended(1), ended(2, -9))
    order = home.order(Collect(7, 5, (), (0,) * 3, True, "removed"))
    order = order._replace(stamps=(False,) * 3)
    path = home.path / "log"
    path.write_text(collect(order, collected.Known()).events)
    found = [
        (
            int(event.type),
            event.cluster,
            event.proc,
            event.get("ReturnValue", event.get("LogNotes")),
        )
        for event in htcondor2.JobEventLog(str(path)).events(0)
    ]
    assert [one[0] for one in found] == [0, 1, 5, 0, 1, 5, 0, 9, 8]
    assert {one[1:3] for one in found[:-1]} == {(5, 0)}
    assert found[0][3] == "DAG Node: A"
    assert found[2][3] == 0
    (first, _) = (
        event for event in htcondor2.JobEventLog(str(path)).events(0) if int(event.type) == 5
    )
    assert (first["CpusUsage"], first["MemoryUsage"]) == (0.53, 12), "of 1.6 s in 3 s"


def test_a_task_that_ran_for_too_long_has_timed_out(home: Home) -> None:
    home.tasks([home.task(number, name, timeout=50) for number, name in enumerate(NAMES, 1)])
    home.results(ended(1), ended(2, -15, timed_out=True))
    *events, record, end, _ = home.collect()
    assert [event.kind for event in events[3:]] == [EventKind.SUBMIT, EventKind.EXECUTE]
    told = record.record, record.node, record.retry, record.value, record.cluster, record.proc
    assert told == ("TIMED_OUT", "B", 2, RETURN_JOB_ABORTED, 5, 0)
    assert record.text == "ran for 50 s (TIMEOUT RUNNING 50)"
    assert end[:4] == (EventKind.JOB_ABORTED, 5, 0, 2)
    assert end.text == "Node Timeout: DAG node B (5.0.2) ran for 50 s (TIMEOUT RUNNING 50)"


def test_who_was_running_is_told(home: Home) -> None:
    home.results(BEGUN, started(2), started(3), ended(2))
    assert home.values() == {2: 0}
    assert home.collect()[-1].text == "it has ended\nC"


def test_before_the_runner_there_are_no_results(home: Home) -> None:
    assert home.values() == {}
    (home.bundle / "tasks").unlink()
    assert home.values() == {}
    forget(str(home.bundle.parent), 7)
    assert home.values() == {}


def test_nodes_of_a_removed_bundle_were_removed(home: Home) -> None:
    home.results(BEGUN, started(2), ended(2), started(3))
    events = home.collect(removed=True)
    aborted = [one.subproc for one in events if one.kind == EventKind.JOB_ABORTED]
    assert aborted == [1, 3]
    assert home.values(removed=True) == {2: 0}


def test_files_are_put_where_they_belong_once(home: Home) -> None:
    home.tasks([home.task(1, "A", error="A.err", remaps={"x": "sub/y"}), home.task(2, "B")])
    (home.nodes / "sub").mkdir()
    home.left(1, "_stdout", "_stderr", "x", "d/e")
    home.left(2, "_stdout", "_stderr", "x")
    home.results(ended(1), ended(2, 4))
    want = {"A.out": "1 _stdout", "A.err": "1 _stderr", "sub/y": "1 x", "d/e": "1 d/e"}
    want |= {"B.out": "2 _stdout", "x": "2 x"}
    for _ in range(2):
        assert home.values() == {1: 0, 2: 4}
        files = [path for path in home.nodes.rglob("*") if path.is_file()]
        found = {str(path.relative_to(home.nodes)): path.read_text() for path in files}
        assert found == want
        (home.nodes / "x").write_text("2 x")


def test_what_was_done_half_is_done_to_its_end(home: Home) -> None:
    home.left(1, "a", "b", "d/e", "d/f")
    home.results(ended(1))
    os.replace(home.bundle / "out/1/a", home.nodes / "a")
    (home.nodes / "d").mkdir()
    os.replace(home.bundle / "out/1/d/e", home.nodes / "d/e")
    assert home.values() == {1: 0}
    assert sorted(path.name for path in home.nodes.rglob("*")) == ["a", "b", "d", "e", "f"]


def test_an_output_that_has_no_place_fails_its_node_each_time(home: Home) -> None:
    home.tasks([home.task(1, "A", remaps={"x": "no/such/x"}), home.task(2, "B")])
    home.left(1, "x", "y")
    home.left(2, "z")
    home.results(ended(1), ended(2))
    for _ in range(2):
        assert home.values() == {1: 1, 2: 0}
    (home.nodes / "no/such").mkdir(parents=True)
    assert home.values() == {1: 0, 2: 0}


def test_files_are_written_through_links(home: Home) -> None:
    """As by HTCondor: a link may lead to where there is room.  What is no file is not replaced."""
    outputs = ["to_file", "to_nothing", "to_device", "to_directory"]
    leads_to = ["file", "nothing", "/dev/null", "."]
    (home.nodes / "file").write_text("old")
    for name, target in zip(outputs, leads_to):
        (home.nodes / name).symlink_to(target)
    home.tasks([home.task(1, "A", outputs=outputs)])
    home.left(1, *outputs)
    home.results(BEGUN, ended(1, left=4))
    assert home.values(names=("A",)) == {1: 0}
    assert [(home.nodes / name).is_symlink() for name in outputs] == [True, True, False, False]
    for name, place in zip(outputs, ["file", "nothing", "to_device", "to_directory"]):
        assert (home.nodes / place).read_text() == f"1 {name}"


def test_a_file_does_not_replace_a_directory(home: Home) -> None:
    home.left(1, "x")
    (home.nodes / "x").mkdir()
    home.results(ended(1))
    assert home.values() == {1: 1}
    assert not list((home.nodes / "x").iterdir())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE])
def test_a_full_disk_fails_no_node_and_is_waited_for(
    home: Home, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.left(1, "x", "y")
    home.results(ended(1))
    with monkeypatch.context() as full:
        full.setattr(os, "replace", make_raiser(number))
        with pytest.raises(OSError, match=os.strerror(number)):
            home.collect()
    assert home.values() == {1: 0}
    assert sorted(path.name for path in home.nodes.iterdir()) == ["x", "y"]


def make_raiser(number: int) -> Callable[..., None]:
    def replace(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return replace


def test_nodes_that_the_dag_has_lost_change_no_others_results(home: Home) -> None:
    home.results(started(1), ended(1, 4), started(2), ended(2, 3), started(3))
    *events, end = home.collect(names=("C", "B"), removed=True)
    assert [event.node for event in events if event.kind == EventKind.SUBMIT] == ["B", "C"]
    assert [(one.subproc, one.value) for one in events if one.kind == EventKind.JOB_TERMINATED] == [
        (2, 3)
    ]
    assert [one.subproc for one in events if one.kind == EventKind.JOB_ABORTED] == [3]
    assert end.text == "it has ended\nC"


def test_nodes_without_a_task_have_numbers_of_their_own(home: Home) -> None:
    home.tasks([home.task(1, "B")])
    home.results(ended(1))
    events = home.collect(removed=True)
    found = {one.node: one.subproc for one in events if one.kind == EventKind.SUBMIT}
    assert found == {"A": 2, "B": 1, "C": 3}


def test_the_reason_of_an_end_leaves_room_for_names(home: Home) -> None:
    home.results(started(1))
    end = home.collect(why="by bob:\n" + "x" * 2000)[-1]
    why, _, suspects = end.text.partition("\n")
    assert (why[:12], suspects) == ("by bob: xxxx", "A")


def test_bundles_of_another_user_are_not_looked_at(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.results(ended(1))
    monkeypatch.setattr(files, "_is_foreign", lambda fd: True)
    assert home.values() == {1: 0}
    home.path.chmod(0o777)
    with pytest.raises(OSError, match="belongs to user"):
        home.collect()


def test_no_link_is_followed_for_what_has_come_home(home: Home) -> None:
    (home.path / "victim").mkdir()
    (home.path / "victim" / "x").touch()
    (home.bundle / "out").mkdir()
    (home.bundle / "out" / "1").symlink_to(home.path / "victim")
    home.results(ended(1))
    assert home.values() == {1: 0}
    assert (home.path / "victim" / "x").exists()


def test_a_missing_output_fails_a_node_that_has_ended_well(home: Home) -> None:
    home.results(ended(1, missing=["x"]), ended(2, 5, missing=["x"]), ended(3, -9, missing=["x"]))
    assert home.values() == {1: 1, 2: 5, 3: -9}
    assert reasons(home) == [("A", 0, "its output x is missing")]


def test_a_node_is_told_why_it_has_failed_beside_its_exit_code(home: Home) -> None:
    home.left(1, "x")
    (home.nodes / "x").mkdir()
    home.results(ended(1, left=1), ended(2, missing=["a", "b"]), ended(3, 127, error="no\nfile"))
    assert reasons(home) == [
        ("A", 0, "its output can't be stored: x: Is a directory"),
        ("B", 2, "its outputs a, b are missing"),
        ("C", 0, "it can't be started: no file"),
    ]


def reasons(home: Home) -> list[tuple[str, int, str]]:
    """Names, retries and texts of records that are followed by the end of their node's task."""
    events = home.collect()
    found = []
    for record, end in zip(events, events[1:]):
        if record.record == "TASK_FAILED":
            assert end.kind == EventKind.JOB_TERMINATED
            assert (record.cluster, record.proc) == (end.cluster, end.proc)
            found.append((record.node, record.retry, record.text))
    return found


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b'{"ended": 1, "code": 0',
        b"null",
        b"[1]",
        b'"ended"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"x" * 3_000_000,
        b'{"ended": 99, "code": 0}',
        b'{"ended": 0, "code": 0}',
        b'{"ended": -1, "code": 0}',
        b'{"ended": true, "code": 0}',
        b'{"ended": "1", "code": 0}',
        b'{"ended": [1], "code": 0}',
        b'{"ended": 1.0, "code": 0}',
        b'{"run": [], "host": "h"}',
        b'{"run": 1, "host": 7}',
        b'{"run": 1e999, "host": "h"}',
        b'{"started": {}}',
    ],
)
def test_a_line_that_makes_no_sense_is_passed_over(home: Home, line: bytes) -> None:
    home.results(line, ended(2, 3), line)
    assert home.values() == {2: 3}


def test_a_line_that_was_cut_hides_no_other(home: Home) -> None:
    whole = json.dumps(ended(1)).encode()
    home.results(BEGUN, whole[:20] + whole, ended(2), whole[:-5])
    assert home.values() == {2: 0}


@pytest.mark.parametrize(
    "fields",
    [
        {"run": []},
        {"run": {}, "time": "x", "begun": None},
        {"time": -5, "begun": 1e300},
        {"time": float("nan"), "begun": float("inf")},
        {"user": "x", "system": -1, "rss": None},
        {"user": 1e308},
        {"missing": {}},
        {"signal": False, "missing": None},
    ],
)
def test_a_forged_line_makes_events_that_can_be_read(home: Home, fields: dict[str, Any]) -> None:
    home.results({**ended(1), **fields})
    assert home.values() == {1: 0}


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        *(  # a code that is none is a failure
            ([{**ended(1), "code": code, "signal": 0}], {1: 1})
            for code in (True, "0", None, -3, 1.0, 1 << 80, [], float("nan"))
        ),
        ([ended(1, 3), {**ended(1, 0), "run": 2}], {1: 3}),  # of two runs the first
        ([ended(1, left=2), ended(2, left=0)], {2: 0}),  # none whose outputs are all gone
        ([{"run": 1, "host": "a<b>\n...\nc" + "d" * 500}, ended(1)], {1: 0}),
    ],
)
def test_which_ends_count(home: Home, lines: list[Any], values: dict[int, int]) -> None:
    home.results(*lines)
    assert home.values() == values


def test_what_a_run_ends_when_another_has_begun_does_not_count(home: Home) -> None:
    """Its machine counts as lost, and the other runs the task again: its files change yet."""
    newer = {**BEGUN, "run": 2}
    home.results(BEGUN, started(1), started(2), ended(2), newer, ended(1))
    assert home.values() == {2: 0}
    home.results(BEGUN, started(1), newer, ended(1), {**ended(1, 3), "run": 2})
    assert home.values() == {1: 3}


def test_a_task_that_one_run_has_ended_twice_has_no_result(home: Home) -> None:
    home.results(ended(1), ended(2), ended(2))
    assert home.values() == {1: 0}
    assert home.collect()[-1].text.endswith("\nB")


def test_a_task_whose_outputs_others_have_taken_away_has_no_result(home: Home) -> None:
    home.left(1, "_stdout", "x")
    home.left(2, "_stdout")
    home.results(ended(1, left=2), ended(2, left=2), {**ended(3, left=1)})
    for _ in range(2):
        assert home.values() == {1: 0}
        assert home.collect()[-1].text.endswith("\nB C")


def test_a_runner_that_has_not_begun_is_heard(home: Home) -> None:
    (home.bundle / "runner.err").write_text("There is no python3.\nmore\n")
    assert home.collect()[-1].text == "it has ended: There is no python3.\n"
    home.results(BEGUN)
    assert home.collect()[-1].text == "it has ended\n"


@pytest.mark.parametrize("how", ["directory", "pipe", "secret", "loop"])
def test_what_is_no_file_has_no_results(home: Home, how: str) -> None:
    path = home.bundle / "results"
    if how == "directory":
        path.mkdir()
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "loop":
        path.symlink_to("nowhere")
    else:
        home.results(ended(1))
        path.chmod(0)
    if how == "secret" and os.access(path, os.R_OK):
        assert home.values() == {1: 0}  # of root nothing is secret
    else:
        assert home.values() == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"n": []},
        {"n": "1"},
        {"directory": 5},
        {"output": None},
        {"error": {}},
        {"remaps": []},
        {"remaps": {"x": 1}},
        {"directory": "/a\0b"},
        {"name": "other"},
        {"name": ["A"]},
    ],
)
def test_a_task_that_is_damaged_has_no_result(home: Home, fields: dict[str, Any]) -> None:
    home.tasks([{**home.task(1, "A"), **fields}, home.task(2, "B")])
    home.left(1, "_stdout", "x")
    home.results(ended(1), ended(2))
    assert home.values() == {2: 0}


def test_names_that_logs_show_otherwise_do_no_harm(home: Home) -> None:
    home.results(ended(1))
    order = home.order(Collect(7, 5, (), (0,), False, 'a "b"\nc'), ("A",))
    assert collect(order, collected.Known()).events.count("\n...\n") == 4


def test_nothing_is_deleted_below_a_link_of_another_user(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = home.path / "other.dag.bundles"
    link.symlink_to(home.bundle.parent)
    monkeypatch.setattr(files, "_is_foreign", lambda fd: True)
    home.path.chmod(0o777)
    forget(str(link), 7)
    assert (home.bundle / "tasks").exists()


def test_what_is_not_needed_is_deleted(home: Home) -> None:
    directory = home.bundle.parent
    (directory / "8").mkdir()
    forget(str(directory), 7)
    forget(str(directory), 7)
    assert [path.name for path in directory.iterdir()] == ["8"]


@pytest.mark.parametrize("name", ["results", "tasks"])
def test_what_a_task_puts_in_the_place_of_a_file_is_not_read(home: Home, name: str) -> None:
    path, kept = home.bundle / name, home.path / "kept"
    home.results(ended(1))
    for make in (os.mkfifo, Path.mkdir, lambda path: path.symlink_to(kept)):
        path.rename(kept)
        make(path)
        assert home.values() == {}
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        kept.rename(path)
    assert home.values() == {1: 0}


# While its job runs.


def read(text: str) -> list[LogEvent]:
    events, end = CommonEvents(lambda stamp: 0.0).read(text.encode(), 0, 1000)
    assert end == len(text.encode())
    return list(events)


def test_what_has_ended_is_known_while_the_job_runs(home: Home) -> None:
    home.results(BEGUN, started(1), ended(1), started(2))
    answer = home.live()
    *events, last = read(answer.events)
    assert {event.subproc for event in events} == {1}
    assert (last.record, last.value, last.retry, last.text) == ("UNBUNDLED", 7, 1, "")
    assert answer.took == [3.0]
    assert home.live(NAMES[1:]).events == ""
    home.results(BEGUN, started(1), ended(1), started(2), ended(2, 3))
    assert {event.subproc for event in read(home.live(NAMES[1:]).events)[:-1]} == {2}


def test_results_that_have_not_changed_are_not_read_again(home: Home) -> None:
    assert home.live().events == ""
    home.results(BEGUN, started(1), ended(1))
    assert home.live().events
    assert home.live() == Collected(7, "")
    with (home.bundle / "results").open("a") as file:
        file.write(json.dumps(ended(2)) + "\n")
    assert home.live(NAMES[1:]).events


def test_what_the_job_does_not_run_any_more(home: Home) -> None:
    release = {"released": [2, 3, 9, "x"], "run": 1, "time": TIME}
    home.results(BEGUN, started(1), release, ended(3))
    events = read(home.live().events)
    assert {event.subproc for event in events[:-1]} == {3}
    assert (events[-1].retry, events[-1].text) == (1, NAMES[1])
    *events, given, end = home.collect()
    assert (given.retry, given.text) == (2, NAMES[1])
    assert (end.retry, end.text) == (0, f"it has ended\n{NAMES[0]}")


def test_only_the_last_run_of_the_runner_releases(home: Home) -> None:
    """Another may run on a machine that was lost."""
    release = {"released": [2], "run": 1, "time": TIME}
    home.results(BEGUN, {**BEGUN, "run": 2}, release)
    assert home.live().events == ""
    home.results(BEGUN, release, {**BEGUN, "run": 2})
    assert read(home.live().events)[-1].text == NAMES[1]


def test_many_names_need_several_records(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collected, "MAX_NAMES", len(NAMES[1]) + 1)
    home.results(BEGUN, {"released": [1, 2, 3], "run": 1, "time": TIME})
    records = read(home.live().events)
    assert [(one.retry, one.text) for one in records] == [
        (3, NAMES[0]),
        (2, NAMES[1]),
        (1, NAMES[2]),
    ]


def test_what_is_streamed_tells_how_long_tasks_took_and_what_is_released(home: Home) -> None:
    """They have not ended before their files are at home."""
    home.results(BEGUN, started(1), ended(1), started(2), to="live")
    assert home.live(streams=True) == Collected(7, "", [3.0], not_home=1)
    assert home.live(streams=True) == Collected(7, "")
    release = {"released": [3], "run": 1, "time": TIME}
    home.results(BEGUN, started(1), ended(1), started(2), ended(2), release, to="live")
    answer = home.live(streams=True)
    assert (answer.took, answer.not_home) == ([3.0], 2)
    (record,) = read(answer.events)
    assert (record.retry, record.text) == (1, NAMES[2])
    home.results(BEGUN, ended(1), ended(2))
    for number in (1, 2):
        home.left(number, "_stdout")
    assert home.values() == {1: 0, 2: 0}
    assert not home.took


def test_what_is_streamed_tells_what_was_running_when_nothing_comes_home(home: Home) -> None:
    """DAGMan has removed the job, which was on hold."""
    home.results(BEGUN, started(1), ended(1), started(2), to="live")
    (end,) = home.collect()
    assert end.text == f"it has ended\n{NAMES[1]}"


def test_of_what_a_task_has_streamed_only_so_much_is_read(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 MB of empty lines took more than the ten minutes that reading may take."""
    monkeypatch.setattr(collected, "MAX_LIVE", 1000)
    home.results(BEGUN, started(1), ended(1), b"\n" * 1000, ended(2), to="live")
    assert home.live(streams=True).took == [3.0]
    home.results(BEGUN, ended(1), b"\n" * 1000, ended(2))
    assert home.values() == {1: 0, 2: 0}
    monkeypatch.setattr(collected, "MAX_BYTES", 1000)
    assert home.values() == {1: 0}


# Tasks that have run after others.


@pytest.fixture
def chain(home: Home) -> Home:
    """B runs after A, and C after B."""
    home.tasks(
        [
            home.task(1, "A", remaps={"x": "no/such/x"}),
            home.task(2, "B", after=[1]),
            home.task(3, "C", after=[2]),
        ]
    )
    return home


def test_each_result_counts_if_all_have_succeeded(chain: Home) -> None:
    chain.results(BEGUN, started(1), ended(1), started(2), ended(2), started(3), ended(3, 5))
    assert chain.values() == {1: 0, 2: 0, 3: 5}
    assert chain.took == [3.0] * 3


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ([ended(1, 3)], {1: 3}),
        ([ended(1, -9)], {1: -9}),
        ([ended(1, missing=["x"])], {1: 1}),
        ([ended(1, code=True)], {1: 1}),
        ([ended(1, timed_out=True)], {}),
        ([started(1)], {}),
        ([ended(1), ended(1)], {}),
        ([ended(1, left=1)], {}),
        ([ended(1, 3), {**ended(1), "run": 2}], {1: 3}),
    ],
)
def test_what_has_run_after_a_failure_has_not_run(
    chain: Home, lines: list[Any], values: dict[int, int]
) -> None:
    """It is no suspect, either: the runner did not know better, or its lines were changed."""
    chain.results(BEGUN, *lines, started(2), ended(2), started(3), ended(3))
    for _ in range(2):
        assert chain.values() == values
        assert not {"B", "C"} & {*chain.collect()[-1].text.partition("\n")[2].split()}
        assert len(chain.took) == (1 if 1 in values or lines[0].get("timed_out") else 0)


def test_an_output_that_has_no_place_is_no_success(chain: Home) -> None:
    """What has run after it was right to use the output; its node would not have run."""
    chain.left(1, "x")
    chain.left(2, "y")
    chain.results(BEGUN, ended(1, left=1), ended(2, left=1))
    for _ in range(2):
        assert chain.values() == {1: 1}
        assert not (chain.nodes / "y").exists()
    (chain.nodes / "no/such").mkdir(parents=True)
    assert chain.values() == {1: 0, 2: 0}
    assert (chain.nodes / "y").exists()


@pytest.mark.parametrize(("end", "good"), [(ended(1), True), (ended(1, 1), False)])
def test_events_that_were_written_before_are_not_forgotten(
    chain: Home, end: dict[str, Any], good: bool
) -> None:
    chain.results(BEGUN, end, ended(2))
    assert chain.values(names=("B", "C"), waiting=2) == ({2: 0} if good else {})


def test_files_tell_whether_a_task_was_brought_home_before(chain: Home) -> None:
    """The end of DAGMan may have come between the events of two nodes."""
    lines = BEGUN, ended(1, left=2), ended(2, left=0)
    chain.left(1, "x", "d/y")
    (chain.nodes / "d").mkdir()
    chain.results(*lines)
    assert chain.values() == {1: 1}
    assert chain.values(names=("B", "C")) == {}
    (chain.nodes / "no/such").mkdir(parents=True)
    assert chain.values(names=("B", "C")) == {}  # as its event tells
    assert chain.values() == {1: 0, 2: 0}
    assert (chain.bundle / "taken/1/d").exists()  # merged into one that was there
    assert chain.values(names=("B", "C")) == {2: 0}


def test_events_come_in_the_order_of_the_tasks(chain: Home) -> None:
    chain.results(BEGUN, ended(2), ended(1), ended(3))
    events = chain.collect(names=("C", "A", "B"))
    assert [one.subproc for one in events if one.kind == EventKind.SUBMIT] == [1, 2, 3]


def test_two_chains_that_meet(home: Home) -> None:
    home.tasks([home.task(1, "A"), home.task(2, "B"), home.task(3, "C", after=[1, 2])])
    home.results(BEGUN, ended(1), ended(2), ended(3))
    assert home.values() == {1: 0, 2: 0, 3: 0}
    home.results(BEGUN, ended(1), ended(2, 3), ended(3))
    assert home.values() == {1: 0, 2: 3}


def gone(chain: Home, waiting: int) -> list[int]:
    """Tasks of which the events say that they were removed with their bundle."""
    events = chain.collect(removed=True, waiting=waiting)
    return [one.subproc for one in events if one.kind == EventKind.JOB_ABORTED]


def test_nodes_that_were_to_run_after_others_have_no_part_in_a_removal(chain: Home) -> None:
    chain.results(BEGUN, started(1))
    assert [gone(chain, waiting) for waiting in (2, 1, 0)] == [[1], [1, 2], [1, 2, 3]]
    chain.results(BEGUN, ended(1), ended(2))
    assert chain.values(removed=True, waiting=2) == {1: 0, 2: 0}
    chain.results(BEGUN, ended(1, 3), ended(2))
    assert chain.values(removed=True, waiting=2) == {1: 3}


def test_what_has_begun_is_removed_though_the_log_has_it_wait(chain: Home) -> None:
    """The end of the one before it was not read while the job ran."""
    chain.results(BEGUN, started(1), ended(1), started(2))
    assert [gone(chain, waiting) for waiting in (2, 1, 0)] == [[2], [2], [2, 3]]
    chain.results(BEGUN, started(1), ended(1, 3), started(2))
    assert gone(chain, 2) == []


@pytest.mark.parametrize(
    ("changed_at", "values"),
    [(0, {1: 0, 2: 0, 3: 0}), (TIME - 5, {1: 0}), (TIME + 60, {1: 0, 2: 0, 3: 0})],
)
def test_what_has_run_by_a_description_that_was_written_anew_has_not_run(
    home: Home, changed_at: float, values: dict[int, int]
) -> None:
    """By one before it; what happens later is as of a job that was submitted."""
    file = home.nodes / "B.sub"
    file.write_text("old")
    state = file.stat()
    description = [str(file), state.st_mtime_ns, state.st_size]
    home.tasks(
        [
            home.task(1, "A"),
            home.task(2, "B", after=[1], description=description),
            home.task(3, "C", after=[2], description=None),
        ]
    )
    home.results(BEGUN, ended(1), ended(2), ended(3))
    if changed_at:
        file.write_text("anew")
        os.utime(file, (changed_at, changed_at))
    assert home.values() == values
    assert home.collect()[-1].text == "it has ended\n"


@pytest.mark.parametrize("found", [7, [], [7], [[]], ["a\0", 1], ["no/such", 1, 2], {}])
def test_a_description_that_makes_no_sense(home: Home, found: Any) -> None:
    home.tasks([home.task(1, "A"), home.task(2, "B", after=[1], description=found)])
    home.results(BEGUN, ended(1), ended(2))
    assert home.values() == {1: 0, 2: 0}


def test_chains_while_the_job_runs(chain: Home) -> None:
    chain.results(BEGUN, started(1), ended(1), started(2), ended(2))
    answer = chain.live()
    assert [one.subproc for one in read(answer.events)[:-1]] == [1] * 3 + [2] * 3
    release = {"released": [3], "run": 1, "time": TIME}
    chain.results(BEGUN, ended(1), ended(2, 4), release)
    answer = chain.live(("B", "C"))
    *events, record = read(answer.events)
    assert [one.value for one in events if one.kind == EventKind.JOB_TERMINATED] == [4]
    assert (record.retry, record.text) == (1, "C")


def test_the_times_of_chains_are_known_before_their_files_are_at_home(chain: Home) -> None:
    chain.results(BEGUN, ended(1), ended(2), to="live")
    assert chain.live(streams=True) == Collected(7, "", [3.0, 3.0], not_home=2)


@pytest.mark.parametrize("after", [[2], [3], [0], [-1], ["1"], [True], [[]], 1, "1", None, {}])
def test_an_order_that_makes_no_sense(home: Home, after: Any) -> None:
    home.tasks([home.task(1, "A"), home.task(2, "B", after=after)])
    home.results(BEGUN, ended(1), ended(2))
    assert home.values(names=("A", "B")) == {1: 0}


def test_a_task_that_a_damaged_one_precedes(home: Home) -> None:
    home.tasks([{**home.task(1, "A"), "output": 7}, home.task(2, "B", after=[1])])
    home.results(BEGUN, ended(1), ended(2))
    assert home.values(names=("A", "B")) == {}


def test_a_chain_of_thousands(home: Home) -> None:
    names = [f"N{number}" for number in range(1, 3001)]
    lines = [home.task(number, name) for number, name in enumerate(names, 1)]
    for number, line in enumerate(lines[1:], 1):
        line["after"] = [number]
    home.tasks(lines)
    home.results(BEGUN, *(ended(number) for number in range(1, 3001)))
    assert len(home.values(names=names[-300:], waiting=300)) == 300
