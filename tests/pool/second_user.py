"""A second user of the pool, who is nobody's friend: `eve`.

To HTCondor a user is who has proved to be one.  On the pools of the tests it believes who says that
he is eve (CLAIMTOBE), so that no second account is needed; her jobs are hers, and the schedd lets
her touch nobody else's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tests.pool.access_point import AccessPoint

# For the configuration of a pool. Only its schedd knows her, and only as a user.
KNOBS = """
SCHEDD.SEC_READ_AUTHENTICATION_METHODS = FS, CLAIMTOBE
SCHEDD.SEC_WRITE_AUTHENTICATION_METHODS = FS, CLAIMTOBE
SCHEDD.ALLOW_READ = $(POOL_USERS), eve@$(UID_DOMAIN)
SCHEDD.ALLOW_WRITE = $(POOL_USERS), eve@$(UID_DOMAIN)
"""
NAME = "eve"
EVE = {
    "_CONDOR_SEC_CLIENT_AUTHENTICATION_METHODS": "CLAIMTOBE",
    "_CONDOR_SEC_CLAIMTOBE_USER": NAME,
}


class Forger:
    """A user who submits jobs that say they are those of a DAG; the user of the pool.

    Attributes:
        clusters: of these jobs.
    """

    environment: Mapping[str, str] = {}

    def __init__(self, access_point: AccessPoint, work: Path) -> None:
        self._access_point = access_point
        self._work = work
        self.clusters: list[int] = []

    def run(self, *argv: str, check: bool = True) -> str:
        """Run a command as this user."""
        changes = dict(self.environment)
        done = self._access_point.run(*argv, cwd=self._work, check=check, environment=changes)
        return done.stdout

    def forge(self, owner: int, node: str, *more: str, retry: int = 0) -> int:
        """Submit a job that says it is a node's of the DAGMan job `owner`; returns its cluster."""
        names = [
            f"My.DAGManJobId = {owner}",
            f'My.DAGNodeName = "{node}"',
            f"My.DAGManNodeRetry = {retry}",
        ]
        lines = ["executable = /bin/true", "transfer_executable = false", *names, *more, "queue"]
        path = self._work / f"{type(self).__name__}{len(self.clusters)}.sub"
        path.write_text("\n".join(lines) + "\n")
        found = re.search(r"submitted to cluster (\d+)\.", self.run("condor_submit", path.name))
        assert found is not None
        self.clusters.append(int(found[1]))
        return self.clusters[-1]

    def leave(self) -> None:
        """Take the jobs away."""
        for cluster in self.clusters:
            self.run("condor_rm", str(cluster), check=False)


class Eve(Forger):
    """What she does."""

    environment = EVE
