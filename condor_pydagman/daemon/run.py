"""What one run of a DAGMan process works with, put together by `startup.py`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.jobstate_log import JobstateLog
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.scripts import ScriptRunner
from condor_pydagman.cli.options import DagmanOptions
from condor_pydagman.config import Config
from condor_pydagman.engine.engine import Engine
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths
from condor_pydagman.records.job_description import Workflow


@dataclass
class Run:
    """Everything that belongs to one run.

    Attributes:
        options: DAGMan's own command line.
        started: when the process started, seconds since the epoch.
        version: HTCondor's version string, `$CondorVersion: ... $`.
        cluster, proc: id of the DAGMan job; 0 and 0 if it runs by hand.
        own_ad: what the DAGMan job's own ad said at the start; empty if it has none.
        rescue_number: of the rescue file this run started from, 0 if none.
        written_rescue: number of the rescue file this run has written, 0 if none yet.
        parent: process id of who started us: the schedd, if this is a job.
    """

    dag: Dag
    engine: Engine
    config: Config
    options: DagmanOptions
    paths: DagPaths
    out: OutLog
    log: NodesLog
    schedd: ScheddAdapter
    scripts: ScriptRunner
    lock: LockFile
    workflow: Workflow
    started: float
    version: str
    cluster: int = 0
    proc: int = 0
    own_ad: Mapping[str, object] = field(default_factory=dict)
    rescue_number: int = 0
    written_rescue: int = 0
    recovering: bool = False
    jobstate: JobstateLog = field(default_factory=JobstateLog)
    parent: int = field(default_factory=os.getppid)

    @property
    def parent_cluster(self) -> int:
        """The DAGMan job that this one is a node of, 0 if none."""
        found = self.own_ad.get("DAGManJobId")
        return found if isinstance(found, int) else 0

    @property
    def by_condor_submit(self) -> bool:
        """Whether jobs are to be judged as condor_submit does, as stock's other submit method."""
        return by_condor_submit(self.options, self.config)

    def abandoned(self) -> bool:
        """Whether the schedd that started this job is gone; its successor starts the job anew."""
        return bool(self.cluster) and os.getppid() != self.parent


def by_condor_submit(options: DagmanOptions, config: Config) -> bool:
    """Whether -SubmitMethod, or else DAGMAN_USE_DIRECT_SUBMIT, asks for condor_submit."""
    method = options.submit_method
    return method == 0 if method is not None else not config.use_direct_submit
