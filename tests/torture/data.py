"""The torture test of data placement, as a command.

    python -m tests.torture.data [--kills N] [--seed S] [--directory DIR]

A DAG of a pool of its own allocates space, moves files of some megabytes from a server that breaks
off, stalls and is overloaded, and releases the space.  Meanwhile workers, DAGMan, condor_starter
and condor_schedd are killed at random times; the DAG is submitted again until it is done; then the
next one begins, until so many were killed.  Exit code 1 if a file is half or wrong, or an
allocation is left.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from random import Random

from condor_pydagman.pool import Pool
from condor_pydagman.transfer.rules.allocation_rules import read_ledger
from tests.pool.access_point import AccessPoint, new_directory
from tests.servers.faulty_http import FaultyServer, Wrong, faulty_http

FILES = 8
KNOBS = """\
PYDAGMAN_PLACEMENT_DIR = {place}/shared
PYDAGMAN_PLACEMENT_CAPACITY = scratch=100 MB
PYDAGMAN_PLACEMENT_STALL_TIMEOUT = 1
PYDAGMAN_PLACEMENT_HOST_REST = 1
PYDAGMAN_PLACEMENT_MAX_DELAY = 2
DAGMAN_USER_LOG_SCAN_INTERVAL = 1
DAGMAN_QUEUE_UPDATE_INTERVAL = 1
DAGMAN_AVOID_SLASH_TMP = False
"""
# How often each is killed, of all kills.
TARGETS = ("worker",) * 6 + ("dagman",) * 3 + ("starter",) * 2 + ("schedd",)
MARKS = {
    "worker": b".order\0",
    "dagman": b"condor_dagman\0",
    "starter": b"condor_starter",
    "schedd": b"condor_schedd",
}


class Torture:
    """DAGs with DATA nodes, and what becomes of them."""

    def __init__(self, access_point: AccessPoint, server: FaultyServer, place: Path, seed: int):
        self.access_point = access_point
        self.server = server
        self.place = place
        self.random = Random(seed)
        self.kills: dict[str, int] = dict.fromkeys(MARKS, 0)
        self.wrong: list[str] = []

    @property
    def killed(self) -> int:
        """How many were killed so far."""
        return sum(self.kills.values())

    def play(self, number: int, most: int) -> None:
        """One DAG, until it is done."""
        work = new_directory(self.place / "dags" / f"dag{number}")
        contents = self._write(work, number)
        done = threading.Event()
        killer = threading.Thread(target=self._kill, args=[done, most], daemon=True)
        killer.start()
        submissions = 0
        try:
            while True:
                submissions += 1
                code = self._run(work, contents)
                if code == 0:
                    break
                if submissions > 50:
                    self.wrong.append(f"{work} does not get done")
                    break
        finally:
            done.set()
            killer.join()
        self._judge(work, contents)
        print(f"dag{number}: {submissions} submissions, {self.killed} kills so far", flush=True)

    def _write(self, work: Path, number: int) -> dict[str, bytes]:
        lines = ["DATA space space.dap", "RETRY space 50", "DATA free free.dap", "RETRY free 50"]
        contents = {}
        for file in range(FILES):
            name = f"{number}-{file}"
            contents[name] = self.random.randbytes(self.random.randrange(1, 4_000_000))
            self.server.files[f"/{name}"] = contents[name]
            lines += [f"DATA f{file} {name}.dap", f"RETRY f{file} 50"]
            lines += [f"PARENT space CHILD f{file}", f"PARENT f{file} CHILD free"]
            url = self.server.url(f"/{name}")
            self._put(work, f"{name}.dap", f"dap_type = transfer\nsrc_url = {url}\n"
                      f"dest_url = {name}\nallocation_id = dag{number}\n")  # fmt: skip
        who = f"dest_host = scratch; allocation_id = dag{number};"
        self._put(work, "space.dap", f"[ dap_type = allocate; {who} size = 50MB; ]\n")
        self._put(work, "free.dap", f"[ dap_type = release; {who} ]\n")
        self._put(work, "t.dag", "\n".join(lines) + "\n")
        return contents

    def _put(self, work: Path, name: str, text: str) -> None:
        (work / name).write_text(text)
        (work / name).chmod(0o666)

    def _run(self, work: Path, contents: dict[str, bytes]) -> int:
        """Submit the DAG and wait for its end; meanwhile look for half files."""
        while True:
            # A submission that failed has left its submit file.
            again = ("-update_submit",) if (work / "t.dag.condor.sub").exists() else ()
            try:
                cluster = self.access_point.submit(work, *again, "t.dag")
                break
            except AssertionError:  # the schedd is down, or the last DAGMan is not yet gone
                time.sleep(1)
        mark = f"005 ({cluster:03}.000."
        log = work / "t.dag.dagman.log"
        while True:
            self._make_trouble(contents)
            self._look_for_halves(work, contents)
            text = log.read_text(errors="replace") if log.exists() else ""
            if mark in text:
                return int(text.rsplit("return value ", 1)[-1].split(")")[0])
            time.sleep(0.2)

    def _make_trouble(self, contents: dict[str, bytes]) -> None:
        """Let some request go wrong."""
        if self.random.random() < 0.5:
            path = f"/{self.random.choice(list(contents))}"
            after = self.random.randrange(1, 3_000_000)
            wrong = self.random.choice(
                [Wrong(after=after), Wrong(status=503), Wrong(after=after, stalls=True)]
            )
            self.server.fail(path, wrong)

    def _look_for_halves(self, work: Path, contents: dict[str, bytes]) -> None:
        for name, content in contents.items():
            with contextlib.suppress(FileNotFoundError):
                if (work / name).read_bytes() != content:
                    self.wrong.append(f"{work / name} is half or wrong")

    def _judge(self, work: Path, contents: dict[str, bytes]) -> None:
        for name, content in contents.items():
            if not (work / name).exists() or (work / name).read_bytes() != content:
                self.wrong.append(f"{work / name} is lost or wrong")
        left = [path.name for path in work.iterdir() if path.name.endswith(".part")]
        if left:
            self.wrong.append(f"{work} has {left}")
        for ledger in (self.place / "shared").glob("ledger.*.txt"):
            for one in read_ledger(ledger.read_text()):
                if not one.released:
                    self.wrong.append(f"allocation {one.allocation_id} is left")

    def _kill(self, done: threading.Event, most: int) -> None:
        while not done.wait(self.random.uniform(0.2, 1.5)) and self.killed < most:
            target = self.random.choice(TARGETS)
            found = self._processes(MARKS[target])
            if found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.random.choice(found), signal.SIGKILL)
                    self.kills[target] += 1

    def _processes(self, mark: bytes) -> list[int]:
        found = []
        for pid in self.access_point.processes():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes()
                if mark in words if mark.endswith(b"\0") else mark in words.split(b"\0")[0]:
                    found.append(pid)
        return found


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path)
    arguments = parser.parse_args()
    place = arguments.directory or Path(tempfile.mkdtemp(dir="/var/tmp"))
    place.chmod(0o755)
    new_directory(place / "dags")
    new_directory(place / "shared").chmod(0o1777)
    pool = Pool(place / "pool")
    (place / "pool" / "config.d").mkdir(parents=True)
    (place / "pool" / "config.d" / "torture").write_text(KNOBS.format(place=place))
    pool.start(timeout_s=120)
    try:
        with faulty_http() as server:
            torture = Torture(AccessPoint(pool), server, place, arguments.seed)
            number = 0
            while torture.killed < arguments.kills and not torture.wrong:
                number += 1
                torture.play(number, arguments.kills)
    finally:
        pool.stop()
    print(f"{number} DAGs, {number * FILES} files; killed: {torture.kills}")
    for line in torture.wrong:
        print(f"WRONG: {line}")
    return int(bool(torture.wrong))


if __name__ == "__main__":
    sys.exit(main())
