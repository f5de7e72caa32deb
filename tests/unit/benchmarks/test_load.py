"""What a process took is measured by one that is small, so that it is the process that counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks import load
from tests.waiting import LIMIT_S

MB = 1_000_000


def cost(place: Path, *argv: str, timeout_s: float = LIMIT_S) -> tuple[load.Cost, str]:
    place.chmod(0o777)
    return load.run(list(argv), dict(os.environ), place, timeout_s)


def test_a_small_process_is_small_whatever_this_one_has(tmp_path: Path) -> None:
    more = bytearray(os.urandom(MB) * 60)
    found, _ = cost(tmp_path, "true")
    assert found.memory < 20 < len(more) / MB


@pytest.mark.parametrize(
    ("argv", "failure"),
    [
        (["sh", "-c", "kill -SEGV $$"], "dies of SIGSEGV"),
        (["sh", "-c", "exit 3"], "exit code 3"),
        (["there-is-no-such-program"], "exit code 127"),
    ],
)
def test_failures(tmp_path: Path, argv: list[str], failure: str) -> None:
    assert cost(tmp_path, *argv)[0].failure == failure
