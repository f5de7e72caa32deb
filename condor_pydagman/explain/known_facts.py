"""What must be known of a DAG to explain it; whatever could not be found out is left empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.follow.notices.known import DataWait, QueuedJob
from condor_pydagman.follow.run_model import DagState, Hold, Run
from condor_pydagman.follow.tally import Taken
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple


class Clause(NamedTuple):
    """A part of a job's Requirements that must hold.

    Attributes:
        text: as an expression.
        slots: for how many slots of the pool it holds.
        values: of the job's attributes in it, `RequestMemory = 1000000`.
    """

    text: str
    slots: int
    values: tuple[str, ...] = ()


class Fit(NamedTuple):
    """Which machines can run jobs that are idle and all of one kind.

    Attributes:
        jobs: how many there are.
        job, node: one of them.
        nodes: their nodes.
        slots: how many slots the pool has, without the dynamic ones within others.
        able: how many could run them if they were free, by both sides' Requirements.
        willing: how many meet the job's Requirements, whatever their own are.
        free: how many could now.
        clauses: of the job's Requirements.
        partitionable: how many of the slots are, and can run several jobs.
    """

    jobs: int
    job: str
    nodes: tuple[str, ...]
    slots: int
    able: int = 0
    willing: int = 0
    free: int = 0
    clauses: tuple[Clause, ...] = ()
    partitionable: int = 0


class Excerpt(NamedTuple):
    """The last lines of a file; or why there are none; and what they are called."""

    path: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    what: str = "its last lines:"


class DagmanJob(NamedTuple):
    """DAGMan's job, by its own log `<dag>.dagman.log`.

    Attributes:
        submitted: when.
        hold: if it is held.
        removed: why, '' if it was not; at `left`.
        left: when it left the queue, 0.0 if it has not.
    """

    cluster: int = 0
    submitted: float = 0.0
    hold: Hold | None = None
    removed: str = ""
    left: float = 0.0


class RescueFile(NamedTuple):
    """The newest rescue file: path, how many nodes it says are done, when it was written."""

    path: str
    done: int
    time: float = 0.0


class Facts(NamedTuple):
    """What is known of a DAG.

    Attributes:
        name: its DAG file as the user knows it.
        state: what it is about.
        now: the time, seconds since the epoch.
        run: its last run; an empty one if its logs can't be read.
        exit_code: condor_dagman's; None while it runs or if it is not known.
        cluster: of DAGMan's job, 0 if it is not known.
        ad: DAGMan's job ad, {} if it is not known.
        dag: the graph, None if the DAG files can't be read.
        nodes_log, out, halt_file: names of its files, as the user knows them.
        has_halt_file: whether that exists.
        dagman_job: as its log has it.
        jobs: in the queue, idle or held ones; None if the schedd was not asked or did not answer.
        fits: idle jobs and machines.
        excerpts: of the error files of failed jobs, and debug files of failed scripts, by the names
            of nodes.
        limit_places: where throttles were set, by their names in the job ad.
        taken: the places of limits that nodes take; None if the DAG is not known.
        rescue: the newest rescue file, None if there is none.
        submit_command: what submits the DAG again; '' if another DAG does that.
        of: what features have asked of a DAG that runs, by their names (`monitor.outside_facts`).
        data_waits: what DATA nodes wait for.
        inner: what is known of sub-DAGs, by the names of their nodes.
        unknown: what could not be found out, and why: sentences.
    """

    name: str
    state: DagState
    now: float
    run: Run
    exit_code: int | None = None
    cluster: int = 0
    ad: Mapping[str, Any] = {}
    dag: Dag | None = None
    nodes_log: str = ""
    out: str = ""
    halt_file: str = ""
    has_halt_file: bool = False
    dagman_job: DagmanJob = DagmanJob()
    jobs: tuple[QueuedJob, ...] | None = None
    fits: tuple[Fit, ...] = ()
    excerpts: Mapping[str, Excerpt] = {}
    limit_places: Mapping[str, str] = {}
    taken: Taken | None = None
    rescue: RescueFile | None = None
    submit_command: str = ""
    of: Mapping[str, Any] = {}
    data_waits: Sequence[DataWait] = ()
    inner: Mapping[str, Facts] = {}
    unknown: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether DAGMan runs, and what waits may still go on."""
        return self.state in (DagState.RUNNING, DagState.HALTED)
