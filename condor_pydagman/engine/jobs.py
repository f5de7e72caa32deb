"""The jobs of the nodes: clusters, their procs, and what the log has said about each.

A node has at most one live cluster, of its own or shared with nodes that were submitted together
with it, each of which has one proc there.  Its entry is made by whichever comes first: the schedd's
reply, the log's submit events, or (after a restart) the schedd's queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from condor_pydagman.vocabulary import ALL_PROCS

SEEN = 1  # the log has its submit event
IDLE = 2
HELD = 4
ENDED = 8

CLUSTER_ITSELF = -1  # proc that stands for a cluster that goes on making procs
MAX_PROC_GAP = (
    10_000  # procs whose submit events a log may have lost in a row; more are a wrong number
)


class Change(Enum):
    """What a proc does from now on."""

    SUBMITTED = "submitted"
    ADOPTED = "adopted"  # it is in the queue, as a record says in place of its submit event
    IDLE = "idle"  # also: it is not on hold any more, and waits
    RUNS = "runs"
    HELD = "held"
    RELEASED = "released"
    ENDED = "ended"


def run_key(cluster: int, subproc: int) -> int:
    """A number for a cluster; NOOP nodes share cluster 0 and are told apart by the third number."""
    return cluster or -subproc


class Jobs:
    """The cluster of one node in its present run."""

    __slots__ = (
        "adopted",
        "cluster",
        "codes",
        "error",
        "factory",
        "failed",
        "failed_proc",
        "held",
        "idle",
        "last_proc",
        "lost",
        "node",
        "only",
        "procs",
        "removing",
        "subproc",
        "surplus",
        "tolerance_exceeded",
        "value",
    )

    def __init__(self, node: int, cluster: int, subproc: int = 0, only: int | None = None) -> None:
        self.node = node
        self.cluster = cluster  # cluster id; 0 for a NOOP node
        # the node's only proc in a cluster that it shares with others; None if it is its own
        self.only = only
        self.procs: dict[int, int] = {}  # flags by proc id
        # what each ended proc returned: exit code, negative signal, None if aborted
        self.codes: dict[int, int | None] = {}
        self.failed = 0  # how many procs failed
        self.idle = 0  # how many wait in the queue, those on hold included
        self.held = 0  # how many are on hold
        # return value so far: that of the first failure, but 0 again after a success that follows
        # failures which are tolerated (stock rule)
        self.value = 0
        self.last_proc = only or 0  # proc of the last submit event ($JOBID)
        # the third number in the events of a node without a job of its own: of a NOOP node, see
        # `run_key`, or of one that was a part of a feature's job; else 0
        self.subproc = subproc
        self.factory = False  # late materialisation; the cluster ends with its CLUSTER_REMOVE event
        self.removing = False  # the rest of the cluster is being removed since a proc failed
        # the user has been told that the schedd does not know all of its procs any more
        self.lost = False
        self.surplus = False  # they are removed since there are too many; the run did not fail
        self.adopted = False  # a record in the log tells what its submit events do not
        self.tolerance_exceeded = False  # more procs failed than the node tolerates
        self.failed_proc = 0  # the proc whose failure was too much
        # why the node failed, where it is not the end of `failed_proc` that says so
        self.error = ""

    def live(self) -> list[int]:
        """Procs that have not ended."""
        return [proc for proc, flags in self.procs.items() if not flags & ENDED]

    def set_factory(self) -> None:
        """The cluster makes its procs with late materialization."""
        self.factory = True

    def set_removing(self) -> None:
        """What is left of the cluster is being removed, or there is nothing to be removed."""
        self.removing = True

    def set_surplus(self) -> None:
        """DAGMan ends this run of the node, which tells nothing of the node."""
        self.surplus = True

    def set_adopted(self) -> None:
        """A record in the log tells what its submit events do not."""
        self.adopted = True

    def is_shown(self, proc: int) -> bool:
        """Whether a replay of the log learns that the node has this proc."""
        return self.adopted or self.cluster <= 0 or bool(self.procs.get(proc, SEEN) & SEEN)

    def set_lost(self) -> None:
        """The user has been told that procs are lost."""
        self.lost = True

    @property
    def unfinished(self) -> bool:
        """Whether something of the cluster may still be in the queue."""
        return self.factory or not self.all_ended

    @property
    def all_ended(self) -> bool:
        """Whether no proc is left in the queue, as far as we know."""
        return len(self.codes) == len(self.procs)

    @property
    def key(self) -> int:
        """What tells this cluster from others of its node, see `run_key`."""
        return run_key(self.cluster, self.subproc)

    @property
    def target(self) -> tuple[int, int]:
        """Cluster and proc of a removal of the node's jobs, as in RemoveJobs."""
        return self.cluster, ALL_PROCS if self.only is None else self.only

    @property
    def first_proc(self) -> int:
        """The proc in the ids that events of the node's POST script have."""
        return self.last_proc if self.subproc or self.only is not None else 0

    @property
    def is_task(self) -> bool:
        """Whether it is a part of a job that other nodes have parts of, with its own events."""
        return self.cluster > 0 and self.subproc > 0

    def numbered(self, procs: int) -> Sequence[int]:
        """The numbers of the node's procs, if it has so many."""
        return range(procs) if self.only is None else (self.only,)

    def job(self, proc: int) -> str:
        """Job id of a proc as messages show it."""
        return f"{self.cluster}.{proc}.{self.subproc}"


