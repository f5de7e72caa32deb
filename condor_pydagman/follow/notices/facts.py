"""What must be known of a DAG for what is said of it; what could not be found out is left empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.follow.notice import Evidence
from condor_pydagman.follow.run_model import LIVE, DagState, Hold, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

IDLE, RUNNING, HELD = 1, 2, 5  # JobStatus


class QueuedJob(NamedTuple):
    """A job of the DAG that is in the queue."""

    job: str  # `CLUSTER.PROC`
    node: str
    status: int  # JobStatus
    since: float = 0.0  # when it came into that status
    # of a hold
    reason: str = ""
    code: int = 0
    subcode: int = 0


class DataWait(NamedTuple):
    """What a DATA node that runs waits for."""

    node: str
    # that, as its worker says it; or which attempt has failed, if `is_again`: it is tried again
    text: str
    since: float  # when its worker said it
    path: str  # of the worker's log, as people know it
    is_again: bool = False


class Nodes(NamedTuple):
    """Some nodes: how many, and their names, or those of the first few."""

    number: int = 0
    names: Sequence[str] = ()


class Throttled(NamedTuple):
    """What throttles count."""

    active: int = 0  # nodes that are in the queue, jobs that are idle, scripts that run
    waiting: Nodes = Nodes()  # nodes that wait for nothing else
    # how many nodes are in the queue, if some share a job, so that less counts; else 0
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
    """What of a feature has halted a DAG, or ended it."""

    what: str  # in words, `a brake`
    named: str  # the same, with names
    evidence: tuple[Evidence, ...]  # why
    ends: bool  # whether it has ended the DAG


class DagmanJob(NamedTuple):
    """DAGMan's job, by its own log `<dag>.dagman.log`."""

    cluster: int = 0
    submitted: float = 0.0  # when
    hold: Hold | None = None  # if it is held
    removed: str = ""  # why, '' if it was not; at `left`
    left: float = 0.0  # when it left the queue, 0.0 if it has not


class Facts(NamedTuple):
    """What is known of a DAG."""

    name: str  # its DAG file as the user knows it
    state: DagState  # what it is about
    now: float  # the time, seconds since the epoch
    run: Run  # its last run; an empty one if its logs can't be read
    cluster: int = 0  # of DAGMan's job, 0 if it is not known
    ad: Mapping[str, Any] = {}  # DAGMan's job ad, {} if it is not known
    dag: Dag | None = None  # the graph, None if it is not at hand
    exit_code: int | None = None  # condor_dagman's; None while it runs or if it is not known
    # names of its files, as the user knows them
    out: str = ""
    nodes_log: str = ""
    halt_file: str = ""
    has_halt_file: bool = False  # whether that exists
    dagman_job: DagmanJob = DagmanJob()  # as its log has it
    held: Sequence[QueuedJob] = ()  # jobs that are held
    held_by: str = ""  # what says so
    # what throttles count; None if nobody has counted, or DAGMan does not run
    load: Load | None = None
    limit_places: Mapping[str, str] = {}  # where throttles were set, by their names in the job ad
    counts: Mapping[str, int] = {}  # nodes by `shown_states.COUNTED`, and their `total`
    counts_hold: bool = False  # whether they are the engine's (`Tally.counts_hold`)
    # failed nodes that wait for their next attempt, by their numbers, and when that begins; 0.0 if
    # it is not known
    retries: Mapping[int, float] = {}
    to_start: bool = False  # whether nodes but FINAL, SERVICE ones have not begun
    all_ended: bool = False  # whether no node but SERVICE ones could go on
    # what features know beyond the run, by their names: as they have told an explanation
    # (`monitor.outside_facts`), or a glance at the DAG (`Overview.of_features`)
    of: Mapping[str, Any] = {}
    data_waits: Sequence[DataWait] = ()  # what DATA nodes wait for
    may_count: bool = True  # whether there is time to look at all nodes one by one
    # of an explanation alone
    # in the queue, idle or held ones; None if the schedd was not asked or did not answer
    jobs: tuple[QueuedJob, ...] | None = None
    fits: tuple[Any, ...] = ()  # idle jobs and machines (`explain.known_facts.Fit`)
    # of the error files of failed jobs, and debug files of failed scripts, by the names of nodes
    excerpts: Mapping[str, Any] = {}  # (`explain.known_facts.Excerpt`)
    rescue: Any = None  # the newest rescue file (`RescueFile` there), None if there is none
    submit_command: str = ""  # what submits the DAG again; '' if another DAG does that
    inner: Mapping[str, Facts] = {}  # what is known of sub-DAGs, by the names of their nodes
    unknown: tuple[str, ...] = ()  # what could not be found out, and why: sentences

    @property
    def is_live(self) -> bool:
        """Whether DAGMan runs, and what waits may still go on."""
        return self.state in LIVE

    @property
    def is_halted(self) -> bool:
        """Whether somebody or something has to resume the DAG before anything more is started."""
        if self.state is DagState.HELD:
            return self.run.halted or self.has_halt_file
        is_running = self.state is DagState.RUNNING
        return self.state is DagState.HALTED or (is_running and self.run.halted)
