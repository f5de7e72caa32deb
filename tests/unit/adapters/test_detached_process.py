"""A process that outlives its starter, out of its session and of the job's process family."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import detached_process
from tests.descriptors import descriptors
from tests.waiting import until

MODULE = """\
import json, os, sys
def main():
    order = sys.stdin.read()
    told = {"order": order, "session": os.getsid(0), "environment": dict(os.environ),
            "path": sys.path, "directory": os.getcwd()}
    open(f"{order}.part", "w").write(json.dumps(told))
    os.rename(f"{order}.part", order)
"""


def test_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "told.py").write_text(MODULE)
    (tmp_path / "json.py").write_text("raise SystemExit\n")  # not to be loaded
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    monkeypatch.setenv("_CONDOR_ANCESTOR_7", "x")
    monkeypatch.setenv("CONDOR_SECURITY_SESSION", "secret")
    monkeypatch.setenv("KEPT", "yes")
    result = tmp_path / "result"
    detached_process.start("told", str(result).encode())
    until(result.exists, "what the process has to tell")
    told = json.loads(result.read_text())
    assert told["session"] != os.getsid(0)
    assert told["directory"] == str(tmp_path)
    environment = told["environment"]
    assert environment["KEPT"] == "yes"
    assert not [name for name in environment if "ANCESTOR" in name or "SESSION" in name]


def test_it_has_no_descriptor_of_its_starter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However high its number is."""
    (tmp_path / "told.py").write_text(
        "import os, sys\n"
        "def main():\n"
        "    there = sorted(map(int, os.listdir('/proc/self/fd')))[:-1]\n"
        "    with open('part', 'w') as file:\n"
        "        file.write(repr(there))\n"
        "    os.rename('part', 'result')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 5002), limits[1]))
    kept, high = os.open(os.devnull, os.O_RDONLY), 5001
    try:
        os.dup2(kept, high, inheritable=True)
        detached_process.start("told", b"", (kept,))
        os.close(high)
    finally:
        os.close(kept)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    until((tmp_path / "result").exists, "what the process has to tell")
    assert (tmp_path / "result").read_text() == "[0, 1, 2, 3]"


def test_a_process_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """An order of more than a pipe holds is not waited with for ever."""
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(BrokenPipeError):
        detached_process.start("told", b"x" * (1 << 20))


def test_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> int:
        raise OSError(11, "Resource temporarily unavailable")

    before = descriptors()
    monkeypatch.setattr(os, "fork", full)
    with pytest.raises(OSError, match="temporarily"):
        detached_process.start("told", b"x")
    assert not descriptors() - before


def test_what_procd_may_have_counted_is_not_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whom condor_procd finds while the job's variables are still in the environment is killed
    with the job, whatever it runs later."""
    (tmp_path / "told.py").write_text(MODULE.replace("os.getcwd()", "os.getpid()"))
    monkeypatch.syspath_prepend(str(tmp_path))
    counted, execve = tmp_path / "counted", os.execve

    def slow(*given: Any) -> None:
        counted.write_text(str(os.getpid()))
        execve(*given)

    monkeypatch.setattr(os, "execve", slow)
    result = tmp_path / "result"
    detached_process.start("told", str(result).encode())
    until(result.exists, "what the process has to tell")
    assert json.loads(result.read_text())["directory"] != int(counted.read_text())


def test_errors_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong.py").write_text("def main(): raise KeyError('x')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ends, told = os.pipe()
    detached_process.start("wrong", b"", errors=told)
    os.close(told)
    with open(ends, encoding="utf-8") as pipe:
        assert pipe.read().endswith("KeyError: 'x'\n")


def test_the_caller_may_end_as_soon_as_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until its program runs, it is one of the job's family, which is killed with the job."""
    runs, execve = tmp_path / "runs", os.execve

    def slow(*given: Any) -> None:
        time.sleep(0.3)
        runs.touch()
        execve(*given)

    monkeypatch.setattr(os, "execve", slow)
    with contextlib.suppress(BrokenPipeError):  # there is no such module: it may have ended
        detached_process.start("told", b"x")
    assert runs.exists()
