"""A bundle's job without HTCondor: its directory, its list of tasks, and runs of the runner."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from condor_pydagman.features.bundle.adapters.program import program
from tests.waiting import until

_DIRECTORY = tempfile.TemporaryDirectory()
RUNNER = Path(_DIRECTORY.name) / "runner"
RUNNER.write_text(program(), encoding="utf-8")
RUNNER.chmod(0o755)
BY_ITSELF = (sys.executable, "-I", "-S", str(RUNNER))
DEFAULTS: dict[str, Any] = {
    "program": "/bin/sh",
    "sandboxed": "",
    "arguments": [],
    "environment": {},
    "input": "",
    "output": "",
    "error": "",
    "inputs": [],
    "outputs": None,
    "timeout": 0,
    "success": 0,
}


def changed(text: str, *, fixed: str = "") -> tuple[str, ...]:
    """A command that runs the runner after some code that changes it, as `m`.

    Args:
        fixed: code that is run before the module is.
    """
    code = (
        f"import sys, os; {fixed}\nm = type(os)('m'); source = open({str(RUNNER)!r}).read()\n"
        f"m.__name__ = 'm'; exec(compile(source, {str(RUNNER)!r}, 'exec'), m.__dict__)\n"
        f"{text}\nsys.exit(m.main(sys.argv[1:]))"
    )
    return (sys.executable, "-I", "-S", "-c", code)


class BundleJob:
    """A job in a directory of its own."""

    def __init__(self, path: Path, *, parallel: int = 1, transferred: bool = False) -> None:
        self.path = path
        self.said = path.with_name(f"{path.name}.said")  # what the runner says
        self.path.mkdir(exist_ok=True)
        self.command: tuple[str, ...] = BY_ITSELF
        self.head = {"format": 1, "bundle": 7, "parallel": parallel, "home": str(path)}
        self.tasks: list[dict[str, Any]] = []
        self.environment = {"PATH": os.environ["PATH"], "OF_JOB": "job"}
        if transferred:
            self.environment["_CONDOR_SCRATCH_DIR"] = str(path)

    def add(self, *scripts: str, **more: Any) -> None:
        """Tasks that are a shell script each, or one that is what `more` says."""
        for script in scripts or ("",):
            words = ["-c", script] if script else []
            of = {"n": len(self.tasks) + 1, "directory": str(self.path), "arguments": words}
            self.tasks.append({**DEFAULTS, **of, **more})

    def write(self) -> None:
        """Write the list."""
        lines = [json.dumps(line) for line in (self.head, *self.tasks)]
        (self.path / "tasks").write_text("\n".join(lines) + "\n")

    def start(self, **options: Any) -> subprocess.Popen[bytes]:
        """The runner as a process."""
        self.write()
        command = [*self.command, "tasks"]
        with self.said.open("w") as said:
            return subprocess.Popen(
                command, cwd=self.path, env=self.environment, stderr=said, **options
            )

    def stopped(self, how: signal.Signals, chance: random.Random) -> int:
        """Start it, and stop it somewhere; its exit code.  What had ended must not run again."""
        before = {number: self.text(f"ran.{number}") for number in self.ended()}
        process = self.start()
        more = len(self.text("results")) + chance.randint(0, 2500)
        is_there = lambda: len(self.text("results")) > more or process.poll() is not None  # noqa: E731
        until(is_there, "results", pause_s=0.0005)
        process.send_signal(how)
        code = process.wait()
        assert before == {number: self.text(f"ran.{number}") for number in before}
        return code

    def run(self, code: int = 0, **options: Any) -> str:
        """Run it to its end, which must have that exit code; returns what it says."""
        ended_with = self.start(**options).wait()
        assert ended_with == code, (ended_with, self.said.read_text(), self.text("results"))
        return self.said.read_text()

    def text(self, name: str) -> str:
        """What is in a file; '' if there is none."""
        path = self.path / name
        return path.read_text(errors="surrogateescape") if path.exists() else ""

    def results(self) -> list[dict[str, Any]]:
        """The lines that are whole."""
        found = []
        for line in self.text("results").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return [line for line in found if isinstance(line, dict)]

    def ended(self) -> dict[int, dict[str, Any]]:
        """What the results say of each task that has ended, each once."""
        lines = [line for line in self.results() if "ended" in line]
        numbers = [line["ended"] for line in lines]
        assert len(numbers) == len({*numbers}), numbers
        return {line["ended"]: line for line in lines}

    def outcomes(self) -> list[tuple[int, int]]:
        """Code and signal of all tasks in their order."""
        ended = self.ended()
        return [(ended[task["n"]]["code"], ended[task["n"]]["signal"]) for task in self.tasks]

    def wait_for(self, name: str, process: subprocess.Popen[bytes]) -> str:
        """The content of a file that a task writes while the runner runs, when it is a line."""

        def over() -> str:
            return "" if process.poll() is None else f"the runner has ended: {process.returncode}"

        return str(
            until(lambda: self.text(name).endswith("\n") and self.text(name), name, over=over)
        )
