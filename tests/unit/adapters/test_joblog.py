"""The nodes log as it can be found on a disk: whole, half written, garbled, cut, gone."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from condor_pydagman.adapters import joblog
from condor_pydagman.adapters.joblog import IncompleteEvent, NodesLog
from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.engine.inputs import LogBroken, LogEvent, LogRepaired
from condor_pydagman.errors import FileError
from condor_pydagman.records import own_events
from condor_pydagman.vocabulary import EventKind, JournalRecord

WHEN = "2026-11-21 11:56:29"


def submit(cluster: int, node: str = "A") -> str:
    return (
        f"000 ({cluster:03d}.000.000) {WHEN}.877 Job submitted from host: <127.0.0.1:1>\n"
        f'    [ DAGNodeName = "{node}"; JobBatchName = "b" ]\n...\n'
    )


def ended(cluster: int, line: str = "(1) Normal termination (return value 3)") -> str:
    usage = "\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage\n" * 4
    return f"005 ({cluster:03d}.000.000) {WHEN} Job terminated.\n\t{line}\n{usage}...\n"


@pytest.fixture
def log(tmp_path: Path) -> NodesLog:
    made = NodesLog(str(tmp_path / "t.dag.nodes.log"))
    made.open(truncate=True)
    return made


def write(log: NodesLog, text: str) -> None:
    with open(log.path, "a", encoding="utf-8") as file:
        file.write(text)


def read_all(log: NodesLog) -> list[LogEvent | LogBroken | LogRepaired]:
    """All there is to read; an empty read is not the end while there is more."""
    events = log.read()
    while log.more:
        events += log.read()
    return events


def descriptors(path: str) -> list[int]:
    """Those that this process has of a file."""
    log, found = os.stat(path), []
    for fd in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):  # closed since
            found += [fd] if os.path.samestat(os.fstat(fd), log) else []
    return found


def test_no_program_that_is_started_has_the_log(log: NodesLog) -> None:
    """Not even one that another library starts, without closing what it has inherited."""
    write(log, submit(1))
    read_all(log)
    assert len(descriptors(log.path)) > 1, "the bindings have it open"
    assert not [fd for fd in descriptors(log.path) if os.get_inheritable(fd)]
    ls = ["/bin/ls", "-l", "/proc/self/fd"]
    done = subprocess.run(ls, close_fds=False, capture_output=True, text=True, check=True)
    assert log.path not in done.stdout


def brief(events: list[LogEvent | LogBroken | LogRepaired]) -> list[tuple[int, int]]:
    assert not any(isinstance(event, LogBroken) for event in events), events
    return [(event.kind, event.cluster) for event in events if isinstance(event, LogEvent)]


def test_a_log_whose_name_the_bindings_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="its name is not UTF-8"):
        NodesLog(f"{tmp_path}/\udcff.nodes.log").open(truncate=True)
    assert os.listdir(tmp_path) == []


def test_an_empty_log_has_no_events(log: NodesLog) -> None:
    assert log.read() == []
    assert not log.more
    assert not log.torn


def test_an_event_comes_once_with_all_that_the_engine_wants(log: NodesLog) -> None:
    write(log, submit(7, "B"))
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert (event.kind, event.cluster, event.proc, event.subproc) == (EventKind.SUBMIT, 7, 0, 0)
    assert event.node == "B"
    assert event.stamp == "11/21/26 11:56:29"
    assert event.time == time.mktime((2026, 11, 21, 11, 56, 29, 0, 0, -1))
    assert log.read() == []


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("(1) Normal termination (return value 3)", 3),
        ("(1) Normal termination (return value 0)", 0),
        ("(0) Abnormal termination (signal 9)\n\t(0) No core file", -9),
    ],
)
def test_the_end_of_a_job(log: NodesLog, line: str, value: int) -> None:
    write(log, ended(7, line))
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert (event.kind, event.value) == (EventKind.JOB_TERMINATED, value)


def test_a_log_note_of_the_old_form_names_the_node(log: NodesLog) -> None:
    write(log, submit(7).replace('[ DAGNodeName = "A"; JobBatchName = "b" ]', "DAG Node: Old"))
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert event.node == "Old"


def test_a_job_that_was_submitted_without_a_log_note_has_no_node(log: NodesLog) -> None:
    write(log, f"000 (007.000.000) {WHEN} Job submitted from host: <127.0.0.1:1>\n...\n")
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert event.node == ""


@pytest.mark.parametrize("proc", [-1, -999, -1000, -1002])
def test_the_proc_of_an_event_of_no_job(log: NodesLog, proc: int) -> None:
    write(log, submit(7) + "garbage\n...\n" if proc == -1002 else submit(7))
    write(
        log, f"012 (007.{proc:03d}.000) {WHEN} Job was held.\n\tno room\n\tCode 1 Subcode 2\n...\n"
    )
    events = read_all(log)
    assert [(e.kind, e.proc) for e in events if isinstance(e, LogEvent)] == [(0, 0), (12, proc)]


def test_texts_of_holds_and_aborts(log: NodesLog) -> None:
    write(
        log, f"012 (007.000.000) {WHEN} Job was held.\n\tno such file\n\tCode 13 Subcode 2\n...\n"
    )
    write(log, f"009 (007.000.000) {WHEN} Job was aborted.\n\tvia condor_rm (by user me)\n...\n")
    held, aborted = read_all(log)
    assert isinstance(held, LogEvent)
    assert isinstance(aborted, LogEvent)
    assert (held.kind, held.text) == (EventKind.JOB_HELD, "no such file")
    assert (aborted.kind, aborted.text) == (EventKind.JOB_ABORTED, "via condor_rm (by user me)")


@pytest.mark.parametrize("cut", [1, 30, 100, -5, -4, -1])
def test_a_half_written_event_is_waited_for_without_blocking(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    write(log, submit(6) + submit(7)[:cut])
    first = []
    with monkeypatch.context() as blocking:
        blocking.setattr(log, "_bindings", None)  # they would wait for the rest
        for _ in range(3):
            first += log.read()
    write(log, submit(7)[cut:])
    assert brief(first + read_all(log)) == [(0, 6), (0, 7)]
    assert not log.torn


def test_a_torn_event_says_so(log: NodesLog) -> None:
    write(log, submit(7)[:40])
    assert log.read() == []
    assert log.torn


def test_an_event_that_stays_half_written_does_not_hide_what_comes_after_it(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joblog, "TORN_TIMEOUT_S", 0.0)
    write(log, submit(6) + submit(7)[:40])
    before = read_all(log)
    assert not log.torn
    write(log, "\n...\n" + ended(6))
    assert (5, 6) in brief(before + read_all(log))


def test_what_we_append_to_a_half_written_event_is_readable(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its writer died; it would swallow our event."""
    write(log, submit(6) + submit(7)[:40])
    assert log.read() == []
    monkeypatch.setattr(joblog, "TORN_TIMEOUT_S", 0.0)
    log.append(own_events.post_ended(WHEN, "A", 0, cluster=6, proc=0, subproc=0))
    log.append(own_events.post_ended(WHEN, "B", 0, cluster=5, proc=0, subproc=0))
    assert brief(read_all(log))[-2:] == [(16, 6), (16, 5)]


