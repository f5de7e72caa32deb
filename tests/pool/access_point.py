"""What the pool tests do to the real pool: run commands, submit DAGs, wait for their ends.

Everything goes through the commands that a user types.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from condor_pydagman.pool import Pool, processes
from tests import recordings
from tests.pool.resident import Resident
from tests.pool.waiting import end_of, until
from tests.waiting import LIMIT_S

STOCK, OURS = "stock", "ours"
# What a command says that a busy daemon has not let in: nothing was done, so it may ask again.
_BUSY = "SECMAN:2007:"


@dataclass
class Ended:
    """How a DAGMan job ended: `code` is its exit code, negative for a signal."""

    code: int


def _ended(dag: Path) -> Ended | None:
    code = end_of(dag)
    return None if code is None else Ended(code)


def new_directory(path: Path) -> Path:
    """Make a directory that the pool's user may write to; returns it."""
    path.mkdir(parents=True)
    path.chmod(0o777)
    return path


class AccessPoint:
    """The pool's access point, as a user sees it."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.environment = pool.environment()
        self._resident = Resident(pool, self.environment)
        self.stock_dagman = self.which("condor_dagman", ours=False)
        self.our_dagman = self.which("condor_dagman", ours=True)

    @cached_property
    def version(self) -> str:
        """The version of the pool's HTCondor, as `25.14.1`."""
        return recordings.version_in(self.run("condor_version").stdout)

    @cached_property
    def user(self) -> str:
        """The name of the pool's user."""
        return self.run("id", "-un").stdout.strip()

    def which(self, command: str, *, ours: bool) -> str:
        """Full path of a command, the stock one or ours."""
        directories = self.environment["PATH"].split(":")
        paths = [Path(d) / command for d in directories if (Path(d) / command).exists()]
        return str(paths[0] if ours else paths[1])

    def run(
        self,
        *argv: str,
        cwd: Path | None = None,
        check: bool = True,
        environment: dict[str, str] | None = None,
        timeout: float = LIMIT_S,
        loaded: bool | None = None,
        errors: str = "strict",
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as the pool's user, again if the pool was too busy to listen.

        `loaded` and `errors`: as `Resident.run` has them; by default, `condor_pydagman` is loaded.
        """
        limit = time.monotonic() + LIMIT_S
        while True:
            done = self._resident.run(
                list(argv),
                cwd=cwd,
                changes=environment or {},
                timeout_s=timeout,
                loaded=argv[0] == "condor_pydagman" if loaded is None else loaded,
                errors=errors,
            )
            if _BUSY not in done.stderr or time.monotonic() > limit:
                break
        assert not check or done.returncode == 0, (argv, done.stdout, done.stderr)
        return done

    def submit(self, directory: Path, *words: str, stock: bool = False) -> int:
        """Run condor_submit_dag (of the flavour asked for); returns the DAGMan job's cluster.

        What it starts is condor_dagman of the same flavour, unless `words` name one: both commands
        would take the first on PATH, ours.
        """
        command = self.which("condor_submit_dag", ours=not stock)
        if stock and "-dagman" not in words:
            words = ("-dagman", self.stock_dagman, *words)
        output = self.run(command, *words, cwd=directory, loaded=not stock).stdout
        match = re.search(r"submitted to cluster (\d+)\.", output)
        assert match, output
        return int(match.group(1))

    def wait(self, dag: Path) -> Ended:
        """Wait until the DAGMan job of `dag` has ended for good."""
        ended: Ended = until(lambda: _ended(dag), f"the end of {dag.name}", dag)
        return ended

    def wait_for(self, what: Any, say: str = "", dag: Path | None = None) -> Any:
        """Wait until `what()`, which may be costly, gives something true; returns that.

        `dag` is the DAG that is to bring it about: once its DAGMan has ended, it won't.
        """
        return until(what, say or str(what), dag, max_pause=0.5)

    def queue(self, constraint: str = "true") -> list[dict[str, Any]]:
        """Ads of jobs in the queue."""
        return self._ads("condor_q", "-allusers", "-constraint", constraint, "-json")

    def history(self, cluster: int) -> dict[str, Any]:
        """Ad of a DAGMan job that has left the queue."""
        found = self.wait_for(
            lambda: self._ads("condor_history", str(cluster), "-limit", "1", "-json"),
            say=f"job {cluster} in the history",
        )
        return dict(found[0])

    def gone(self, cluster: int) -> bool:
        """Whether a DAGMan job and all its node jobs have left the queue."""
        return not self.queue(f"ClusterId == {cluster} || DAGManJobId == {cluster}")

    def daemon(self, name: str) -> int:
        """Process id of a daemon of the pool, 0 if it does not run."""
        found = [pid for pid in self.processes() if processes.stat_of(pid).name == name]
        return min(found, default=0)

    def processes(self) -> list[int]:
        """Process ids of the pool's condor_master and all that come from it."""
        master = self.pool.master()
        return list(processes.family(master)) if master else []

    def _ads(self, *argv: str) -> list[dict[str, Any]]:
        text = self.run(*argv).stdout.strip()
        return list(json.loads(text)) if text else []
