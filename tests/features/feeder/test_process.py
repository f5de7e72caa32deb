"""The contract of what runs a FEEDER's program: it always ends, and what it gives is bounded."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from condor_pydagman.features.feeder.adapters.process import MAX_TOLD_BYTES, FeederProcess, Output
from tests.waiting import LIMIT_S, is_gone, until

MB = 1_000_000


def begin(where: Path, script: str, *words: str, timeout_s: float = LIMIT_S) -> FeederProcess:
    path = where / "feed"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return FeederProcess(
        ("feed", *words),
        str(where),
        {"PYDAGMAN_FEEDING": "7"},
        timeout_s=timeout_s,
        max_bytes=MB,
        clock=time.monotonic,
    )


def output(process: FeederProcess) -> Output:
    """What comes of it, with its deadlines kept."""
    while True:
        found = process.work(time.monotonic())
        if found is not None:
            return found
        time.sleep(max(0.0, process.next_deadline() - time.monotonic()))


def run(where: Path, script: str, *words: str) -> Output:
    return output(begin(where, script, *words))


def number_in(path: Path) -> int:
    """The number that a program writes to a file, when it has."""
    until(lambda: path.exists() and path.read_text().endswith("\n"), f"a number in {path}")
    return int(path.read_text())


def wait_until_gone(pid: int) -> None:
    until(lambda: is_gone(pid), f"the end of process {pid}")


def test_what_it_writes(tmp_path: Path) -> None:
    found = run(tmp_path, 'echo "JOB $1-$PYDAGMAN_FEEDING a"; pwd', "A b")
    assert found == Output(f"JOB A b-7 a\n{tmp_path}\n", 0)


def test_the_exit_code_that_says_no_more(tmp_path: Path) -> None:
    assert run(tmp_path, "echo last; exit 3") == Output("last\n", 3)


def test_a_failure_tells_what_it_said(tmp_path: Path) -> None:
    found = run(tmp_path, "echo JOB A a; echo no such table >&2; exit 2")
    assert found == Output("", 2, "feed ended with exit code 2: no such table")
    found = run(tmp_path, "printf 'Traceback\\n  x\\nKeyError\\n' >&2; exit 1")
    assert found.error == "feed ended with exit code 1: KeyError\nTraceback\n  x"


def test_a_signal(tmp_path: Path) -> None:
    assert run(tmp_path, "kill -9 $$").error == "feed died on signal 9"


def test_much_that_it_says_is_cut(tmp_path: Path) -> None:
    found = run(tmp_path, "seq 100000 >&2; exit 1")
    assert found.error.startswith("feed ended with exit code 1: 100000\n")
    assert len(found.error) < MAX_TOLD_BYTES + 100


def test_as_much_as_is_allowed(tmp_path: Path) -> None:
    found = run(tmp_path, f"head -c {MB} /dev/zero | tr '\\0' x")
    assert (len(found.text), found.error) == (MB, "")


@pytest.mark.parametrize("script", ["exec yes", "yes & sleep 1000", "yes; exit 0"])
def test_one_that_writes_for_ever_is_killed(tmp_path: Path, script: str) -> None:
    process = begin(tmp_path, "echo $$ > pid\n" + script)
    found = output(process)
    assert found.error == (
        "feed was killed: it has written more than 1,000,000 bytes (PYDAGMAN_MAX_PIECE_MB)"
    )
    assert found.text == ""
    wait_until_gone(number_in(tmp_path / "pid"))


@pytest.mark.parametrize("script", ["sleep 1000", "exec >&- 2>&-; sleep 1000"])
def test_one_that_hangs_is_killed_with_all_that_it_has_started(tmp_path: Path, script: str) -> None:
    process = begin(tmp_path, f"sleep 1000 & echo $! > pid\necho JOB A a\n{script}", timeout_s=7)
    child = number_in(tmp_path / "pid")
    found = process.work(time.monotonic() + 7)
    assert found is not None
    assert found.error == "feed was killed: it has not ended after 7 s (TIMEOUT)"
    wait_until_gone(child)


def test_its_standard_input_is_empty(tmp_path: Path) -> None:
    found = run(tmp_path, "sleep 1000 & echo $! > pid\necho JOB A a\ntrap '' TERM; cat")
    assert found.error == ""
    os.kill(number_in(tmp_path / "pid"), 9)


def test_what_it_leaves_behind_is_not_waited_for(tmp_path: Path) -> None:
    found = run(tmp_path, "sleep 1000 & echo $! > pid\necho JOB A a\n")
    os.kill(number_in(tmp_path / "pid"), 9)
    assert found == Output("JOB A a\n", 0)


def test_no_text(tmp_path: Path) -> None:
    found = run(tmp_path, "head -c 3 /dev/zero")
    assert found.error == "feed has written no text: there is a byte 0 in it"


def test_bytes_that_are_no_characters_are_left_to_the_parser(tmp_path: Path) -> None:
    assert run(tmp_path, "printf 'JOB \\377 a\\n'").text == "JOB \udcff a\n"


def test_one_that_is_stopped(tmp_path: Path) -> None:
    process = begin(tmp_path, "echo $$ > pid; exec sleep 1000")
    pid = number_in(tmp_path / "pid")
    process.kill()
    wait_until_gone(pid)


def test_one_that_can_not_be_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FeederProcess(
            ("no", "x"), str(tmp_path), {}, timeout_s=1, max_bytes=1, clock=time.monotonic
        )


def test_it_is_looked_at_less_and_less_often(tmp_path: Path) -> None:
    process = begin(tmp_path, "exec sleep 1000")
    now = time.monotonic()
    times = []
    for _ in range(20):
        now = process.next_deadline()
        assert process.work(now) is None
        times.append(process.next_deadline() - now)
    process.kill()
    assert times[-1] == pytest.approx(0.25)
    assert times == sorted(times)