def held(cluster: int) -> str:
    return (
        f"012 ({cluster:03d}.000.000) {WHEN} Job was held.\n\tno such file\n"
        "\tCode 13 Subcode 2\n...\n"
    )


@pytest.mark.parametrize("cut", [2, 15, 30, 60, 61, 80])
@pytest.mark.parametrize("torn", [submit(7), ended(7), held(7)], ids=len)
@pytest.mark.parametrize("behind", [submit(8, "B"), ended(8)], ids=len)
def test_what_is_behind_a_half_written_event_is_read_alike_whenever_that_is(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch, torn: str, behind: str, cut: int
) -> None:
    """On a full disk HTCondor writes half an event, and later the next one behind it.  The result
    of one job must not become another's, and a DAGMan that read in between must not know what a
    later one can't."""
    write(log, submit(6) + torn[:cut])
    later = NodesLog(log.path)
    later.open(truncate=False)
    monkeypatch.setattr(joblog, "TORN_TIMEOUT_S", 0.0)
    with monkeypatch.context() as blocking:
        blocking.setattr(log, "_bindings", None)  # they would read what comes meanwhile
        found = brief(read_all(log))
    write(log, behind + submit(9))
    found += brief(read_all(log))
    events = read_all(later)
    assert brief(events) == found
    assert LogRepaired() in events  # the schedd is asked
    assert found[-1] == (0, 9)
    assert not {(5, 7), (5, 8), (0, 8)} & set(found)


@pytest.mark.parametrize(
    "garbage",
    [
        "garbage\n...\n",
        "...\n",
        "\n",
        "999 x\n...\n",
        "\x00\x01\n...\n",
        "#!/bin/sh\n" * 20 + "...\n",
    ],
)
def test_events_after_garbage_are_found(log: NodesLog, garbage: str) -> None:
    write(log, submit(7) + garbage + ended(7) + submit(8))
    found = brief(read_all(log))
    assert found[0] == (0, 7)
    assert found[-2:] == [(5, 7), (0, 8)]
    assert not log.more


