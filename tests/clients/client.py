"""How clients are run: from an environment of their own, with stock's commands or ours on PATH."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.pool.access_point import OURS, STOCK, AccessPoint
from tests.waiting import LIMIT_S

FLAVOURS = (STOCK, OURS)
ENVIRONMENTS = Path(__file__).resolve().parents[2] / "var" / "clients"
DRIVERS = Path(__file__).resolve().parent / "drivers"


@dataclass
class Client:
    """Runs the programs of the environments in `var/clients`."""

    access_point: AccessPoint
    home: Path

    def path(self, flavour: str) -> str:
        """$PATH with the commands of stock, or with ours before them."""
        path: str = self.access_point.environment["PATH"]
        if flavour == OURS:
            return path
        ours = os.path.dirname(self.access_point.our_dagman)
        return os.pathsep.join(word for word in path.split(os.pathsep) if word != ours)

    def program(self, environment: str, name: str) -> str:
        """Path of a program of an environment."""
        program = ENVIRONMENTS / environment / "bin" / name
        assert program.exists(), f"{program} is not there: use sh tests/clients/run.sh"
        return str(program)

    def run(
        self,
        flavour: str,
        *argv: str,
        cwd: Path | None = None,
        check: bool = True,
        timeout: float = LIMIT_S,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as the pool's user, with the commands of `flavour` first on PATH."""
        variables = {"PATH": self.path(flavour), "HOME": str(self.home), **variables}
        return self.access_point.run(
            *argv, cwd=cwd, check=check, environment=variables, timeout=timeout
        )

    def drive(self, flavour: str, environment: str, driver: str, *words: str, cwd: Path) -> str:
        """Run one of the drivers with the Python of an environment; returns its standard output."""
        python = self.program(environment, "python")
        return self.run(flavour, python, str(DRIVERS / driver), *words, cwd=cwd).stdout.strip()


def directory(work: Path, *names: str) -> Path:
    """Make a directory that the pool's user may write to; `work` stays as it is, since nobody but
    its owner may change what is above a pool."""
    made = work.joinpath(*names)
    made.mkdir(parents=True)
    for path in (made, *made.parents):
        if work in path.parents:
            path.chmod(0o777)
    return made


def masked(text: str, **hidden: str) -> str:
    """The text with each value of `hidden` replaced by its name, and times by TIME."""
    for name, value in hidden.items():
        text = re.sub(rf"(?<![\w.]){re.escape(value)}(?!\w)", name, text)
    text = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?", "TIME", text)
    return re.sub(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d", "TIME", text)
