"""A worker that is killed at any step leaves no half file, and the next one goes on."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.placement import killed_copies
from tests.servers.faulty_http import FaultyServer

OLD = b"what was there"
DATA = os.urandom(1_200_000)  # more than one buffer, and than what is too small to go on with
MD5 = f"md5:{hashlib.md5(DATA, usedforsecurity=False).hexdigest()}"


class Copies:
    """Copies that are killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, step: int) -> str:
        """Copy up to a step: "killed", or "done"."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{step}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def copies(source: str, destination: Path, checksum: str) -> Iterator[Copies]:
    command = [sys.executable, killed_copies.__file__, source, str(destination), checksum]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield Copies(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("checksum", ["", MD5], ids=["", "checksum"])
@pytest.mark.parametrize("scheme", ["file", "http"])
def test_a_kill_at_any_step(
    tmp_path: Path, server: FaultyServer, scheme: str, checksum: str
) -> None:
    source, destination = tmp_path / "source", tmp_path / "to" / "file"
    source.write_bytes(DATA)
    server.files["/a"] = DATA
    destination.parent.mkdir()
    url = str(source) if scheme == "file" else server.url("/a")
    ends = set()
    with copies(url, destination, checksum) as killed:
        step = 1
        while "done" not in ends:
            destination.write_bytes(OLD)
            ends.add(killed.run(step))
            assert destination.read_bytes() in (OLD, DATA), f"after step {step}"
            assert len(os.listdir(destination.parent)) <= 2
            for name in os.listdir(destination.parent):
                if name != destination.name and step % 2:
                    (destination.parent / name).unlink()  # else the next one goes on with it
            step += 3 if scheme == "file" else 7  # steps are many
        assert ends == {"killed", "done"}
    assert destination.read_bytes() == DATA
    assert os.listdir(destination.parent) == ["file"]


def test_what_was_moved_is_not_moved_again(tmp_path: Path, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    destination = tmp_path / "file"
    gone_on = set()
    with copies(server.url("/a"), destination, "") as killed:
        step = 1
        while killed.run(step) == "killed":
            parts = [path.stat().st_size for path in tmp_path.iterdir()]
            size = parts[0] if parts and not destination.exists() else 0
            if 0 < size < len(DATA) and size not in gone_on:
                server.requests.clear()
                assert killed.run(10**9) == "done"
                assert destination.read_bytes() == DATA
                assert server.requests[-1][2]["Range"] == f"bytes={size}-"
                gone_on.add(size)
            for path in tmp_path.iterdir():
                path.unlink()
            step += 23
    assert gone_on