def test_events_of_a_node_whose_name_is_not_utf_8(log: NodesLog) -> None:
    """They must come back, or its node would wait for them for ever."""
    node = "caf\udce9"
    when = "2026-11-21 12:00:00"
    log.append(own_events.post_ended(when, node, 3, cluster=7, proc=0, subproc=0))
    log.append(own_events.pre_skip(when, node, 4))
    log.append(
        own_events.record_event(
            when, node, AppendJournalRecord(JournalRecord.PRE_ENDED, 0, 0, text=node)
        )
    )
    events = [event for event in read_all(log) if isinstance(event, LogEvent)]
    assert [event.node for event in events] == [node] * 3
    assert (events[0].value, events[2].record) == (3, JournalRecord.PRE_ENDED)


def test_an_event_with_a_bad_body_is_left_out(log: NodesLog) -> None:
    write(
        log, submit(7) + f"005 (007.000.000) {WHEN} Job terminated.\n\tnonsense\n...\n" + submit(8)
    )
    found = brief(read_all(log))
    assert found[0] == (0, 7)
    assert found[-1] == (0, 8)


def test_an_event_of_a_kind_from_the_future_is_no_harm(log: NodesLog) -> None:
    write(log, submit(7) + f"077 (007.000.000) {WHEN} Something new.\n\tmore\n...\n" + ended(7))
    assert brief(read_all(log))[-1] == (5, 7)


def test_a_log_that_shrank_is_broken(log: NodesLog) -> None:
    write(log, submit(7) + ended(7))
    log.read()
    with open(log.path, "r+b") as file:
        file.truncate(20)
    (broken,) = log.read()
    assert isinstance(broken, LogBroken)
    assert "shrank" in broken.reason
    assert log.path in broken.reason


def test_a_log_that_was_deleted_is_broken(log: NodesLog) -> None:
    write(log, submit(7))
    log.read()
    Path(log.path).unlink()
    (broken,) = log.read()
    assert isinstance(broken, LogBroken)
    assert "is gone" in broken.reason


def test_to_the_end(log: NodesLog) -> None:
    assert list(log.to_end()) == [[]]
    count = joblog.MAX_BATCH_EVENTS + 20
    write(log, "".join(submit(number) for number in range(1, count + 1)))
    batches = list(log.to_end())
    assert sum(map(len, batches)) == count
    assert max(map(len, batches)) == joblog.MAX_BATCH_EVENTS


