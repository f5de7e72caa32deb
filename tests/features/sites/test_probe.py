"""Probes of sites: what they print, how they fail."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from condor_pydagman.features.sites.adapters.monitor import MAX_OUTPUT, ask, probe_of
from tests.waiting import LIMIT_S, is_gone, until


def probe(tmp_path: Path, body: str, mode: int = 0o755) -> Path:
    path = tmp_path / "north.probe"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(mode)
    return path


def test_it_is_beside_the_description(tmp_path: Path) -> None:
    assert probe_of(tmp_path / "north.ad") is None
    path = probe(tmp_path, "")
    assert probe_of(tmp_path / "north.ad") == path


def test_what_it_prints_are_attributes(tmp_path: Path) -> None:
    found = ask(probe(tmp_path, 'echo "QueueDepth = 12"; echo "Site_$1 = true"'), "north", LIMIT_S)
    assert found == ({"QueueDepth": "12", "Site_north": "true"}, "", "")


def test_what_the_monitor_sets_is_ignored(tmp_path: Path) -> None:
    """A program for the recipe of 2003 prints all of an ad."""
    path = probe(tmp_path, 'echo MyType = \\"Machine\\"; echo curmatches = 7; echo Depth = 2')
    found = ask(path, "north", LIMIT_S)
    assert (found.attributes, found.problem) == ({"Depth": "2"}, "")
    assert f"output of {path}: note: the monitor sets MyType, curmatches itself;" in found.remark


def test_it_does_not_get_the_key_of_the_daemons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDOR_PRIVATE_INHERIT", "key")
    monkeypatch.setenv("CONDOR_INHERIT", "1 2")
    monkeypatch.setenv("CONDOR_CONFIG", "here")
    body = 'echo "X = \\"$CONDOR_PRIVATE_INHERIT$CONDOR_INHERIT$CONDOR_CONFIG\\""'
    assert ask(probe(tmp_path, body), "north", LIMIT_S).attributes == {"X": '"here"'}


FAILURES = [
    ("echo all; echo login failed >&2; exit 3", "exit code 3: login failed"),
    ("exit 1", "exit code 1"),
    ("kill -9 $$", "signal 9"),
    ("echo QueueDepth", "output of {probe}:1: expected: Attribute = expression"),
    ('echo "Name = 1"', "{probe} prints Name, which a probe can't set"),
]


@pytest.mark.parametrize(("body", "why"), FAILURES)
def test_a_probe_that_fails_says_that_the_site_is_down(tmp_path: Path, body: str, why: str) -> None:
    path = probe(tmp_path, body)
    attributes, problem, _ = ask(path, "north", LIMIT_S)
    assert not attributes
    assert why.format(probe=path) in problem


def test_a_probe_that_hangs_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    path = probe(tmp_path, "sleep 1000 &\necho $! > pid.new\nmv pid.new pid\nsleep 1000")
    for timeout_s in (0.2, 2, 20, 200):  # it may be killed before it has started anything
        assert ask(path, "north", timeout_s).problem == f"{path}: no answer within {timeout_s} s"
        if (tmp_path / "pid").exists():
            break
    started = int((tmp_path / "pid").read_text())
    until(lambda: is_gone(started), "the end of what the probe has started")


def test_a_probe_that_can_not_be_run(tmp_path: Path) -> None:
    path = probe(tmp_path, "", mode=0o644)
    assert ask(path, "north", LIMIT_S).problem == f"{path}: Permission denied (chmod +x {path})"


def test_a_probe_that_prints_without_end(tmp_path: Path) -> None:
    path = probe(tmp_path, f"head -c {MAX_OUTPUT + 1} /dev/zero")
    assert ask(path, "north", LIMIT_S).problem == f"{path} prints more than 100,000 bytes"


def test_a_probe_that_prints_for_ever_is_ended_at_once(tmp_path: Path) -> None:
    """So that it does not fill a disk; a minute is more than the test waits."""
    path = probe(tmp_path, "exec cat /dev/zero")
    assert ask(path, "north", 60).problem == f"{path} prints more than 100,000 bytes"


def test_a_probe_that_leaves_a_daemon_behind(tmp_path: Path) -> None:
    """Which has the output open, in a session of its own."""
    path = probe(tmp_path, "setsid sh -c 'echo $$ > daemon; exec sleep 60' &\necho X = 1")
    try:
        assert ask(path, "north", LIMIT_S) == ({"X": "1"}, "", "")
    finally:
        for left in tmp_path.glob("daemon"):
            os.kill(int(left.read_text()), signal.SIGKILL)


def test_a_probe_that_closes_its_output(tmp_path: Path) -> None:
    path = probe(tmp_path, "echo X = 1; exec >&- 2>&-; sleep 0.2; exit 3")
    assert "exit code 3" in ask(path, "north", LIMIT_S).problem
    path = probe(tmp_path, "exec >&- 2>&-; sleep 100")
    assert ask(path, "north", 0.2).problem == f"{path}: no answer within 0.2 s"
