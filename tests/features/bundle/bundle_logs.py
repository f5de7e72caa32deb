"""The logs of a run with bundles, as DAGMan and HTCondor write them."""

from __future__ import annotations

from condor_pydagman.records.own_events import ending, usage
from tests.unit.follow.bench import Bench

BUNDLED, UNBUNDLED = "BUNDLED", "UNBUNDLED"
TABLE = """\
\tPartitionable Resources :    Usage  Request Allocated
\t   Cpus                 :     0.25
\t   Memory (MB)          :       12
"""
FOUR = "JOB A s\nJOB B s\nJOB C s\nJOB D s\nBUNDLE b ALL_NODES\n"


class BundleLogs(Bench):
    """Bundle 7 of the nodes A to D is made, and its job 211.0 comes into the queue 1 s later."""

    def made(self, names: str = "A B C D", number: int = 7, cluster: int = 211) -> None:
        self.record(BUNDLED, value=number, text=names, node="")
        self.now += 1
        self.submit(f"bundle {number}", cluster)

    def runs(self, cluster: int = 211, slot: str = "slot1_2@one") -> None:
        """Its job begins to run after 4 s."""
        self.now += 4
        self.execute(cluster, slot=slot)

    def task(
        self, name: str, number: int, *, value: int = 0, cluster: int = 211, why: str = ""
    ) -> None:
        """The task of a node runs for 2 s, in which it uses 0.5 s of a processor."""
        job = f"{cluster:03d}.000.{number:03d}"
        self.event(0, f"Job submitted from host: <bundle-7>\n    DAG Node: {name}\n", job)
        self.event(1, "Job executing on host: <one>\n", job)
        self.now += 2
        if why:
            self.record("TASK_FAILED", cluster=cluster, text=why, node=name)
        self.event(5, f"Job terminated.\n{ending(value)}{usage()}{TABLE}", job)

    def over(self, why: str = "its job has ended with status 0", number: int = 7) -> None:
        self.record(UNBUNDLED, value=number, text=f"{why}\n", node="")

    def given_back(self, names: str, number: int = 7) -> None:
        """Its job runs, and does not run these any more."""
        self.record(UNBUNDLED, value=number, text=names, node="", retry=2)
