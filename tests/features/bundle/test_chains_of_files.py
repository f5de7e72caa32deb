"""Chains of tasks with file transfer come to the same in a bundle as in jobs of their own.

The job is one without HTCondor: what it would transfer is copied, and the runner is run.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from condor_pydagman.features.bundle.adapters import collected
from condor_pydagman.features.bundle.adapters.collected import CollectOrder
from condor_pydagman.features.bundle.messages import Collect
from tests.features.bundle.bundle_job import BY_ITSELF
from tests.features.bundle.test_made import Chains

PLACES = ("", "p", "q/r")
FILES = ("a", "b", "c")


class Step:
    """A node: what it reads and writes.

    Attributes:
        reads: paths, relative to the DAG's directory.
        writes: names of files in its sandbox.
        named: whether these are named as outputs.
        remaps: by name, where it belongs, relative to `place`.
        place: its initial directory.
        printed: where its output belongs, relative to `place`; '' for nowhere.
        code: what it exits with.
    """

    def __init__(self, number: int, chance: random.Random) -> None:
        self.number = number
        self.place = chance.choice(PLACES)
        some = [os.path.join(chance.choice(PLACES), chance.choice(FILES)) for _ in range(2)]
        self.reads = list({os.path.basename(path): path for path in some}.values())
        self.writes = chance.sample(FILES, chance.randint(1, 2))
        self.named = chance.random() < 0.5
        elsewhere = [place for place in (chance.choice(PLACES),) if chance.random() < 0.4]
        self.remaps = {
            name: os.path.relpath(os.path.join(place, chance.choice(FILES)), self.place or ".")
            for place in elsewhere
            for name in self.writes[:1]
        }
        taken = {os.path.normpath(self.remaps.get(name, name)) for name in self.writes}
        if len(taken) < len(self.writes):
            self.remaps = {}
        self.printed = chance.choice(sorted({"", *FILES} - taken - {*self.writes}))
        self.code = chance.choice((0,) * 12 + (3,))

    @property
    def script(self) -> str:
        """What it does: each file tells who has written it, after what had been read."""
        reads = " ".join(map(os.path.basename, self.reads))
        lines = [f"echo {self.number} reads; cat {reads}", f"cat {reads} > read"]
        for name in self.writes:
            lines.append(f"(echo {name} by {self.number}; cat read) > new; mv new {name}")
        return "; ".join([*lines, f"rm read; exit {self.code}"])

    def text(self, home: Path) -> str:
        """Its submit description."""
        paths = ",".join(str(home / path) for path in self.reads)
        pairs = ";".join(f"{name}={place}" for name, place in self.remaps.items())
        found = f"arguments = {self.number}\ninitialdir = {home / self.place}\n"
        found += f"transfer_input_files = {paths}\n"
        found += f"transfer_output_files = {','.join(self.writes)}\n" * self.named
        found += f"transfer_output_remaps = {pairs}\n" * bool(pairs)
        return found + f"output = {self.printed}\n" * bool(self.printed)

    def run_alone(self, home: Path, scratch: Path) -> bool:
        """In a job of its own; returns whether it has succeeded."""
        scratch.mkdir()
        if not all((home / path).exists() for path in self.reads):
            return False  # the job would go on hold
        for path in self.reads:
            shutil.copy2(home / path, scratch)
        before = {one.name: one.stat() for one in scratch.iterdir()}
        done = subprocess.run(
            ["/bin/sh", "-c", self.script], cwd=scratch, capture_output=True, check=False
        )
        if self.printed:
            (home / self.place / self.printed).write_bytes(done.stdout)
        for one in sorted(scratch.iterdir()):
            was = before.get(one.name)
            is_new = was is None or was.st_ino != one.stat().st_ino
            if one.name in self.writes if self.named else is_new:
                place = self.remaps.get(one.name, one.name)
                shutil.move(one, home / self.place / place)
        return done.returncode == 0


def tree(home: Path) -> dict[str, str]:
    files = [path for path in home.rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): path.read_text() for path in files}


def run_alone(home: Path, steps: Sequence[Step], good: Sequence[bool | None]) -> list[bool]:
    """Those of which the result is not known, behind each other, as far as they succeed."""
    found: list[bool] = []
    for step, known in zip(steps, good):
        scratch = home.with_name(f"{home.name}.alone{step.number}")
        if known is None:
            known = all(found) and step.run_alone(home, scratch)
        found.append(known)
    return found


def run_together(home: Path, steps: Sequence[Step]) -> list[bool | None]:
    """In a bundle; returns which have succeeded, None of one that has not run."""
    dag = Chains(home)
    program = home.with_name("program")
    cases = "".join(f"{one.number}) {one.script};;\n" for one in steps)
    program.write_text(f"#!/bin/sh\ncase $1 in\n{cases}esac\n")
    program.chmod(0o755)
    dag.head = f"executable = {program}\ntransfer_executable = false\n"
    dag.prepare(*(one.text(home) for one in steps))
    bundle, scratch = home / "bundles/3", home.with_name("scratch")
    scratch.mkdir()
    for path in [bundle / "tasks", *(bundle / "in").iterdir()]:
        shutil.copy2(path, scratch)
    environment = {**os.environ, "_CONDOR_SCRATCH_DIR": str(scratch)}
    command = [*BY_ITSELF, "tasks"]
    subprocess.run(command, cwd=scratch, env=environment, stdout=subprocess.DEVNULL, check=True)
    shutil.copy(scratch / "results", bundle)
    shutil.copytree(scratch / "out", bundle / "out")
    names = [f"N{one.number}" for one in steps]
    none = (0,) * len(names)
    asked = Collect(3, 5, none, none, False, "over", len(names) - 1)
    order = CollectOrder(asked, str(home / "bundles"), names, (False, False, False))
    text = collected.collect(order, collected.Known()).events
    shutil.rmtree(home / "bundles")
    found: list[bool | None] = [None] * len(steps)
    for event in text.split("...\n"):
        if event.startswith("005"):
            number = int(event[13:].partition(")")[0])
            found[number - 1] = "(return value 0)" in event
    return found


@pytest.mark.parametrize("seed", range(25))
def test_files_are_those_of_jobs_of_their_own(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    steps = [Step(number, chance) for number in range(1, 7)]
    homes = tmp_path / "alone", tmp_path / "together"
    there = [
        os.path.join(place, name) for place in PLACES for name in FILES if chance.random() < 0.7
    ]
    there += steps[0].reads
    for home in homes:
        for place in PLACES:
            (home / place).mkdir(parents=True, exist_ok=True)
        for name in there:
            (home / name).write_text("first\n")
    alone = run_alone(homes[0], steps, [None] * len(steps))
    together = run_together(homes[1], steps)
    assert run_alone(homes[1], steps, together) == alone
    assert tree(homes[1]) == tree(homes[0])
