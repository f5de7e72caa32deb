"""The state of one run of a DAGMan process, which `startup.py` makes, and DAGMan's edits of its own
job ad."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Optional

from condor_pydagman.adapters import files
from condor_pydagman.adapters.schedd_requests import EditOwnAd
from condor_pydagman.config import Config
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine.engine import Engine
from condor_pydagman.errors import PoolError
from condor_pydagman.feature_table import MOVES_DATA, part
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.records.own_events import StampForm
from condor_pydagman.vocabulary import NodeKind

if TYPE_CHECKING:
    from condor_pydagman.adapters.jobstate_log import JobstateLog
    from condor_pydagman.daemon import ports
    from condor_pydagman.daemon.contact import Contact
    from condor_pydagman.daemon.initialize import Settings


# Called when the schedd has replied: None if the attributes are set, else the error.
Done = Callable[[Optional[PoolError]], None]


class JobAd:
    """Edits DAGMan's own job ad: one request at a time.

    Attributes set meanwhile wait for the next request, which has only the newest value of each: a
    slow schedd does not get a queue of outdated edits.
    """

    def __init__(self, schedd: ports.Schedd) -> None:
        self._schedd = schedd
        self._sending = False
        self._waiting: dict[str, str] = {}
        self._durable = False
        self._callbacks: list[Done] = []

    def edit(self, changes: Mapping[str, str], done: Done, *, durable: bool = False) -> None:
        """Set attributes (texts of expressions), and call `done` when the schedd has answered.

        `durable`: the answer means that they are on the schedd's disk.
        """
        self._waiting.update(changes)
        self._callbacks.append(done)
        self._durable |= durable
        if not self._sending:
            self._send()

    def _send(self) -> None:
        request, callbacks = EditOwnAd(self._waiting, self._durable), self._callbacks
        self._waiting, self._callbacks, self._durable = {}, [], False
        self._sending = True
        self._schedd.ask(request, lambda result: self._answered(callbacks, result))

    def _answered(self, callbacks: list[Done], result: PoolError | None) -> None:
        self._sending = False
        if self._callbacks:  # before the callbacks, which may set more: keeps the order
            self._send()
        for done in callbacks:
            done(result)


class OwnJob(NamedTuple):
    """DAGMan's own job in the schedd's queue."""

    # its id; 0 and 0 if DAGMan runs by hand
    cluster: int = 0
    proc: int = 0
    # what its ad said at the start; empty if there is none
    ad: Mapping[str, object] = MappingProxyType({})


class OwnProcess(NamedTuple):
    """The process that runs the DAG."""

    started: float  # when it started, seconds since the epoch
    version: str  # HTCondor's version string, `$CondorVersion: ... $`.
    pid: int  # of the process
    directory: str  # where it works
    orphaned: Callable[[], bool]  # tells whether the process that started this one is gone
    # its own memory in KB, and its CPU time in seconds
    usage: Callable[[], tuple[int, float]] = lambda: (0, 0.0)


class Ports(NamedTuple):
    """What a run reads, writes and asks; see `ports.py`."""

    out: ports.Out
    log: ports.NodesLog
    schedd: ports.Schedd
    scripts: ports.Scripts | None  # None until there are any
    lock: ports.Lock
    jobstate: JobstateLog | None = None  # if the DAG has one
    clock: ports.Clock = time
    files: ports.Files = files
    contact: Contact | None = None  # the command socket; None is as one without a socket
    stamps: StampForm = StampForm()  # how times are written in the nodes log


class Beginning(NamedTuple):
    """What a run goes on from."""

    resumes: bool = False  # whether it goes on where an earlier process was
    rescue_number: int = 0  # of the rescue file that the DAG was read with, 0 if none


class DagRun:
    """Everything that belongs to one run; what `Ports` and `Settings` have are attributes of it."""

    # what is done for features that few DAGs have; whoever makes the run sets it
    helpers: ports.Helpers

    def __init__(
        self,
        dag: Dag,
        engine: Engine,
        settings: Settings,
        workflow: Workflow,
        job: OwnJob,
        process: OwnProcess,
        reached: Ports,
        beginning: Beginning,
    ) -> None:
        self.dag = dag
        self.engine = engine
        self.options, self.config = settings.options, settings.config
        self.paths = settings.options.paths()  # of the files beside the DAG file
        self.workflow = workflow
        self.job = job
        self.process = process
        self.out = reached.out
        self.log = reached.log
        self.schedd = reached.schedd
        self.scripts = reached.scripts
        self.lock = reached.lock
        self.jobstate = reached.jobstate
        self.clock = reached.clock
        self.files = reached.files
        self.contact = reached.contact
        self.stamps = reached.stamps
        self.resumes, self.rescue_number = beginning
        self.recovering = self.resumes  # whether the log of an earlier process is being replayed
        self.written_rescue = 0  # number of the rescue file this run has written, 0 if none yet
        self.job_ad = JobAd(reached.schedd)  # edits of DAGMan's own ad
        # what features give to nodes; None if the DAG has none that does
        self.extras: ports.Extras | None = None
        self._placements: ports.Placements | None = None

    def kill_scripts(self, *, answered: bool) -> None:
        """Kill all PRE and POST scripts, and what helpers run; see `ports.Scripts.kill_all`."""
        if self.scripts is not None:
            self.scripts.kill_all(answered=answered)
        self.helpers.kill_programs()

    @property
    def rests(self) -> bool:
        """Whether only the engine has what is known of the DAG, and nothing of it is under way."""
        if self.extras is not None or self._placements is not None:
            return False
        parts: list[Any] = [self.jobstate, self.scripts, self.helpers]
        return not (self.log.more or self.log.torn) and all(
            part is None or part.rests for part in parts
        )

    def script_runner(self) -> ports.Scripts:
        """What runs scripts.  A DAG that had none has got them with a piece, whose `obstacle` has
        loaded it."""
        if self.scripts is None:
            from condor_pydagman.adapters.script_runner import ScriptRunner

            self.scripts = ScriptRunner()
        return self.scripts

    @property
    def placements(self) -> ports.Placements | None:
        """What is done for DATA nodes; None until a DAG, or a piece of it, has any."""
        if self._placements is None and NodeKind.DATA in self.dag.kinds:
            self._placements = part(MOVES_DATA, "jobs").DataNodes(self)
        return self._placements

    @property
    def parent_cluster(self) -> int:
        """The DAGMan job that this one is a node of, 0 if none."""
        found = self.job.ad.get("DAGManJobId")
        return found if isinstance(found, int) else 0

    @property
    def by_condor_submit(self) -> bool:
        """Whether jobs are to be judged as condor_submit does, as stock's other submit method."""
        return by_condor_submit(self.options, self.config)

    def is_orphaned(self) -> bool:
        """Whether the schedd that started this job is gone; its successor starts the job anew."""
        return bool(self.job.cluster) and self.process.orphaned()


def by_condor_submit(options: DagmanOptions, config: Config) -> bool:
    """Whether -SubmitMethod, or else DAGMAN_USE_DIRECT_SUBMIT, asks for condor_submit."""
    method = options.submit_method
    return method == 0 if method is not None else not config.use_direct_submit


def jobstate_log(dag: Dag, out: ports.Out) -> JobstateLog | None:
    """The one that the DAG asks for, if it does."""
    if not dag.jobstate_log:
        return None
    from condor_pydagman.adapters.jobstate_log import JobstateLog

    return JobstateLog(dag.jobstate_log, lambda text: out.say(text, 0))
