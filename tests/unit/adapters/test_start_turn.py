"""Turns to start: how many there are, who waits for one, and what ends the wait."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters import start_turn
from condor_pydagman.adapters.start_turn import StartTurn, keep_limit, wait_for_turn
from condor_pydagman.config import Config
from condor_pydagman.timers import START_TURN_TIMEOUT_S, TURN_LOOK_S
from condor_pydagman.vocabulary import EXIT_RESTART, MEMORY

VARIABLE = "_CONDOR_PYDAGMAN_MAX_STARTS"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The user's directory, which is not there yet; this process is that of a job."""
    monkeypatch.setattr(start_turn, "DIRECTORY", str(tmp_path / "starts"))
    monkeypatch.setattr(start_turn.os, "cpu_count", lambda: 64)
    monkeypatch.setenv("CONDOR_ID", "7.0")
    yield tmp_path / f"starts.{os.geteuid()}"
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


class Time:
    """Time that passes only in pauses; `act` is called in each."""

    def __init__(self, act: Callable[[], object] = lambda: None) -> None:
        self.now = 0.0
        self._act = act

    def wait(self) -> StartTurn:
        return wait_for_turn(lambda: self.now, self._pause)

    def _pause(self, seconds: float) -> None:
        self.now += seconds
        self._act()


def at_once(count: int) -> list[StartTurn]:
    """So many turns, none of which has been waited for."""
    time = Time()
    turns = [time.wait() for _ in range(count)]
    assert time.now == 0
    return turns


def in_a_process(code: str) -> subprocess.Popen[bytes]:
    """Not forked: what another test has loaded may have a thread there, which takes signals."""
    head = f"import os, signal\nfrom {start_turn.__package__} import start_turn"
    code = f"{head}\nstart_turn.DIRECTORY = {start_turn.DIRECTORY!r}\n{code}"
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)


@pytest.mark.parametrize(("processors", "places"), [(1, 2), (3, 6), (64, 8), (None, 2)])
def test_as_many_start_as_may_and_the_next_waits_for_one_of_them_but_not_for_ever(
    place: Path, monkeypatch: pytest.MonkeyPatch, processors: int | None, places: int
) -> None:
    monkeypatch.setattr(start_turn.os, "cpu_count", lambda: processors)
    turns = at_once(places)
    time = Time(turns[1].end)
    turn = time.wait()
    assert time.now == TURN_LOOK_S
    time.wait().end()
    assert START_TURN_TIMEOUT_S <= time.now < START_TURN_TIMEOUT_S + 3 * TURN_LOOK_S
    for one in (*turns, turn, turn):
        one.end()
    at_once(places)
    assert place.stat().st_mode & 0o777 == 0o700


def test_it_waits_as_long_as_others_get_their_turns(place: Path) -> None:
    """With hundreds of DAGMans a turn may come late, and all at once would need too much memory."""
    turns = at_once(start_turn.LIMIT)

    def act() -> None:
        if len(turns) < start_turn.LIMIT + 3 and time.now > 50 * (len(turns) - 7):
            turns[-1].end()
            turns.extend(at_once(1))

    time = Time(act)
    time.wait()
    assert 150 + START_TURN_TIMEOUT_S / 2 < time.now < 150 + 2 * START_TURN_TIMEOUT_S + 1


def test_a_killed_process_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    killed = in_a_process("start_turn.wait_for_turn(); os.write(1, b'1'); signal.pause()")
    assert killed.stdout and killed.stdout.read(1) == b"1"
    time = Time(lambda: (killed.kill(), killed.communicate()))
    time.wait()
    assert time.now == TURN_LOOK_S


def test_of_those_who_wait_one_looks_for_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_turn, "LINE_LOOK_S", 0.01)
    monkeypatch.setenv(VARIABLE, "1")
    (turn,) = at_once(1)
    looks = "lambda _: os.write(1, b'1') and signal.sigwait([signal.SIGTERM])"
    first = in_a_process(f"start_turn.wait_for_turn(pause={looks})")
    assert first.stdout and first.stdout.read(1) == b"1"
    times, pauses = [0.0], [0.0]

    def clock() -> float:
        times.append(0.0)
        if len(times) == 10:
            assert pauses == [0.0]
            first.kill()
            first.communicate()
            turn.end()
        return 0.0

    wait_for_turn(clock, pauses.append)
    assert pauses == [0.0, TURN_LOOK_S]
    assert len(times) == 10


def a_link(place: Path) -> None:
    (place.parent / "elsewhere").mkdir(mode=0o700)
    place.symlink_to(place.parent / "elsewhere")


def a_strangers(place: Path) -> None:
    place.mkdir(mode=0o700)
    os.chown(place, 4711, -1) if os.geteuid() == 0 else place.chmod(0o770)


@pytest.mark.parametrize("make", [a_link, a_strangers, Path.mkdir, Path.touch, os.mkfifo])
def test_a_directory_that_others_have_made_keeps_nobody_waiting(
    place: Path, make: Callable[[Path], None]
) -> None:
    make(place)
    at_once(start_turn.LIMIT + 1)
    keep_limit(3)
    assert not place.is_dir() or not list(place.iterdir())


SIGNALLED = """\
came, pauses = [], []
signal.signal(number, lambda number, frame: came.append(number))
start_turn.wait_for_turn(pause=lambda s: pauses.append(s) or os.kill(os.getpid(), number))
assert (len(pauses), came) == (1, []), (pauses, came)
signal.pthread_sigmask(signal.SIG_SETMASK, ())
assert came == [number], came
"""


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT])
def test_a_signal_ends_the_wait_and_comes_later(number: int) -> None:
    at_once(start_turn.LIMIT)
    with in_a_process(f"number = {int(number)}\n{SIGNALLED}") as process:
        assert process.wait() == 0


def test_it_leaves_when_the_schedd_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one starts another DAGMan for the job."""
    at_once(start_turn.LIMIT)
    with pytest.raises(SystemExit) as left:
        Time(lambda: monkeypatch.setattr(start_turn.os, "getppid", lambda: 1)).wait()
    assert left.value.code == EXIT_RESTART


def test_the_limit_is_what_the_last_start_has_found(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Config().max_starts == start_turn.LIMIT
    place.mkdir(mode=0o700)
    (place / "limit").symlink_to("x")
    at_once(1)
    keep_limit(10)
    keep_limit(9)
    at_once(8)
    monkeypatch.setenv(VARIABLE, "10")
    keep_limit(10)  # of one DAG
    assert os.readlink(place / "limit") == "9"
    at_once(1)
    monkeypatch.delenv(VARIABLE)
    keep_limit(0)
    at_once(20)


@pytest.mark.parametrize("variables", [{}, {"CONDOR_ID": "7.0", MEMORY: "9"}])
def test_who_takes_none(
    place: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    monkeypatch.delenv("CONDOR_ID")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    wait_for_turn()
    assert not place.exists()
