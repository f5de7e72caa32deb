"""Scripts: how they end, what becomes of their output, and that nothing of them is left."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import script_runner
from condor_pydagman.adapters.script_runner import ScriptRunner
from condor_pydagman.engine.actions import RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import SECRETS, ScriptKind
from tests.waiting import is_gone, until

PRE, POST, HOLD = ScriptKind.PRE, ScriptKind.POST, ScriptKind.HOLD


def make(directory: Path, body: str, name: str = "s.sh") -> str:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return name


def wait(runner: ScriptRunner, count: int = 1) -> list[ScriptEnded]:
    """The ends of scripts, once there are enough of them."""
    found: list[ScriptEnded] = []

    def enough() -> bool:
        found.extend(runner.ended() + runner.work())
        return len(found) >= count

    until(enough, f"the end of {count} scripts", story=lambda: found)
    return found


def run(directory: Path, body: str, *words: str, script: Script | None = None) -> ScriptEnded:
    runner = ScriptRunner()
    name = make(directory, body)
    script = script or Script(name)
    assert runner.start(RunScript(3, PRE, (name, *words)), script, "A", str(directory)) is None
    (answer,) = wait(runner)
    assert not runner.problems
    return answer


def test_a_closed_pipe_is_an_error_and_no_end(tmp_path: Path) -> None:
    """Stock's scripts begin with SIGPIPE and SIGXFSZ ignored, and with nothing else."""
    run(tmp_path, "(sleep 0.1; echo x; echo went on > out) 2> /dev/null | true; sleep 0.3")
    assert (tmp_path / "out").read_text() == "went on\n"
    run(tmp_path, "grep SigIgn /proc/$$/status > ignored")
    ignored = int((tmp_path / "ignored").read_text().split()[1], 16)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        assert ignored >> (number - 1) & 1


def test_words_come_as_they_are_and_no_shell_looks_at_them(tmp_path: Path) -> None:
    run(tmp_path, 'printf "%s|" "$@" > out', "a b", "$HOME", "", "*", ";exit 3")
    assert (tmp_path / "out").read_text() == "a b|$HOME||*|;exit 3|"


def test_it_runs_in_the_nodes_directory_with_nothing_to_read(tmp_path: Path) -> None:
    run(tmp_path, "pwd > out; cat >> out")
    assert (tmp_path / "out").read_text() == f"{tmp_path}\n"


def test_it_has_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CONDOR_DAGMAN_LOG", "x.out")
    run(tmp_path, "echo $_CONDOR_DAGMAN_LOG > out")
    assert (tmp_path / "out").read_text() == "x.out\n"


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_it_has_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "marker")
    run(tmp_path, "tr '\\0' '\\n' < /proc/self/environ > out")
    assert "marker" not in (tmp_path / "out").read_text()
    assert "PATH=" in (tmp_path / "out").read_text()


def start(directory: Path, word: str) -> ScriptEnded | None:
    return ScriptRunner().start(RunScript(3, POST, (word,)), Script(word), "A", str(directory))


NOT_THERE = "No such file or directory"


@pytest.mark.parametrize(
    "text, mode, why",
    [
        (None, 0, f"{NOT_THERE}: './s.sh'"),
        ("#!/bin/sh\n", 0o644, "Permission denied (it is not executable: use chmod +x): './s.sh'"),
        ("no program\n", 0o755, "format error (it is no program, and does not begin with #!INTERP"),
        ("#!/no/sh\n", 0o755, f"{NOT_THERE} (the interpreter of its first line, #!/no/sh, is not"),
        ("#!/bin/sh\r\n", 0o755, "there; the line ends in CR LF: save the file with LF): './s.sh'"),
    ],
)
def test_a_script_that_can_not_be_started(
    tmp_path: Path, text: str | None, mode: int, why: str
) -> None:
    path = tmp_path / "s.sh"
    if text is not None:
        path.write_text(text)
        path.chmod(mode)
    answer = start(tmp_path, "s.sh")
    assert answer is not None
    assert (answer.node, answer.kind, answer.status) == (3, POST, 1)
    assert why in answer.error.partition("s.sh: ")[2]


def test_an_absolute_path(tmp_path: Path) -> None:
    assert start(tmp_path / "nosuch", "/bin/true") is not None
    runner = ScriptRunner()
    assert runner.start(RunScript(0, PRE, ("/bin/true",)), Script(""), "A", str(tmp_path)) is None
    assert wait(runner) == [ScriptEnded(0, PRE, 0)]


