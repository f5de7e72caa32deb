"""Copies by gfal2 whose processes are killed at random: worker, supervisor, program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from condor_pydagman.pool import processes

FILES, KILLS, MAX_RUNS = 12, 40, 60
FAKE = Path(__file__).parent / "fake_gfal2.py"
SLOW = """
        time.sleep(0.2)
        shutil.copy(path_of(source), path)
"""
KEYS = 'ways = "gfal"; max_retries = 50; max_delay = 1;'


class World:
    """Servers in a directory, and a request for files from one to others and to the disk."""

    def __init__(self, work: Path, random: Random) -> None:
        self.work = work
        self.servers = work / "module" / "servers"
        for name in ("a", "b", "norename"):
            (self.servers / name).mkdir(parents=True)
        for name in ("shared", "tmp"):
            (work / name).mkdir()
        (work / "shared").chmod(0o1777)
        text = FAKE.read_text().replace("\n        shutil.copy(path_of(source), path)\n", SLOW)
        assert SLOW in text
        (work / "module" / "gfal2.py").write_text(text)
        self.files: dict[Path, bytes] = {}
        requests = []
        for number in range(FILES):
            data = random.randbytes(random.randrange(1, 300_000))
            (self.servers / "a" / f"f{number}").write_bytes(data)
            where = ("b", "norename", "")[number % 3]
            to = self.servers / where / f"f{number}" if where else work / "out" / f"f{number}"
            self.files[to] = data
            url = f"root://{where}//f{number}" if where else str(to)
            source = f"{'root://a/' if where else 'srm://a'}/f{number}"
            requests.append(
                f'[ dap_type = "transfer"; src_url = "{source}"; dest_url = "{url}"; {KEYS} ]\n'
            )
        (work / "many.dap").write_text("".join(requests))

    def start(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([*filter(None, sys.path), str(self.work / "module")])
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "TMPDIR": str(self.work / "tmp"),
            "_CONDOR_PYDAGMAN_PLACEMENT_DIR": str(self.work / "shared"),
        }
        command = [sys.executable, "-m", "condor_pydagman.cli.pydagman", "transfer", "many.dap"]
        with (self.work / "said").open("ab") as said:
            return subprocess.Popen(
                command, cwd=self.work, env=environment, stdout=said, stderr=said
            )

    def half(self) -> list[Path]:
        """Files that are wrong; who can't rename has to write under the final name."""
        return [
            path
            for path, data in self.files.items()
            if path.parent.name != "norename" and path.exists() and path.read_bytes() != data
        ]


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_kills(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    world = World(tmp_path, random)
    kills = 0
    for _ in range(MAX_RUNS):
        worker = world.start()
        while worker.poll() is None:
            time.sleep(random.uniform(0.02, 0.3))
            assert not world.half()
            family = [pid for pid in processes.family(worker.pid) if pid != worker.pid]
            pid = random.choice(family) if family and random.random() < 0.8 else worker.pid
            if kills < KILLS and (pid != worker.pid or random.random() < 0.3):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
        if worker.returncode == 0:
            break
    assert worker.returncode == 0, (tmp_path / "said").read_text()[-3000:]
    assert kills
    for path, data in world.files.items():
        assert path.read_bytes() == data
    left = [*tmp_path.rglob("*.part"), *(tmp_path / "shared").rglob("write.*")]
    assert not left
