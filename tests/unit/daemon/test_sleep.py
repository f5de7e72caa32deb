"""When DAGMan sleeps, and what it keeps."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from pytest_mock import MockerFixture

import condor_pydagman
from condor_pydagman.config import Config
from condor_pydagman.daemon import sleep
from condor_pydagman.daemon.sleep import HOUR, Descriptors, Sleeper, packed, unpacked
from condor_pydagman.daemon.waiting import Expected, Waiting, form
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.records.log_lines import Header
from condor_pydagman.timers import AD_RENEW_ASLEEP_S, PARENT_CHECK_S, SLEEP_AGAIN_S
from tests import make
from tests.descriptors import descriptors


def loop(fed_at: float = 50.0, until: float = 1000.0, **more: Any) -> Any:
    clock = SimpleNamespace(monotonic=lambda: 110.0)
    run = SimpleNamespace(
        config=Config(sleep_after=60), clock=clock, schedd=more.pop("schedd", None)
    )
    return SimpleNamespace(fed_at=fed_at, run=run, next_deadline=lambda: until, **more)


@pytest.fixture(autouse=True)
def there_is_a_waiter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sleep.os, "access", lambda path, mode: True)


@pytest.mark.parametrize(
    ("wakes", "start_s", "fed_at", "due_s"),
    [
        ((), 0.1, 50.0, 60.0),
        ((), 2.0, 50.0, 200.0),  # a hundred times what a start costs
        ((40.0,), 0.1, 50.0, 60.0),
        ((50.0,), 0.1, 50.0, SLEEP_AGAIN_S),  # nothing has come since it woke
        ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 0.1, 50.0, 60.0),
        ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), 0.1, 50.0, 120.0),  # seven in an hour
        ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), 0.1, 4000.0, 60.0),  # that hour is over
        (tuple(float(number) for number in range(40)), 0.1, 50.0, HOUR),
        ((1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 50.0), 0.1, 50.0, 2 * SLEEP_AGAIN_S),  # others call often
    ],
)
def test_when_it_sleeps(
    wakes: tuple[float, ...], start_s: float, fed_at: float, due_s: float
) -> None:
    assert Sleeper(wakes, start_s).due_at(loop(fed_at)) == pytest.approx(fed_at + due_s)


def test_it_does_not_without_the_waiter_nor_with_a_compiled_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sleep, "FORM", "compiled")
    assert Sleeper((), 0.1).due_at(loop()) == float("inf")
    monkeypatch.undo()
    monkeypatch.setattr(sleep.os, "access", lambda path, mode: path != sleep.WAITER)
    assert Sleeper((), 0.1).due_at(loop()) == float("inf")


@pytest.mark.parametrize(("until", "rests"), [(1000.0, False), (125.0, True)])
def test_where_it_may_not_it_looks_again_after_a_while(until: float, rests: bool) -> None:
    """Else the loop would never wait: it is due, and stays due."""
    sleeper, busy = Sleeper((), 0.1), loop(until=until, rests=rests)
    assert sleeper.due_at(busy) == 110.0
    sleeper.consider(busy)
    assert sleeper.due_at(busy) == 110.0 + SLEEP_AGAIN_S


def test_it_keeps_no_process_for_the_schedd(mocker: MockerFixture) -> None:
    """That of a large DAGMan would stay."""
    there = [True]
    schedd = SimpleNamespace(rest=there.pop)
    mocker.patch.object(sleep, "_has_children", lambda: bool(there))
    mocker.patch.object(sleep, "_is_settled", return_value=True)
    slept = mocker.patch.object(Sleeper, "_sleep")
    Sleeper((), 0.1).consider(loop(rests=True, looks_again=lambda: False, schedd=schedd))
    assert slept.called


def test_what_is_kept_is_as_it_was() -> None:
    engine = make.harness_of("A -> B\nRETRY A 2\nCATEGORY B few\nMAXJOBS few 1").engine
    memory = (engine, MappingProxyType({"a": MappingProxyType({1: 2})}))
    again, mapping = unpacked(packed(memory))  # type: ignore[arg-type, misc]
    assert again.report() == engine.report()
    assert mapping == memory[1]
    assert type(mapping) is type(mapping["a"]) is MappingProxyType


@pytest.mark.parametrize("damage", [lambda kept: kept[:-9], lambda kept: b"", lambda kept: b"x"])
def test_what_is_damaged_is_not_gone_on_with(damage: Any) -> None:
    assert unpacked(damage(packed(make.harness_of("A").engine))) is None  # type: ignore[arg-type]


def test_nor_is_what_another_version_has_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = packed({})  # type: ignore[arg-type]
    assert unpacked(kept) == {}
    monkeypatch.setattr(condor_pydagman, "__version__", "0.0")
    assert unpacked(kept) is None
    assert pickle.loads(kept) != form()


@pytest.mark.parametrize(("read_to", "lock"), [(5, "log"), (3, "log"), (5, "gone")])
def test_what_would_wake_it_at_once_keeps_it_awake(tmp_path: Path, read_to: int, lock: str) -> None:
    """Half an event that has not been read, or a lock file that DAGMan has still to make anew."""
    (tmp_path / "log").write_text("12345")
    log = SimpleNamespace(path=str(tmp_path / "log"), position=(read_to, read_to))
    run = SimpleNamespace(log=log, lock=SimpleNamespace(path=str(tmp_path / lock)))
    settled = (read_to, lock) == (5, "log")
    assert sleep._is_settled(SimpleNamespace(run=run)) is settled  # type: ignore[arg-type]


def test_an_orphan_does_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take what has adopted it for its parent, and hold the lock for ever."""
    monkeypatch.setattr(sleep, "_memory", lambda *_: None)  # so that it can't go on
    loop: Any = SimpleNamespace(run=SimpleNamespace(clock=time, is_orphaned=lambda: True))
    Sleeper((), 0.1)._sleep(loop)