def test_many_at_once_are_told_apart(tmp_path: Path) -> None:
    runner = ScriptRunner()
    make(tmp_path, "exit $1")
    for node in range(20):
        runner.start(RunScript(node, PRE, ("s.sh", str(node))), Script(""), "A", str(tmp_path))
    answers = sorted(wait(runner, 20))
    assert answers == [ScriptEnded(node, PRE, node) for node in range(20)]
    assert runner.ended() == []


@pytest.mark.parametrize(
    ("stream", "wanted"), [("STDOUT", "one\n"), ("STDERR", "two\n"), ("ALL", "one\ntwo\n")]
)
def test_debug_file(tmp_path: Path, stream: str, wanted: str) -> None:
    script = Script("s.sh x", debug_file="debug", debug_stream=stream)
    run(tmp_path, "echo one; echo two >&2; exit 4", "x", script=script)
    run(tmp_path, "kill -9 $$", script=script)
    head, *rest = (tmp_path / "debug").read_text().splitlines(keepends=True)
    assert head.startswith("*** Node=A Type=PRE ExitCode=4 Completion=")
    assert head.endswith(" Cmd='s.sh x'\n")
    assert "".join(rest[:-1]) == wanted
    assert "Signal=9" in rest[-1]


def test_a_debug_file_that_cannot_be_written_is_a_problem_not_a_failure(tmp_path: Path) -> None:
    runner = ScriptRunner()
    script = Script("s.sh", debug_file="nosuch/debug", debug_stream="ALL")
    make(tmp_path, "exit 0")
    runner.start(RunScript(0, PRE, ("s.sh",)), script, "A", str(tmp_path))
    assert wait(runner) == [ScriptEnded(0, PRE, 0)]
    assert "nosuch/debug" in runner.problems[0]


def test_no_room_for_the_output_is_a_problem_not_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nosuch"))
    runner = ScriptRunner()
    script = Script("s.sh", debug_file="debug", debug_stream="STDOUT")
    make(tmp_path, "echo unheard; exit 3")
    assert runner.start(RunScript(0, PRE, ("s.sh",)), script, "A", str(tmp_path)) is None
    assert wait(runner) == [ScriptEnded(0, PRE, 3)]
    assert runner.problems[0].startswith("no STDOUT of a script for debug: ")
    assert "ExitCode=3" in (tmp_path / "debug").read_text()


def test_a_flood_of_output_is_cut_in_the_debug_file(tmp_path: Path) -> None:
    script = Script("s.sh", debug_file="debug", debug_stream="ALL")
    flood = "head -c 20000000 /dev/zero | tr '\\0' x; exit 5"
    assert run(tmp_path, flood, script=script).status == 5
    size = (tmp_path / "debug").stat().st_size
    assert script_runner.MAX_OUTPUT_BYTES < size < script_runner.MAX_OUTPUT_BYTES + 1000


def _background(directory: Path, kind: ScriptKind) -> tuple[ScriptRunner, int]:
    """A script with a child of its own that would live long; its process id."""
    runner = ScriptRunner()
    make(directory, "sleep 100 &\necho $! > pid.new\nmv pid.new pid\nwait")
    runner.start(RunScript(0, kind, ("s.sh",)), Script(""), "A", str(directory))
    until((directory / "pid").exists, "the child of the script")
    return runner, int((directory / "pid").read_text())


@pytest.mark.parametrize("kind", [PRE, POST])
def test_kill_all_kills_what_scripts_have_started(tmp_path: Path, kind: ScriptKind) -> None:
    runner, grandchild = _background(tmp_path, kind)
    assert not is_gone(grandchild)
    runner.kill_all()
    until(lambda: is_gone(grandchild), "the end of the script's child")

    def reaped() -> bool:
        assert runner.ended() == []
        return not runner._unanswered

    until(reaped, "the end of the script itself")


def test_kill_all_of_a_script_that_has_ended_already(tmp_path: Path) -> None:
    runner = ScriptRunner()
    make(tmp_path, "exit 0")
    runner.start(RunScript(0, PRE, ("s.sh",)), Script(""), "A", str(tmp_path))
    (pid,) = [run.process.pid for run in runner._runs]
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    runner.kill_all()
    runner.kill_all()


