"""What the runner of a bundle costs: python -m benchmarks.bundle_runner [--tasks N] [--rounds N]

Milliseconds a task over a bare loop of posix_spawn and wait4 in the same Python, which runs the
same program, touch with one file: tasks of a shared job, and of a transferred one, each of which
has a directory, a program and two inputs by links, a file for its output, and an output to move.
All are measured in turn, so that what else the machine does meanwhile falls on each; the median of
the rounds counts.  CPU is the runner's, or the loop's, own.  The last task of a run reads the
memory that the runner has had at most.  Then, for chains of /bin/true each of which runs after the
one before it, milliseconds a step: in the job's directory, and in directories of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from condor_pydagman.features.bundle.adapters.program import program as text

SYSTEMS = "/usr/bin/python3 /usr/libexec/platform-python"  # where the runner looks for Python
PROGRAM = "/bin/touch"
BARE = f"""
import os, sys, time
began = time.monotonic()
for _ in range(int(sys.argv[1])):
    os.wait4(os.posix_spawn({PROGRAM!r}, [{PROGRAM!r}, "new"], os.environ), 0)
print(time.monotonic() - began, time.process_time())
"""
PEAK = "grep VmHWM /proc/$PPID/status"


class Cost(NamedTuple):
    """Seconds a task."""

    wall: float
    cpu: float


def main(words: list[str]) -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args(words)
    count = options.tasks
    kinds: dict[str, Callable[[], Cost]] = {
        "bare loop": lambda: bare(options.python, count),
        "shared": lambda: shared(options.python, count),
        "transferred": lambda: transferred(options.python, count),
    }
    figures: dict[str, list[Cost]] = {name: [] for name in kinds}
    starts = []
    for _ in range(options.rounds):
        for name, measure in kinds.items():
            figures[name].append(measure())
        starts.append(start(options.python))
    loop = figures["bare loop"]
    for name, found in figures.items():
        print(f"{name:12}", *map(summary, zip(*found), zip(*loop), ("wall", "cpu")))
    print(f"start and end of the runner: {statistics.median(starts) * 1000:.1f} ms")
    print(f"memory of the runner: {peak(options.python, count):.2f} MB")
    for name, transfers in (("chain", False), ("chain, own directories", True)):
        costs = [chain(options.python, transfers=transfers) for _ in range(options.rounds)]
        print(f"{name}: {statistics.median(one.wall for one in costs) * 1000:.3f} ms a step")


def summary(own: tuple[float, ...], loop: tuple[float, ...], what: str) -> str:
    """A figure, and what it is over that of the bare loop in the same rounds."""
    over = statistics.median(map(float.__sub__, own, loop)) * 1000
    ratio = statistics.median(map(float.__truediv__, own, loop))
    milliseconds = statistics.median(own) * 1000
    return f"{what} {milliseconds:6.3f} ms ({over:+6.3f}, x {ratio:.2f})"


def bare(python: str, count: int) -> Cost:
    """The bare loop."""
    with tempfile.TemporaryDirectory() as place:
        command = [python, "-I", "-S", "-c", BARE, str(count)]
        done = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, check=True)
    wall, cpu = map(float, done.stdout.split())
    return Cost(wall / count, cpu / count)


def shared(python: str, count: int) -> Cost:
    """Tasks of a shared job."""
    with tempfile.TemporaryDirectory() as place:
        return run(python, Path(place), [task(number, place) for number in range(1, count + 1)])


def transferred(python: str, count: int) -> Cost:
    """Tasks of a transferred job."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        shutil.copy(PROGRAM, place / "1")
        (place / "2").write_text("data")
        (place / "3").write_text("data")
        own = {
            "program": "/no/such/place/touch",
            "sandboxed": "1",
            "inputs": [["2", "a.txt"], ["3", "b.txt"]],
            "output": "o.txt",
        }
        tasks = [task(number, name) | own for number in range(1, count + 1)]
        return run(python, place, tasks, transfers=True)


def chain(python: str, *, transfers: bool, steps: int = 200) -> Cost:
    """Tasks each of which runs after the one before it."""
    with tempfile.TemporaryDirectory() as place:
        tasks = [task(number, place) for number in range(1, steps + 1)]
        for before, one in enumerate(tasks):
            one |= {"program": "/bin/true", "arguments": [], "after": [before] * bool(before)}
        return run(python, Path(place), tasks, transfers=transfers)


def start(python: str) -> float:
    """Seconds that a run without tasks takes, with the start of Python."""
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        run(python, Path(place), [])
        return time.monotonic() - began


def peak(python: str, count: int) -> float:
    """Memory of the runner in MB at most, as its last task sees it."""
    with tempfile.TemporaryDirectory() as place:
        tasks = [task(number, place) for number in range(1, count + 1)]
        tasks[-1] |= {"program": "/bin/sh", "arguments": ["-c", PEAK], "output": "peak"}
        run(python, Path(place), tasks)
        return int((Path(place) / "peak").read_text().split()[1]) * 1024 / 1e6


def task(number: int, place: str) -> dict[str, Any]:
    """A line of the list: touch, in the job's own directory."""
    return {
        "n": number,
        "program": PROGRAM,
        "sandboxed": "",
        "arguments": ["new"],
        "environment": {"SEED": str(number)},
        "directory": place,
        "input": "",
        "output": "",
        "error": "",
        "inputs": [],
        "outputs": None,
        "timeout": 0,
        "success": 0,
    }


def run(python: str, place: Path, tasks: list[dict[str, Any]], *, transfers: bool = False) -> Cost:
    """Run the tasks in that directory, as a job with file transfer does or as one without."""
    head = {"format": 1, "bundle": 1, "parallel": 1, "home": str(place)}
    (place / "tasks").write_text("".join(f"{json.dumps(one)}\n" for one in (head, *tasks)))
    program = place / "runner"
    program.write_text(text().replace(SYSTEMS, python), encoding="utf-8")
    environment = os.environ | ({"_CONDOR_SCRATCH_DIR": str(place)} if transfers else {})
    runner = subprocess.Popen(["/bin/sh", program, "tasks"], cwd=place, env=environment)
    _, status, usage = os.wait4(runner.pid, 0)
    runner.returncode = status
    results = [json.loads(line) for line in (place / "results").read_text().splitlines()]
    ended = [one for one in results if "ended" in one]
    assert status == 0 and not any(one["code"] or one["missing"] for one in ended), results
    count = max(1, len(tasks))
    of_tasks = sum(one["user"] + one["system"] for one in ended)
    wall = results[-1]["time"] - results[0]["time"]
    return Cost(wall / count, (usage.ru_utime + usage.ru_stime - of_tasks) / count)


if __name__ == "__main__":
    main(sys.argv[1:])