class JobTable:
    """All live clusters, and totals over all procs of the DAG's life."""

    __slots__ = (
        "_ended",
        "by_cluster",
        "by_node",
        "changes",
        "completed",
        "failed",
        "held",
        "idle",
        "idle_changed",
        "shared",
        "submitted",
    )

    def __init__(self, *, keep_ended: bool = False) -> None:
        # the present (or last, until the node ends or is retried) Jobs of a node
        self.by_node: dict[int, Jobs] = {}
        # which node a live cluster belongs to, unless it is shared
        self.by_cluster: dict[int, int] = {}
        # which nodes the procs of a live cluster belong to that several nodes share
        self.shared: dict[int, dict[int, int]] = {}
        # procs so far; completed includes aborted ones (stock's counting)
        self.submitted = 0
        self.completed = 0
        self.failed = 0  # how many of the completed ones failed
        self.idle = 0  # procs that wait in the queue, held ones included
        # is told of each change of `idle`, and of which node; see `hooks.Hooks`
        self.idle_changed: tuple[Callable[[int, int], None], ...] = ()
        self.held = 0  # procs on hold
        # number of changes so far; tells whether anything has to be published again
        self.changes = 0
        # Those that have ended, by `target`; kept only for those who check events strictly.
        self._ended: dict[tuple[int, int], Jobs] | None = {} if keep_ended else None

    def tell(self, idle_changed: tuple[Callable[[int, int], None], ...]) -> None:
        """Who wants to know of each change of `idle`."""
        self.idle_changed = idle_changed

    def open(self, node: int, cluster: int, subproc: int = 0, only: int | None = None) -> Jobs:
        """Add a node's new cluster; `subproc` and `only` as in Jobs."""
        jobs = Jobs(node, cluster, subproc, only)
        self.by_node[node] = jobs
        if only is not None:
            owner = self.by_cluster.pop(cluster, None)
            if owner is not None and owner != node:
                self._share(owner)
            self.shared.setdefault(cluster, {})[only] = node
            self.expect(jobs, (only,))
        elif cluster > 0 >= subproc:
            self.by_cluster[cluster] = node
        return jobs

    def _share(self, node: int) -> None:
        """The node's cluster has jobs of other nodes: the log has lost that part of its submit
        event, so what was taken for its procs, but for the one of that event, is theirs."""
        jobs = self.by_node[node]
        jobs.only = jobs.last_proc
        self.shared.setdefault(jobs.cluster, {})[jobs.only] = node
        self.expect(jobs, (jobs.only,))
        for proc in [proc for proc in jobs.procs if proc != jobs.only]:
            self.set_idle(jobs, proc, False)
            self.set_held(jobs, proc, False)
            del jobs.procs[proc]
            self.submitted -= 1
            if proc in jobs.codes:
                del jobs.codes[proc]
                self.completed -= 1

    def only_proc(self, cluster: int, proc: int) -> int | None:
        """The only proc of a node that has this one, if another node is known to have one of the
        cluster; else None."""
        if cluster in self.shared:
            return proc
        owner = self.by_cluster.get(cluster)
        if owner is None:
            return None
        jobs = self.by_node[owner]
        seen = [one for one, flags in jobs.procs.items() if flags & SEEN]
        # The same proc twice: the schedd has begun to number its clusters anew.
        return proc if seen == [jobs.last_proc] and proc != jobs.last_proc else None

    def node_of(self, cluster: int, proc: int) -> int | None:
        """The node that a live job belongs to; of its own cluster, whatever the proc."""
        node = self.by_cluster.get(cluster)
        if node is None and cluster in self.shared:
            return self.shared[cluster].get(proc)
        return node

    def ended(self, cluster: int, proc: int) -> Jobs | None:
        """The jobs of a node that have ended, by one of them; None if they were not kept."""
        kept = self._ended or {}
        return kept.get((cluster, ALL_PROCS)) or kept.get((cluster, proc))

    def close(self, node: int) -> None:
        """The node's cluster has ended: later events of it belong to no node.

        Its Jobs stay readable.
        """
        jobs = self.by_node.get(node)
        if jobs is None:
            return
        if jobs.subproc > 0:
            return
        if jobs.only is None:
            self.by_cluster.pop(jobs.cluster, None)
        else:
            self._leave_shared(jobs.cluster, jobs.only)
        if self._ended is not None:
            self._ended[jobs.target] = jobs

    def _leave_shared(self, cluster: int, proc: int) -> None:
        procs = self.shared.get(cluster, {})
        procs.pop(proc, None)
        if not procs:
            self.shared.pop(cluster, None)

    def forget(self, node: int) -> None:
        """The node ended or starts anew: drop what its last run left behind."""
        self.close(node)
        self.by_node.pop(node, None)

    def expect(self, jobs: Jobs, procs: Iterable[int]) -> None:
        """The schedd said that these procs exist; the log has not shown them yet."""
        for proc in procs:
            if proc not in jobs.procs:
                self._add(jobs, proc, IDLE)

    def submit_seen(self, jobs: Jobs, proc: int, seen: int = SEEN) -> bool:
        """A submit event (`seen`: 0 if it names no node); returns False if it repeats another one.

        The schedd numbers the procs of a cluster without a gap, so lower ones that the log does not
        show are there too: it has lost their events.
        """
        flags = jobs.procs.get(proc)
        if flags is None:
            if jobs.only is None and len(jobs.procs) < proc < len(jobs.procs) + MAX_PROC_GAP:
                self.expect(jobs, range(proc))
            self._add(jobs, proc, IDLE | seen)
        elif flags & SEEN:
            return False
        else:
            jobs.procs[proc] = flags | seen
        jobs.last_proc = proc
        return True

    def set_idle(self, jobs: Jobs, proc: int, idle: bool) -> None:
        """The proc waits (or no longer waits) in the queue."""
        flags = self._flags(jobs, proc)
        if not flags & ENDED and bool(flags & IDLE) != idle:
            jobs.procs[proc] = flags ^ IDLE
            self.idle += 1 if idle else -1
            jobs.idle += 1 if idle else -1
            for changed in self.idle_changed:
                changed(jobs.node, 1 if idle else -1)
            self.changes += 1
            if not idle:
                self.set_held(jobs, proc, False)

    def feature_changed(self) -> None:
        """A job of a feature's own stands otherwise in the queue."""
        self.changes += 1

    def set_held(self, jobs: Jobs, proc: int, held: bool) -> bool:
        """The proc went on hold, or was released; returns False if that is nothing new."""
        flags = self._flags(jobs, proc)
        if flags & ENDED or bool(flags & HELD) == held:
            return False
        jobs.procs[proc] = flags ^ HELD
        jobs.held += 1 if held else -1
        self.held += 1 if held else -1
        self.changes += 1
        return True

    def end(self, jobs: Jobs, proc: int, code: int | None, value: int) -> bool:
        """The proc ended with `code` (None: aborted); returns False if it had ended before.

        `value` is what counts towards the node's return value.
        """
        flags = self._flags(jobs, proc)
        if flags & ENDED:
            return False
        if flags & IDLE:
            self.set_idle(jobs, proc, False)
        jobs.procs[proc] = flags & SEEN | ENDED  # what is on hold is idle, too
        jobs.codes[proc] = code
        self.completed += 1
        self.changes += 1
        if value != 0:
            self.failed += 1
            jobs.failed += 1
            if jobs.failed == 1:
                jobs.value = value
        elif not jobs.tolerance_exceeded:
            jobs.value = 0
        return True

    def exceed_tolerance(self, jobs: Jobs, proc: int, value: int, error: str = "") -> None:
        """The failure of `proc`, with that value, was one too many; `error` as of Jobs."""
        jobs.error = error or jobs.error
        jobs.tolerance_exceeded = True
        jobs.failed_proc = proc
        jobs.value = jobs.value or value

    def _flags(self, jobs: Jobs, proc: int) -> int:
        """Flags of a proc; one that the log shows running before its submit event is added."""
        if proc not in jobs.procs:
            self._add(jobs, proc, IDLE)
        return jobs.procs[proc]

    def _add(self, jobs: Jobs, proc: int, flags: int) -> None:
        jobs.procs[proc] = flags
        self.submitted += 1
        self.idle += 1
        jobs.idle += 1
        for changed in self.idle_changed:
            changed(jobs.node, 1)
        self.changes += 1