@pytest.mark.parametrize("answered", [False, True])
def test_a_killed_script_is_reaped_when_its_end_comes(tmp_path: Path, answered: bool) -> None:
    runner, _ = _background(tmp_path, PRE)
    (pid,) = [run.process.pid for run in runner._runs]
    runner.kill_all(answered=answered)
    with contextlib.suppress(ChildProcessError):  # it is reaped at once if it has ended by then
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert runner.ended() == ([ScriptEnded(0, PRE, -signal.SIGKILL)] if answered else [])
    with pytest.raises(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)


def test_kill_all_waits_for_no_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's, or one that hangs in the kernel, is reported when it ends."""
    runner, _ = _background(tmp_path, PRE)
    (process,) = [run.process for run in runner._runs]
    killpg, refused = os.killpg, []
    monkeypatch.setattr(os, "killpg", lambda *words: refused.append(words))
    runner.kill_all(answered=True)
    assert not is_gone(process.pid)
    assert refused == [(process.pid, signal.SIGKILL)]
    assert runner.ended() == []
    killpg(process.pid, signal.SIGKILL)
    assert wait(runner) == [ScriptEnded(0, PRE, -signal.SIGKILL)]


def test_kill_all_leaves_hold_scripts_alone(tmp_path: Path) -> None:
    runner, grandchild = _background(tmp_path, HOLD)
    runner.kill_all(answered=True)
    time.sleep(0.1)
    assert not is_gone(grandchild)
    assert runner.ended() == []
    os.kill(grandchild, signal.SIGKILL)
    assert wait(runner) == [ScriptEnded(0, HOLD, 0)]


# A machine that is short of processes or memory.


