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
    """A part of a job's Requirements that must hold."""

    text: str  # as an expression
    slots: int  # for how many slots of the pool it holds
    values: tuple[str, ...] = ()  # of the job's attributes in it, `RequestMemory = 1000000`


class Fit(NamedTuple):
    """Which machines can run jobs that are idle and all of one kind."""

    jobs: int  # how many there are
    job: str  # one of them
    nodes: tuple[str, ...]  # their nodes
    slots: int  # how many slots the pool has, without the dynamic ones within others
    able: int = 0  # how many could run them if they were free, by both sides' Requirements
    willing: int = 0  # how many meet the job's Requirements, whatever their own are
    free: int = 0  # how many could now
    clauses: tuple[Clause, ...] = ()  # of the job's Requirements
    partitionable: int = 0  # how many of the slots are, and can run several jobs


class Excerpt(NamedTuple):
    """The last lines of a file; or why there are none; and what they are called."""

    path: str
    lines: tuple[str, ...] = ()
    problem: str = ""
    what: str = "its last lines:"


class DagmanJob(NamedTuple):
    """DAGMan's job, by its own log `<dag>.dagman.log`."""

    cluster: int = 0
    submitted: float = 0.0  # when
    hold: Hold | None = None  # if it is held
    removed: str = ""  # why, '' if it was not; at `left`
    left: float = 0.0  # when it left the queue, 0.0 if it has not


class RescueFile(NamedTuple):
    """The newest rescue file: path, how many nodes it says are done, when it was written."""

    path: str
    done: int
    time: float = 0.0


class Facts(NamedTuple):
    """What is known of a DAG."""

    name: str  # its DAG file as the user knows it
    state: DagState  # what it is about
    now: float  # the time, seconds since the epoch
    run: Run  # its last run; an empty one if its logs can't be read
    exit_code: int | None = None  # condor_dagman's; None while it runs or if it is not known
    cluster: int = 0  # of DAGMan's job, 0 if it is not known
    ad: Mapping[str, Any] = {}  # DAGMan's job ad, {} if it is not known
    dag: Dag | None = None  # the graph, None if the DAG files can't be read
    # names of its files, as the user knows them
    nodes_log: str = ""
    out: str = ""
    halt_file: str = ""
    has_halt_file: bool = False  # whether that exists
    dagman_job: DagmanJob = DagmanJob()  # as its log has it
    # in the queue, idle or held ones; None if the schedd was not asked or did not answer
    jobs: tuple[QueuedJob, ...] | None = None
    fits: tuple[Fit, ...] = ()  # idle jobs and machines
    # of the error files of failed jobs, and debug files of failed scripts, by the names of nodes
    excerpts: Mapping[str, Excerpt] = {}
    limit_places: Mapping[str, str] = {}  # where throttles were set, by their names in the job ad
    taken: Taken | None = None  # the places of limits that nodes take; None if the DAG is not known
    rescue: RescueFile | None = None  # the newest rescue file, None if there is none
    submit_command: str = ""  # what submits the DAG again; '' if another DAG does that
    # what features have asked of a DAG that runs, by their names (`monitor.outside_facts`)
    of: Mapping[str, Any] = {}
    data_waits: Sequence[DataWait] = ()  # what DATA nodes wait for
    inner: Mapping[str, Facts] = {}  # what is known of sub-DAGs, by the names of their nodes
    unknown: tuple[str, ...] = ()  # what could not be found out, and why: sentences

    @property
    def is_live(self) -> bool:
        """Whether DAGMan runs, and what waits may still go on."""
        return self.state in (DagState.RUNNING, DagState.HALTED)
