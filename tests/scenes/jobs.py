"""The jobs of a scene: which there are, whose they are, and which have not ended."""

from __future__ import annotations

Job = tuple[int, int]  # cluster and proc


class Jobs:
    """Those that the schedd of a scene has taken.

    Attributes:
        counts: how many jobs a node has, if not one; 0 with late materialization.
        live: those that have not ended.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._clusters: dict[str, int] = {}  # of each node the last one
        self._owners: dict[Job, str] = {}
        self.live: list[Job] = []

    def add(self, nodes: list[str], cluster: str = "") -> list[Job]:
        """One more cluster: the jobs of a node, or one of each of several nodes."""
        number = int(cluster or max((one for one, _ in self._owners), default=0) + 1)
        owners = nodes * self.counts.get(nodes[0], 1) if len(nodes) == 1 else nodes
        self._clusters.update(dict.fromkeys(nodes, number))
        self._owners.setdefault((number, -1), nodes[0] if len(nodes) == 1 else str(number))
        return [self.make(owner, proc) for proc, owner in enumerate(owners)]

    def make(self, node: str, proc: int) -> Job:
        """A proc in the last cluster of a node."""
        job = (self.cluster(node), proc)
        if job not in self._owners:
            self._owners[job] = node
            self.live.append(job)
        return job

    def cluster(self, node: str) -> int:
        """The last one of a node."""
        return self._clusters[node]

    def factory(self, node: str) -> None:
        """The node's jobs come one by one, from `make`."""
        self.counts[node] = 0
        if node not in self._clusters:
            self.add([node])

    def named(self, name: str) -> list[Job]:
        """`A` are the node's jobs that have not ended, `A.1` is its proc 1, `5.1` that job."""
        node, _, proc = name.partition(".")
        cluster = int(node) if node.isdigit() else self.cluster(node)
        if proc:
            return [(cluster, int(proc))]
        return [job for job in self.live if job[0] == cluster and self._owners[job] == node]

    def end(self, job: Job) -> None:
        """It has left the queue."""
        if job in self.live:
            self.live.remove(job)

    def owner(self, job: Job) -> str:
        """The node's name, or of a whole cluster (proc -1) that is of several nodes its number."""
        return self._owners.get(job) or self._owners.get((job[0], -1)) or str(job[0])
