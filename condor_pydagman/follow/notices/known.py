"""What must be known of a DAG that is followed for what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.follow.notice import Evidence
from condor_pydagman.follow.run_model import DagState, Hold, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

IDLE, RUNNING, HELD = 1, 2, 5  # JobStatus


class QueuedJob(NamedTuple):
    """A job of the DAG that is in the queue.

    Attributes:
        job: `CLUSTER.PROC`.
        status: JobStatus.
        since: when it came into that status.
        reason, code, subcode: of a hold.
    """

    job: str
    node: str
    status: int
    since: float = 0.0
    reason: str = ""
    code: int = 0
    subcode: int = 0


class DataWait(NamedTuple):
    """What a DATA node that runs waits for.

    Attributes:
        text: that, as its worker says it; or which attempt has failed, if `is_again`: it is tried
            again.
        since: when its worker said it.
        path: of the worker's log, as people know it.
    """

    node: str
    text: str
    since: float
    path: str
    is_again: bool = False


class Nodes(NamedTuple):
    """Some nodes: how many, and their names, or those of the first few."""

    number: int = 0
    names: Sequence[str] = ()


class Throttled(NamedTuple):
    """What throttles count.

    Attributes:
        active: nodes that are in the queue, jobs that are idle, scripts that run.
        waiting: nodes that wait for nothing else.
        nodes: how many nodes are in the queue, if some share a job, so that less counts; else 0.
    """

    active: int = 0
    waiting: Nodes = Nodes()
    nodes: int = 0


def queued(nodes: int, taken: int | None, waiting: Nodes) -> Throttled:
    """What counts of so many nodes in the queue; `taken` is None if that is not known."""
    if taken is None or taken >= nodes:
        return Throttled(nodes, waiting)
    return Throttled(taken, waiting, nodes)


class Load(NamedTuple):
    """What each throttle counts; `categories` by their names."""

    nodes: Throttled = Throttled()
    idle: Throttled = Throttled()
    pre: Throttled = Throttled()
    post: Throttled = Throttled()
    categories: Mapping[str, Throttled] = {}


class HaltedBy(NamedTuple):
    """What of a feature has halted a DAG, or ended it.

    Attributes:
        what: in words, `a brake`.
        named: the same, with names.
        evidence: why.
        ends: whether it has ended the DAG.
    """

    what: str
    named: str
    evidence: tuple[Evidence, ...]
    ends: bool


class Known(NamedTuple):
    """What is known of a DAG.

    Attributes:
        name: its DAG file as the user knows it.
        state: what it is about.
        now: the time, seconds since the epoch.
        run: its last run.
        cluster: of DAGMan's job, 0 if it is not known.
        ad: DAGMan's job ad, {} if it is not known.
        dag: the graph, None if it is not at hand.
        out, nodes_log, halt_file: names of its files, as the user knows them.
        has_halt_file: whether that exists.
        hold: of DAGMan's job, by its log; None if that knows of none.
        removed_because: why that job was removed, '' if it was not, or nobody has said.
        left: when it left the queue, by its log; 0.0 if that does not say so.
        held: jobs that are held.
        held_by: what says so.
        load: what throttles count; None if nobody has counted.
        limit_places: where throttles were set, by their names in the job ad.
        retrying: failed nodes that wait for their next attempt.
        next_retry: when the first of these begins; 0.0 if that is not known.
        to_start: whether nodes are left that have not begun, the FINAL node apart.
        all_ended: whether no node is left that could go on.
        of: what features know beyond the run, by their names: as they have told an explanation
            (`monitor.outside_facts`), or a glance at the DAG (`Overview.of_features`).
        data_waits: what DATA nodes wait for.
        may_count: whether there is time to look at all nodes one by one.
    """

    name: str
    state: DagState
    now: float
    run: Run
    cluster: int = 0
    ad: Mapping[str, Any] = {}
    dag: Dag | None = None
    out: str = ""
    nodes_log: str = ""
    halt_file: str = ""
    has_halt_file: bool = False
    hold: Hold | None = None
    removed_because: str = ""
    left: float = 0.0
    held: Sequence[QueuedJob] = ()
    held_by: str = ""
    load: Load | None = None
    limit_places: Mapping[str, str] = {}
    retrying: Nodes = Nodes()
    next_retry: float = 0.0
    to_start: bool = False
    all_ended: bool = False
    of: Mapping[str, Any] = {}
    data_waits: Sequence[DataWait] = ()
    may_count: bool = True

    @property
    def is_live(self) -> bool:
        """Whether DAGMan runs, and what waits may still go on."""
        return self.state in (DagState.RUNNING, DagState.HALTED)

    @property
    def is_halted(self) -> bool:
        """Whether somebody or something has to resume the DAG before anything more is started."""
        if self.state is DagState.HELD:
            return self.run.halted or self.has_halt_file
        return self.state is DagState.HALTED or (self.is_live and self.run.halted)