@pytest.mark.parametrize("is_watched", [True, False])
def test_what_the_waiter_is_told(tmp_path: Path, mocker: MockerFixture, is_watched: bool) -> None:
    """And what is left open for it; where it can't be executed, nothing stays open for others."""
    paths = [tmp_path / name for name in ("lock", "log", "socket", "watch", "out")]
    lock, log, socket, watch, out = (os.open(path, os.O_CREAT) for path in paths)
    engine = SimpleNamespace(
        look_at=150.0 if is_watched else None,
        report=lambda: SimpleNamespace(limits=Throttles()),
        expected=lambda: [(8, 0)],
    )
    memory = SimpleNamespace(
        descriptors=Descriptors(lock, (socket,), -1),
        **{"parent": 9, "log": (77,), "halted": True, "engine": engine, "epoch": 20.0},
        **{"ad_age_s": 2 * AD_RENEW_ASLEEP_S, "schedd": ["mine", []], "cpu_s": 0.5},
    )
    run = SimpleNamespace(
        clock=SimpleNamespace(monotonic=lambda: 4000.0),
        config=Config(user_log_scan_interval=5, check_queue_interval=7),
        is_orphaned=lambda: False,
        job=SimpleNamespace(cluster=3),
        lock=SimpleNamespace(path=str(paths[0])),
        log=SimpleNamespace(path=str(paths[1])),
        out=SimpleNamespace(say=lambda *_: None, flush=lambda: None, fileno=lambda: out),
        paths=SimpleNamespace(halt="t.dag.halt"),
    )
    watches = (watch, watch if is_watched else -1)
    loop: Any = SimpleNamespace(run=run, next_deadline=lambda looks: 9.0, watches=lambda: watches)
    remember = mocker.patch.object(sleep, "_memory", return_value=memory)
    mocker.patch.multiple(sleep, packed=lambda _: b"kept", _last_words=lambda _: ["out", out])
    leave_open = mocker.patch.object(sleep, "_leave_open")
    leave_open.side_effect = lambda fds: [os.set_inheritable(fd, True) for fd in fds]
    execute = mocker.patch.object(Waiting, "execute", autospec=True, side_effect=ChildProcessError)
    before = descriptors()
    with pytest.raises(ChildProcessError):
        Sleeper((400.0, 401.0), 0.1)._sleep(loop)
    assert descriptors() == before
    remember.assert_called_once_with(loop, (401.0,))  # the other was an hour ago
    ((waiting,), _), (lock_as, log_as) = execute.call_args, map(os.stat, paths[:2])
    words = f"""
        look {PARENT_CHECK_S if is_watched else 5} parent 9
        same {paths[0]} {lock_as.st_dev} {lock_as.st_ino}
        same {paths[1]} {log_as.st_dev} {log_as.st_ino}
        log {paths[1]} 77 halt t.dag.halt 1 skip 6 skip 33 skip 40
        poll {socket} watch {watch} out {out}"""
    assert [*map(str, waiting.words)] == words.split()
    expected = Expected(3, ["mine", []], [(8, 0)], [*Throttles()])
    assert waiting[2:] == (9.0, 4000.0, 130.0 if is_watched else float("inf"), 7.0, expected, 0.5)
    opened = {lock, socket, watch, out}
    leave_open.assert_called_once_with({waiting.kept, *opened})
    for fd in opened:
        assert not os.get_inheritable(fd)
        os.close(fd)
    os.close(log)


@pytest.mark.parametrize(
    ("header", "jobstate", "status_file", "leaves"),
    [
        (Header(), None, None, True),
        (Header(pid=True), None, None, False),
        (Header(), "x.jobstate", None, False),
        (Header(), None, "x.status", False),
    ],
)
def test_where_it_leaves_without_a_wake(
    header: Header, jobstate: str | None, status_file: str | None, leaves: bool
) -> None:
    """Nowhere where more than two lines with the usual beginning are to be written."""
    run = SimpleNamespace(
        out=SimpleNamespace(header=header, fileno=lambda: 5),
        jobstate=jobstate,
        dag=SimpleNamespace(status_file=status_file),
        process=SimpleNamespace(pid=7),
    )
    words = sleep._last_words(SimpleNamespace(run=run))  # type: ignore[arg-type]
    end = ["out", 5, "**** condor_dagman (condor_DAGMAN) pid 7 EXITING WITH STATUS 3"]
    assert words[:3] == (end if leaves else [])
    assert words[3::3] == ["leave"] * 4 * leaves
    assert words[4::3] == [0, 15, 3, 2] * leaves


def test_the_waiter_has_what_it_is_told_of_and_nothing_else_open() -> None:
    program = """
import os
from condor_pydagman.daemon.sleep import _leave_open
kept, told, other = os.dup(0), os.dup(0), os.dup(0)
os.set_inheritable(kept, True)
_leave_open({told})
print([os.get_inheritable(fd) for fd in (kept, told, other, 0, 1, 2)])
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "[False, True, False, True, True, True]\n"
