"""The state of one run of a DAGMan process; `startup.py` makes it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from condor_pydagman.adapters import files
from condor_pydagman.adapters.jobstate_log import JobstateLog
from condor_pydagman.config import Config
from condor_pydagman.daemon.job_ad import JobAd
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.records.own_events import StampForm
from condor_pydagman.vocabulary import EventKind, NodeKind

if TYPE_CHECKING:
    from condor_pydagman.daemon import ports
    from condor_pydagman.daemon.contact import Contact
    from condor_pydagman.records.placement_event import PlacementTotals


_NO_AD: Mapping[str, object] = {}
_USUAL_STAMPS = StampForm()


class DagRun:
    """Everything that belongs to one run.

    Attributes:
        options: DAGMan's own command line.
        started: when the process started, seconds since the epoch.
        version: HTCondor's version string, `$CondorVersion: ... $`.
        cluster, proc: id of the DAGMan job; 0 and 0 if it runs by hand.
        own_ad: what the DAGMan job's own ad said at the start; empty if it has none.
        contact: the command socket; None is as one without a socket.
        rescue_number: of the rescue file this run started from, 0 if none.
        written_rescue: number of the rescue file this run has written, 0 if none yet.
        stamps: how times are written in the nodes log.
        orphaned: tells whether the process that started this one is gone.
        directory: where DAGMan works; the working directory, if it is not given.
        pid: of this process, if no other is given.
        job_ad: edits of DAGMan's own ad.
        placements: what DATA nodes have moved; None if the DAG has none.
        extras: what features give to nodes; None if the DAG has none that does.
        helpers: what is done for features that few DAGs have.
    """

    def __init__(
        self,
        *,
        dag: Dag,
        engine: Engine,
        config: Config,
        options: DagmanOptions,
        paths: DagPaths,
        out: ports.Out,
        log: ports.NodesLog,
        schedd: ports.Schedd,
        scripts: ports.Scripts,
        lock: ports.Lock,
        workflow: Workflow,
        started: float,
        version: str,
        cluster: int = 0,
        proc: int = 0,
        own_ad: Mapping[str, object] = _NO_AD,
        rescue_number: int = 0,
        recovering: bool = False,
        jobstate: JobstateLog | None = None,
        stamps: StampForm = _USUAL_STAMPS,
        clock: ports.Clock = time,
        files: ports.Files = files,
        orphaned: Callable[[], bool] = lambda: False,
        directory: str = "",
        pid: int = 0,
        make_helpers: Callable[[DagRun], ports.Helpers] | None = None,
        contact: Contact | None = None,
    ) -> None:
        self.dag = dag
        self.engine = engine
        self.config = config
        self.options = options
        self.paths = paths
        self.out = out
        self.log = log
        self.schedd, self.scripts = schedd, scripts
        self.lock = lock
        self.workflow = workflow
        self.started, self.version = started, version
        self.cluster, self.proc = cluster, proc
        self.own_ad, self.contact = own_ad, contact
        self.rescue_number, self.written_rescue = rescue_number, 0
        self.recovering = recovering
        self.jobstate = JobstateLog() if jobstate is None else jobstate
        self.stamps, self.clock = stamps, clock
        self.files = files
        self.orphaned = orphaned
        self.directory = directory or os.getcwd()
        self.pid = pid or os.getpid()
        self.job_ad = JobAd(schedd)
        self.extras: ports.Extras | None = None
        self._helpers = None if make_helpers is None else make_helpers(self)
        self.placements = _placement_totals() if NodeKind.DATA in dag.kinds else None

    @property
    def helpers(self) -> ports.Helpers:
        """What is done for features that few DAGs have."""
        assert self._helpers is not None
        return self._helpers

    def kill_scripts(self, *, answered: bool) -> None:
        """Kill all PRE and POST scripts, and what helpers run; see `ports.Scripts.kill_all`."""
        self.scripts.kill_all(answered=answered)
        self.helpers.kill_programs()

    def note_placement(self, event: LogEvent) -> None:
        """Add up a note of a DATA node's worker in the nodes log, and tell of it."""
        if self.placements is None or event.kind != EventKind.GENERIC or event.record is not None:
            return
        line = self.placements.add_noted(event.text)
        if line:
            self.out.say(line)

    @property
    def parent_cluster(self) -> int:
        """The DAGMan job that this one is a node of, 0 if none."""
        found = self.own_ad.get("DAGManJobId")
        return found if isinstance(found, int) else 0

    @property
    def by_condor_submit(self) -> bool:
        """Whether jobs are to be judged as condor_submit does, as stock's other submit method."""
        return by_condor_submit(self.options, self.config)

    def is_orphaned(self) -> bool:
        """Whether the schedd that started this job is gone; its successor starts the job anew."""
        return bool(self.cluster) and self.orphaned()


def _placement_totals() -> PlacementTotals:
    from condor_pydagman.records.placement_event import PlacementTotals  # few DAGs have DATA nodes

    return PlacementTotals()


def by_condor_submit(options: DagmanOptions, config: Config) -> bool:
    """Whether -SubmitMethod, or else DAGMAN_USE_DIRECT_SUBMIT, asks for condor_submit."""
    method = options.submit_method
    return method == 0 if method is not None else not config.use_direct_submit