def test_the_end_of_a_half_written_event_is_waited_for(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = submit(7)
    write(log, text[:30])
    monkeypatch.setattr(time, "sleep", lambda seconds: write(log, text[30:]))
    assert brief([event for events in log.to_end() for event in events]) == [(0, 7)]


def test_a_broken_log_has_an_end(log: NodesLog) -> None:
    write(log, submit(7))
    log.read()
    Path(log.path).unlink()
    ((broken,),) = log.to_end()
    assert isinstance(broken, LogBroken)


def test_a_long_log_comes_in_batches(log: NodesLog) -> None:
    count = 2 * joblog.MAX_BATCH_EVENTS + 200
    write(log, "".join(submit(number) for number in range(1, count + 1)))
    sizes, mores = [], []
    for _ in range(4):
        sizes.append(len(log.read()))
        mores.append(log.more)
    assert sizes == [joblog.MAX_BATCH_EVENTS, joblog.MAX_BATCH_EVENTS, 200, 0]
    assert mores == [True, True, False, False]


ODD_NAMES = ["A", "a+b.c", 'with"quote', "back\\slash", "é-ü", "%s$(X)", "x" * 300, "[ ]; = "]


@pytest.mark.parametrize("node", ODD_NAMES)
@pytest.mark.parametrize("text", ["", 'says "no"\nand\tmore\\', "ö" * 200])
def test_a_record_of_ours_comes_back_as_it_was(log: NodesLog, node: str, text: str) -> None:
    record = AppendJournalRecord(JournalRecord.PRE_ENDED, 0, retry=2, value=-9, text=text)
    log.append(own_events.record_event(WHEN, node, record))
    log.append(submit(8))
    event, following = read_all(log)
    assert isinstance(event, LogEvent)
    assert (event.kind, event.record, event.node) == (
        EventKind.GENERIC,
        JournalRecord.PRE_ENDED,
        node,
    )
    assert (event.retry, event.value) == (2, -9)
    assert text.startswith(event.text)
    assert len(event.text) >= min(len(text), 100)
    assert brief([following]) == [(0, 8)]


def test_a_generic_event_of_somebody_else_is_no_record(log: NodesLog) -> None:
    write(log, f"008 (007.000.000) {WHEN} hello\n...\n")
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert event.record is None


def test_a_log_that_cannot_be_made(tmp_path: Path) -> None:
    log = NodesLog(str(tmp_path / "nosuch" / "t.dag.nodes.log"))
    with pytest.raises(FileError, match=r"t\.dag\.nodes\.log: No such file"):
        log.open(truncate=True)


def test_no_file_is_made_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to("elsewhere")
    with pytest.raises(FileError):
        NodesLog(str(tmp_path / "log")).open(truncate=True)
    assert not (tmp_path / "elsewhere").exists()


def test_an_append_does_not_wait_for_somebody_who_is_writing(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = own_events.pre_skip(WHEN, "A", 4)
    with open(log.path, "a", encoding="utf-8") as other:
        other.write(submit(7)[:30])
        other.flush()
        with monkeypatch.context() as waiting:
            waiting.setattr(time, "sleep", pytest.fail)
            for _ in range(3):
                with pytest.raises(IncompleteEvent):
                    log.append(event)
        other.write(submit(7)[30:])
    log.append(event)
    assert Path(log.path).read_text() == submit(7) + event


def test_who_died_while_writing_is_not_waited_for(
    log: NodesLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(joblog, "time", SimpleNamespace(monotonic=lambda: now))
    write(log, submit(7)[:30])
    with pytest.raises(IncompleteEvent):
        log.append(submit(8))
    now += joblog.TORN_TIMEOUT_S
    log.append(submit(8))
    assert Path(log.path).read_text() == submit(7)[:30] + "\n...\n" + submit(8)


FULL = """\
import resource, sys
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.errors import FileError
log = NodesLog(sys.argv[1])
log.open(truncate=False)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    log.append("008 (-01.-01.000) 2026-11-21 11:56:29 hello there\\n...\\n")
except FileError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
log.append("008 (-01.-01.000) 2026-11-21 11:56:29 second try\\n...\\n")
"""


@pytest.mark.parametrize("room", [0, 1, 20, 50])
def test_an_event_that_does_not_fit_on_the_disk_harms_no_other(log: NodesLog, room: int) -> None:
    write(log, submit(7))
    size = len(submit(7)) + room
    done = subprocess.run(
        [sys.executable, "-c", FULL, log.path, str(size)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"can't write the nodes log {log.path}" in done.stdout
    found = brief(read_all(log))
    assert found[0] == (0, 7)
    assert found[-1] == (8, -1)
    assert len(found) <= 3  # almost all of it may have been written
    assert Path(log.path).read_text().endswith(" second try\n...\n")


def test_an_event_that_the_bindings_cannot_decode_still_ends_its_job(log: NodesLog) -> None:
    """A hold or abort reason may hold any bytes; without its end the node would wait for ever."""
    head = "009 (007.000.000) 2026-11-21 11:56:29 Job was aborted.\n\t"
    with open(log.path, "ab") as file:
        file.write(submit(7).encode() + head.encode() + b"caf\xe9\n...\n" + submit(8).encode())
    events = read_all(log)
    assert brief(events) == [(0, 7), (9, 7), (0, 8)]
    assert [event.value for event in events] == [0, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "005 (007.000.000) 2026-11-22 08:00:00 Job terminated.\n\t(1) Normal termin\n...\n",
        "005 (007.000.000) 2026-11-22 08:00:00 Job terminated.\n\t(0) Abn (signal 1\n...\n",
        "016 (007.000.000) 2026-11-22 08:00:00 POST Script terminated.\n\t(1) Norm\n...\n",
    ],
)
def test_an_end_that_does_not_tell_its_result_is_none(log: NodesLog, text: str) -> None:
    """Least of all a success."""
    write(log, text)
    assert list(itertools.chain.from_iterable(log.to_end())) == []


def test_a_log_that_was_replaced_is_broken(log: NodesLog) -> None:
    write(log, submit(7))
    read_all(log)
    other = Path(log.path + ".other")
    other.write_text(submit(7) + submit(8))
    other.replace(log.path)
    position = log.position
    log.open(truncate=False)  # as after a sleep
    log.position = position
    events = log.read()
    assert isinstance(events[0], LogBroken)
    assert "replaced" in events[0].reason


def test_a_node_name_with_a_space_that_only_unicode_knows(log: NodesLog) -> None:
    log.append(own_events.pre_skip(WHEN, "A\xa0B", 4))
    log.append(own_events.pre_skip(WHEN, "A\xa0B", 4).replace("\n", "\r\n", 1))
    assert [event.node for event in read_all(log) if isinstance(event, LogEvent)][:1] == ["A\xa0B"]
