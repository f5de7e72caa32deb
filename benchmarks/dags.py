"""The DAGs that are measured: a chain, two kinds of bag, and a single sleeper."""

from __future__ import annotations

from pathlib import Path

NAME = "b.dag"

# A no-op job has all its events but runs nothing and needs no slot: what is left is DAGMan's time
# and the schedd's.
NOOP = "executable = /bin/true\nnoop_job = true\n"
# A held job is never started: while such jobs are submitted, the schedd does nothing else.
HELD = "executable = /bin/true\nhold = true\n"
SLEEPER = "universe = scheduler\nexecutable = /bin/sleep\narguments = 3600\n"


def chain(directory: Path, length: int) -> None:
    """No-op nodes, each the child of the one before."""
    links = [f"PARENT N{n} CHILD N{n + 1}" for n in range(length - 1)]
    _write(directory, NOOP, [*_jobs(length), *links])


def bag(directory: Path, size: int, jobs: str) -> None:
    """Nodes that wait for nothing; `jobs` is what their submit file says."""
    _write(directory, jobs, _jobs(size))


def sleeper(directory: Path) -> None:
    """One node that outlasts the measurement."""
    _write(directory, SLEEPER, _jobs(1))


def _jobs(count: int) -> list[str]:
    return [f"JOB N{n} n.sub" for n in range(count)]


def _write(directory: Path, submit: str, lines: list[str]) -> None:
    (directory / "n.sub").write_text(f"{submit}queue\n", encoding="ascii")
    (directory / NAME).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