class ShortMachine:
    """Refuses processes while `errors` has something, in virtual time.

    Attributes:
        errors: of the next tries, in order.
        now: monotonic seconds.
        tried: seconds since the start, and the last word, of each try.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.errors: list[int] = []
        self.now = 100.0
        self.tried: list[tuple[float, str]] = []
        self._real = subprocess.Popen
        monkeypatch.setattr(subprocess, "Popen", self._popen)
        monkeypatch.setattr(time, "sleep", None)
        self.runner = ScriptRunner(clock=lambda: self.now)

    def _popen(self, words: Any, **more: Any) -> Any:
        self.tried.append((round(self.now - 100.0, 6), words[-1]))
        if self.errors:
            raise OSError(self.errors.pop(0), "not now")
        return self._real(words, **more)

    def start(self, directory: Path, node: int = 0, kind: ScriptKind = PRE) -> ScriptEnded | None:
        """Start a script that exits with the number of its node."""
        make(directory, "exit $1")
        action = RunScript(node, kind, ("s.sh", str(node)))
        return self.runner.start(action, Script(""), "A", str(directory))

    def until(self, end: float) -> list[ScriptEnded]:
        """Do what is due until so many seconds have passed; what it answers."""
        found: list[ScriptEnded] = []
        while True:
            due = self.runner.next_deadline()
            if due is None or due - 100.0 > end:
                return found
            self.now = max(self.now, due)
            found += self.runner.work()


@pytest.fixture
def short_machine(monkeypatch: pytest.MonkeyPatch) -> ShortMachine:
    return ShortMachine(monkeypatch)


def _statuses(runner: ScriptRunner, count: int) -> list[int]:
    """Wait for as many scripts, without sleeping."""
    found: list[int] = []
    while len(found) < count:  # they exit at once
        found += [end.status for end in runner.ended()]
    return found


SHORTAGES = [errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE]


@pytest.mark.parametrize("error", SHORTAGES)
def test_a_start_is_tried_again_when_it_is_due_and_not_before(
    tmp_path: Path, short_machine: ShortMachine, error: int
) -> None:
    short_machine.errors = [error, error]
    assert short_machine.start(tmp_path, 3) is None
    assert short_machine.runner.next_deadline() == pytest.approx(100.1)
    assert short_machine.runner.work() == []
    assert short_machine.runner.ended() == []
    assert short_machine.tried == [(0.0, "3")]
    assert short_machine.until(10.0) == []
    assert short_machine.tried == [(0.0, "3"), (0.1, "3"), (0.3, "3")]
    assert short_machine.runner.next_deadline() is None
    assert _statuses(short_machine.runner, 1) == [3]


@pytest.mark.parametrize("error", SHORTAGES)
def test_a_start_has_failed_after_a_second_and_a_half(
    tmp_path: Path, short_machine: ShortMachine, error: int
) -> None:
    short_machine.errors = [error] * 5
    assert short_machine.start(tmp_path, 3) is None
    assert short_machine.until(1.4) == []
    (answer,) = short_machine.until(10.0)
    assert short_machine.now == pytest.approx(101.5)
    assert (answer.node, answer.kind, answer.status) == (3, PRE, 1)
    assert "s.sh" in answer.error
    assert "not now" in answer.error
    assert [when for when, _ in short_machine.tried] == [0.0, 0.1, 0.3, 0.7, 1.5]
    assert short_machine.runner.next_deadline() is None
    assert short_machine.start(tmp_path, 4) is None
    assert _statuses(short_machine.runner, 1) == [4]


def test_scripts_start_in_order_each_with_its_own_tries(
    tmp_path: Path, short_machine: ShortMachine
) -> None:
    short_machine.errors = [errno.EAGAIN] * 5 + [errno.ENOMEM]
    assert [short_machine.start(tmp_path, node) for node in (0, 1, 2)] == [None] * 3
    assert [(end.node, end.status) for end in short_machine.until(10.0)] == [(0, 1)]
    assert short_machine.tried[4:] == [(1.5, "0"), (1.5, "1"), (1.6, "1"), (1.6, "2")]
    assert sorted(_statuses(short_machine.runner, 2)) == [1, 2]


def test_pending_scripts_are_started_for_a_limited_time_at_once(
    tmp_path: Path, short_machine: ShortMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    short_machine.errors = [errno.EAGAIN]
    for node in range(3):
        short_machine.start(tmp_path, node)
    popen = short_machine._popen

    def slow(words: Any, **more: Any) -> Any:
        short_machine.now += script_runner.SCRIPT_SLICE_S
        return popen(words, **more)

    monkeypatch.setattr(subprocess, "Popen", slow)
    short_machine.now = 101.0
    for count in (2, 3, 4):
        assert short_machine.runner.work() == []
        assert len(short_machine.tried) == count
    assert short_machine.runner.next_deadline() is None
    assert sorted(_statuses(short_machine.runner, 3)) == [0, 1, 2]


def test_kill_all_kills_pending_scripts(tmp_path: Path, short_machine: ShortMachine) -> None:
    short_machine.errors = [errno.EAGAIN]
    for node, kind in enumerate((PRE, POST, HOLD)):
        short_machine.start(tmp_path, node, kind)
    short_machine.runner.kill_all(answered=True)
    due = short_machine.runner.next_deadline()
    assert due is not None
    assert due <= short_machine.now
    killed = [ScriptEnded(0, PRE, -signal.SIGKILL), ScriptEnded(1, POST, -signal.SIGKILL)]
    assert short_machine.runner.work() == killed
    assert short_machine.until(10.0) == []
    assert [word for _, word in short_machine.tried] == ["0", "2"]
    assert _statuses(short_machine.runner, 1) == [2]


def test_kill_all_without_answers_drops_pending_scripts(
    tmp_path: Path, short_machine: ShortMachine
) -> None:
    short_machine.errors = [errno.EAGAIN]
    for node, kind in enumerate((PRE, POST, HOLD)):
        short_machine.start(tmp_path, node, kind)
    short_machine.runner.kill_all()
    assert short_machine.runner.next_deadline() is None
    assert short_machine.runner.work() == short_machine.runner.ended() == []
    assert len(short_machine.tried) == 1


def test_a_pending_script_keeps_its_output(tmp_path: Path, short_machine: ShortMachine) -> None:
    short_machine.errors = [errno.EAGAIN]
    make(tmp_path, "echo one; exit 4")
    script = Script("s.sh", debug_file="debug", debug_stream="ALL")
    short_machine.runner.start(RunScript(0, PRE, ("s.sh",)), script, "A", str(tmp_path))
    short_machine.until(10.0)
    assert _statuses(short_machine.runner, 1) == [4]
    assert (tmp_path / "debug").read_text().endswith("\none\n")


def test_a_machine_that_is_short_of_processes_is_given_some_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refusals = subprocess.Popen, [errno.EAGAIN, errno.ENOMEM]

    def short(*words: Any, **more: Any) -> Any:
        if refusals:
            raise OSError(refusals.pop(), "not now")
        return real(*words, **more)

    monkeypatch.setattr(subprocess, "Popen", short)
    assert run(tmp_path, "exit 3").status == 3
    assert not refusals
