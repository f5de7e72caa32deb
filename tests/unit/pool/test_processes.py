"""Telling a pool's processes from others."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from condor_pydagman.pool import processes


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (b"A=1\0PYDAGMAN_POOL_MEMBER=/p/one\0B=2\0", True),
        (b"_CONDOR_JOB_AD=/p/one/spool/local_univ_execute/dir_2_0/.job.ad\0", True),
        (b"PYDAGMAN_POOL_MEMBER=/p/one2\0", False),
        (b"XPYDAGMAN_POOL_MEMBER=/p/one\0", False),
        (b"_CONDOR_JOB_AD=/p/one2/spool/x\0", False),
        (b"CONDOR_CONFIG=/p/one/condor_config\0PYDAGMAN_POOL=/p/one\0", False),
        (b"", False),
    ],
)
def test_a_process_belongs_to_the_pool_by_its_environment(environ: bytes, expected: bool) -> None:
    assert processes.belongs(environ, "/p/one") is expected


def test_parse_stat_with_an_odd_name() -> None:
    text = "42 (a) (b c) S 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987 1 1"
    stat = processes.parse_stat(text)
    assert stat == ("a) (b c", "S", 7, 987)
    assert stat.alive


def test_a_zombie_is_not_alive() -> None:
    assert not processes.Stat("x", "Z", 1, 5).alive


def test_end_kills_only_what_carries_the_mark() -> None:
    command = [sys.executable, "-S", "-c", "print(flush=True); import time; time.sleep(60)"]
    mark = f"/test/{os.getpid()}"
    marks = (mark, mark + "x")
    children = [
        subprocess.Popen(command, env={processes.MARK: value}, stdout=subprocess.PIPE)
        for value in marks
    ]
    try:
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        assert processes.running(mark) == [children[0].pid]
        assert children[1].pid in processes.family(os.getpid())
        assert processes.end(mark, 0, 0) == []
        assert children[0].wait(5) == -9
        assert children[1].poll() is None
    finally:
        for child in children:
            child.kill()
            child.communicate()
