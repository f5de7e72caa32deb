"""A chain or a bag of /bin/true in Luigi: python peers_luigi.py local|central chain|bag COUNT

With its local scheduler, or with luigid, which is started before and is not counted.  Written to
standard output: `seconds N`, what a user waits for.  A program of its own, because it runs in the
Python environment of the peers.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import luigi
from luigi.contrib.external_program import ExternalProgramTask

START_TIMEOUT_S = 60.0  # of luigid


class Step(ExternalProgramTask):
    """The command; done when its file is there, as Luigi wants it."""

    number = luigi.IntParameter()
    chained = luigi.BoolParameter()

    def requires(self) -> list[luigi.Task]:
        """The step before it."""
        return [Step(self.number - 1, True)] if self.chained and self.number else []

    def program_args(self) -> list[str]:
        """What is run."""
        return ["/bin/true"]

    def run(self) -> None:
        """Run it, and say that it is done."""
        super().run()
        self.output().open("w").close()

    def output(self) -> luigi.LocalTarget:
        """What says that it is done."""
        return luigi.LocalTarget(f"done/{self.number}")


def run(kind: str, count: int, port: int) -> None:
    """Run it to its end, with luigid at a port of this machine or, if that is 0, without."""
    chained = kind == "chain"
    tasks = [Step(count - 1, True)] if chained else [Step(number, False) for number in range(count)]
    chosen = {"scheduler_host": "127.0.0.1", "scheduler_port": port} if port else {}
    workers = os.cpu_count() or 1
    if not luigi.build(
        tasks, workers=workers, local_scheduler=not port, log_level="WARNING", **chosen
    ):
        sys.exit("not all tasks have been done")


def timed(kind: str, count: int, port: int) -> None:
    """The same in a process of its own; tells its seconds."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, __file__, "run", kind, str(count), str(port)], check=True)
    print(f"seconds {time.perf_counter() - begin}")


def with_luigid(kind: str, count: int) -> None:
    """The same with a luigid for it alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--address", "127.0.0.1", "--port", str(port), "--state-path", str(Path("luigid.pkl"))]
    with Path("luigid.log").open("wb") as log:
        daemon = subprocess.Popen(
            [str(Path(sys.executable).parent / "luigid"), *words], stdout=log, stderr=log
        )
    try:
        _wait(port)
        timed(kind, count, port)
    finally:
        daemon.terminate()
        daemon.wait()


def _wait(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    way, wanted, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if way == "run":
        run(wanted, number, int(sys.argv[4]))
    elif way == "central":
        with_luigid(wanted, number)
    else:
        timed(wanted, number, 0)
