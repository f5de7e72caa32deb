"""condor_pydagman watch: pictures of DAGs, as text, lines or JSON."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman, watch
from tests.dag_logs import DagLogs


@pytest.fixture
def logs(work_directory: Path) -> DagLogs:
    (work_directory / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\n")
    made = DagLogs(work_directory)
    made.now = time.time() - 60
    made.start()
    made.submit("A", 7)
    made.execute(7)
    return made


def during(monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], Any]) -> None:
    """What happens while the command waits, in turn."""
    left = list(steps)
    monkeypatch.setattr(time, "sleep", lambda seconds: left.pop(0)())


def test_lines_until_the_end_with_its_exit_code(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    during(monkeypatch, lambda: None, lambda: logs.terminate(7, value=1), lambda: logs.end(1))
    assert pydagman.main(["watch", "t.dag"]) == 1
    first, second, why, advice, third, last = capsys.readouterr().out.splitlines()
    assert "done 0 running 1 ready 1" in first
    assert "ready 1 failed 1" in second
    assert why == "  failed: A: exit code 1"
    assert advice == last == "  to see why, and what to do: condor_pydagman explain t.dag"
    assert third.endswith("failed: done 0 ready 1 failed 1, exit code 1")


def test_lines_tell_once_why_jobs_are_held_and_what_has_failed(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.hold(7, reason="no such program")
    told: list[str] = []

    def end() -> None:
        logs.abort(7)
        logs.terminate(8, value=3)
        logs.end(1)

    steps = [lambda: logs.submit("B", 8), end]
    later = [lambda step=step: (told.append(capsys.readouterr().out), step()) for step in steps]
    during(monkeypatch, *later)
    assert pydagman.main(["watch", "t.dag"]) == 1
    told.append(capsys.readouterr().out)
    assert "\n  held: A: no such program (code " in told[0]
    assert "held: A" not in told[1]
    assert "\n  failed: B: exit code 3\n" in told[-1]


def test_json(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    during(monkeypatch, lambda: logs.end(0))
    assert pydagman.main(["watch", "--json", "t.dag"]) == 0
    first, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["counts"]["running"] == 1
    assert (last["exit_code"], last["state"]) == (0, "succeeded")


def test_ctrl_c_leaves_the_dag_running(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    during(monkeypatch, stop)
    assert pydagman.main(["watch", "t.dag"]) == 130
    assert "The DAG continues. To watch it again: condor_pydagman watch t.dag" in (
        capsys.readouterr().err
    )


def test_a_terminal_without_rich_gets_lines(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    during(monkeypatch, lambda: logs.end(0))
    assert pydagman.main(["watch", "t.dag"]) == 0
    found = capsys.readouterr()
    assert f"{sys.executable} -m pip install rich; printing lines instead" in found.err
    assert "succeeded" in found.out


def test_a_terminal_is_redrawn(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    during(monkeypatch, lambda: logs.terminate(7, value=1), lambda: logs.end(1))
    assert pydagman.main(["watch", "t.dag"]) == 1
    text = capsys.readouterr().out
    assert "\x1b[" in text
    assert "to see why, and what to do: condor_pydagman explain t.dag" in text


def test_dags_that_do_not_fit_have_a_line_each(
    logs: DagLogs,
    work_directory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"TERM": "xterm", "LINES": "9", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for name in ("u", "v"):
        DagLogs(work_directory, f"{name}.dag").start().end(0)
    logs.end(1)
    assert pydagman.main(["watch", "u.dag", "t.dag", "v.dag"]) == 1
    shown = capsys.readouterr().out
    assert all(f" {name}.dag " in shown for name in "utv")
    assert "condor_pydagman explain" not in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["x.dag"], 1, "there is no DAG file x.dag; DAGs started in this directory: t.dag"),
        (["--interval", "0", "t.dag"], 2, "'0' is not a number of seconds"),
        (["--interval", "x", "t.dag"], 2, "'x' is not a number of seconds"),
    ],
)
def test_bad_input(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    try:
        assert pydagman.main(["watch", *words]) == code
    except SystemExit as left:
        assert left.code == code
    assert message in capsys.readouterr().err


def test_pictures_that_take_long_come_less_often(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        logs.end(0)

    monkeypatch.setattr(time, "sleep", sleep)
    clock = iter([10.0, 10.5, 11.0])
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    (dag,) = [watch.WatchedDag(watch.find_dag("t.dag"))]
    assert watch.watch([dag], argparse.Namespace(json=True, interval=1.0)) == 0
    assert slept == [25.0]


def test_an_output_of_another_encoding(logs: DagLogs, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "condor_pydagman.cli.pydagman", "watch", "--once", "t.dag"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    text = subprocess.run(argv, env=environment, capture_output=True, check=True).stdout.decode()
    assert "=" * 30 in text
    assert "\\" not in text


def test_without_the_bindings(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "htcondor2", None)
    assert pydagman.main(["watch", "7"]) == 1
    assert "pip install htcondor" in capsys.readouterr().err
