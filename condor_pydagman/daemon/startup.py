"""From a command line to a run: configuration, log, rescue file, DAG, lock, engine.

The order is stock DAGMan's, so that what goes wrong first is reported first.  Starts that run
nothing (-Dot, -SetupOnly) do not change the files of another run of the DAG: an existing lock file
stays, and so do the metrics and the nodes log of a run that is to be recovered.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import htcondor2

from condor_pydagman.adapters.files import LockFile, ProgramFiles, living_holder
from condor_pydagman.adapters.joblog import NodesLog, has_submit_events
from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.processes import own_usage
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import ScheddProcess
from condor_pydagman.config import Config
from condor_pydagman.daemon import helpers
from condor_pydagman.daemon.contact import Contact, open_contact
from condor_pydagman.daemon.dag_input import (
    CannotStart,
    nodes_log_path,
    read_dag,
    refuse_nodes_log,
)
from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.daemon.run import (
    Beginning,
    DagRun,
    OwnJob,
    OwnProcess,
    Ports,
    by_condor_submit,
    jobstate_log,
)
from condor_pydagman.daemon.sources import orphaned
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles, throttles
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.feature_table import Given, set_guard
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths
from condor_pydagman.records import banner, status_table
from condor_pydagman.records.job_description import Workflow, inheritance, inherited
from condor_pydagman.records.own_ad import (
    began_at,
    begun_anew,
    earlier_throttles,
    ended_with,
    quoted,
)
from condor_pydagman.records.own_events import stamp_form
from condor_pydagman.vocabulary import EXIT_RESTART

if TYPE_CHECKING:
    from condor_pydagman.daemon.ports import Out

MAX_OWN_AD_TRIES = 4
NODES_VERBOSITY = 5  # verbosity from which on all nodes are shown at the start


def own_job_id() -> OwnJob:
    """DAGMan's own job, from the environment that the schedd makes; its ad is still to be asked
    for."""
    cluster, _, proc = os.environ.get("CONDOR_ID", "").partition(".")
    if cluster.isdigit() and proc.isdigit():
        return OwnJob(int(cluster), int(proc))
    return OwnJob()


class Plan(NamedTuple):
    """What is settled before the DAG is read."""

    settings: Settings
    out: OutLog
    paths: DagPaths
    job: OwnJob
    schedd: ScheddAdapter
    workflow: Workflow
    limits: Throttles
    lock: LockFile


def plan(settings: Settings, out: OutLog) -> Plan:
    """Settle and announce everything that does not need the DAG; touches no file.

    Raises:
        CannotStart: with message and exit code.
    """
    options, config, _ = settings
    paths, job = options.paths(), own_job_id()
    schedd = ScheddAdapter(job.cluster, lambda text: out.say(f"Submit warning: {text}"))
    schedd.credentials = config.produce_job_credentials
    job = job._replace(ad=_own_ad(schedd, job, out))
    nodes_log = nodes_log_path(paths, job.cluster, job.ad, config)
    inherited = _inherited(schedd, job, config, out)
    workflow = _workflow(job, paths, nodes_log, config, inherited)
    _log_workflow(workflow, schedd, job, out)
    if by_condor_submit(options, config):
        _say_how_jobs_are_submitted(config, out)
    refuse_version(options, out)
    refuse_nodes_log(nodes_log, config, out)
    limits = _limits(settings, job)
    _say_all(out, banner.throttle_lines(limits))
    lock = LockFile(
        options.lockfile or paths.lock,
        lambda: has_submit_events(nodes_log, job.cluster, began_at(job.ad)),
    )
    _say_all(out, banner.file_lines(lock.path, options.dag_files))
    return Plan(settings, out, paths, job, schedd, workflow, limits, lock)


def prepare(
    settings: Settings,
    out: OutLog,
    started: float,
    has_to_leave: Callable[[], bool] = lambda: False,
) -> DagRun:
    """Everything up to the first input.

    Args:
        started: when the process started, seconds since the epoch.
        has_to_leave: tells whether a signal has come that ends the wait for a slow schedd.

    Raises:
        CannotStart: with message and exit code.
    """
    it = plan(settings, out)
    _refuse_ended(it)
    schedd = _schedd_process(it)
    contact = _contact(it, schedd)
    dag, rescue_number = _read(it)
    beginning = Beginning(_is_recovering(it), rescue_number)
    if beginning.resumes or not it.job.cluster:
        it.schedd.select_by_log(it.workflow.nodes_log)
    given = Given(dag, it.paths)
    contact.wait(schedd, has_to_leave)
    reached = Ports(
        out=out,
        log=_begin(it, beginning),
        schedd=schedd,
        scripts=None,
        lock=it.lock,
        jobstate=jobstate_log(dag, out),
        contact=contact,
        stamps=stamp_form(lookup("DEFAULT_USERLOG_FORMAT_OPTIONS") or ""),
    )
    jobstate = reached.jobstate
    known = 0 if beginning.resumes or jobstate is None else jobstate.history.sequence
    engine = _engine(it, dag, known + 1, given)
    process = OwnProcess(
        started, htcondor2.version(), os.getpid(), os.getcwd(), orphaned(os.getppid()), own_usage
    )
    run = DagRun(dag, engine, settings, it.workflow, it.job, process, reached, beginning)
    if dag.scripts or run.recovering:  # the log may have more nodes
        run.script_runner()
    run.helpers = helpers.Helpers(run, schedd, settings.admin, given)
    helpers.open_helpers(run, settings.admin)
    if jobstate is not None:
        jobstate.note_start((run.job.cluster, run.job.proc), recovering=run.recovering)
    _log_nodes(run)
    return run


def _engine(it: Plan, dag: Dag, first_sequence: int, given: Given) -> Engine:
    options = it.settings.options
    mode = Mode.DRY_RUN if options.dry_run else Mode.RUN
    return Engine(
        dag,
        it.settings.config,
        it.limits,
        admin=it.settings.admin,
        dag_id=it.job.cluster,
        first_sequence=first_sequence,
        mode=Mode.SETUP_ONLY if options.setup_only else mode,
        given=given,
    )


def _schedd_process(it: Plan) -> ScheddProcess:
    """Talks to the schedd from now on; forked before the DAG is read, while memory is small."""
    schedd, options = ScheddProcess(it.schedd), it.settings.options
    if not (options.dry_run or options.setup_only):
        schedd.start()
    return schedd


def _read(it: Plan) -> tuple[Dag, int]:
    """The DAG, and the number of the rescue file that was read, 0 if none."""
    options, config, admin = it.settings
    try:
        dag, rescue_number = read_dag(options, config, it.paths, it.out)
    except CannotStart as error:
        if not (error.hold and it.lock.has_begun()) or living_holder(it.lock.path):
            raise
        what, *_, failed = str(error).splitlines()
        reason = f"{what} ({failed}); correct that, then release the DAGMan job"
        with contextlib.suppress(PoolError):
            it.schedd.hold(0, 0, reason)
        raise CannotStart(f"{error}\n{reason}", EXIT_RESTART) from None
    set_guard(ProgramFiles().check)
    owner, group = str(it.job.ad.get("Owner") or ""), it.workflow.accounting_group
    _say_all(it.out, helpers.admitted(dag, admin, owner, group, loads=True))
    if options.dry_run:
        for foreseen in helpers.foresee(dag, options, config).values():
            _say_all(it.out, foreseen.lines)
    return dag, rescue_number


def _contact(it: Plan, schedd: ScheddProcess) -> Contact:
    """Where clients reach us; the job ad begins to be told so."""
    options, config, _ = it.settings
    if not it.job.cluster or options.setup_only:
        return Contact(None, {})
    contact = open_contact(options, config, it.job.ad, it.out)
    contact.publish(schedd)
    return contact


def _refuse_ended(it: Plan) -> None:
    """Refuse a DAG that an earlier process has ended; it or the schedd was killed before the schedd
    knew."""
    code = ended_with(it.job.ad)
    if code is None:
        _begin_anew(it)
        return
    with contextlib.suppress(FileError):
        if it.lock.acquire() is None:
            if it.lock.holder_cluster() in (0, it.job.cluster):
                it.lock.remove()
            else:
                it.lock.release()
    raise CannotStart(
        f"The DAG has ended with exit code {code}, unheard by the schedd: nothing to do",
        code,
    )


def _begin_anew(it: Plan) -> None:
    """Separate this run from an earlier one of the same job, which the schedd runs again after its
    end: neither the exit code nor the jobs of that run count."""
    news = begun_anew(it.job.ad, time.time(), recovers=it.lock.has_begun())
    if not news:
        return
    try:
        it.schedd.publish(news, durable=True)
    except PoolError as error:
        reason = f"can't tell the schedd that the DAG begins anew ({error.reason})"
        raise CannotStart(f"{reason}; starting again later", EXIT_RESTART) from None


def _is_recovering(it: Plan) -> bool:
    """Take the lock; whether an old nodes log is to be replayed."""
    options, out = it.settings.options, it.out
    recovering = _take_lock(it.lock, it.job, out)
    if options.dry_run and recovering:
        _refuse_dry_run(it.lock, it.job)
    if options.do_recovery and not recovering:
        out.say("Running in recovery mode because -DoRecovery flag was specified")
        recovering = True
    return recovering


def refuse_version(options: DagmanOptions, out: OutLog) -> None:
    """Say what is to be said of the version that wrote our command line (-CsdVersion).

    Raises:
        CannotStart: it is older than can be obeyed, or none at all.
    """
    if not options.csd_version:
        return
    verdict = banner.check(
        options.csd_version, htcondor2.version(), tolerant=options.allow_version_mismatch
    )
    if verdict.refused:
        raise CannotStart(verdict.text)
    if verdict.text:
        out.say(verdict.text)


def _say_how_jobs_are_submitted(config: Config, out: OutLog) -> None:
    out.say(
        "Note: condor_submit is asked for (-SubmitMethod 0, or DAGMAN_USE_DIRECT_SUBMIT = False):"
        " jobs are submitted directly, with condor_submit's checks of the description"
    )
    program = config.condor_submit_exe
    if program not in ("", "condor_submit", f"{lookup('BIN') or ''}/condor_submit"):
        out.say(
            f"WARNING: DAGMAN_CONDOR_SUBMIT_EXE = {program} has NO EFFECT: no condor_submit is run,"
            " so what this program does besides submitting is not done."
            " Run the stock condor_dagman (-dagman) if it is needed",
            0,
        )


def _say_all(out: Out, lines: Iterable[str]) -> None:
    for line in lines:
        out.say(line)


def _own_ad(schedd: ScheddAdapter, job: OwnJob, out: OutLog) -> dict[str, object]:
    """The DAGMan job's own ad; empty if it has none.

    Raises:
        CannotStart: the schedd would not give it.  It may say that the DAG has ended, or is
            halted: to go on as if it said nothing would cost more than to wait.
    """
    if not job.cluster:
        out.say(
            "No HTCondor ID available for DAGMan (running on command line?);"
            " DAG status will not be reported to ClassAd"
        )
    for tries in range(1, MAX_OWN_AD_TRIES + 1):
        try:
            return schedd.own_ad()
        except PoolError as error:
            reason = error.reason
            out.say(f"Warning: can't read the DAGMan job's own ad: {reason}")
            out.flush()
            if tries < MAX_OWN_AD_TRIES:
                time.sleep(tries)
    raise CannotStart(
        f"ERROR: the schedd does not give the DAGMan job's own ad ({reason}); starting again later."
        f" condor_q {job.cluster} tells whether it answers",
        EXIT_RESTART,
    )


def _workflow(
    job: OwnJob,
    paths: DagPaths,
    nodes_log: str,
    config: Config,
    inherited: tuple[tuple[str, str], ...],
) -> Workflow:
    batch_id, batch_name = str(job.ad.get("JobBatchId") or ""), job.ad.get("JobBatchName")
    if job.cluster:
        batch_id = batch_id or f"{job.cluster}.{job.proc}"
        batch_name = batch_name or f"{os.path.basename(paths.primary)}+{job.cluster}"
    return Workflow(
        dagman_cluster=job.cluster,
        nodes_log=nodes_log,
        config=config,
        inherited=inherited,
        batch_name=str(batch_name or ""),
        batch_id=batch_id,
        accounting_group=str(job.ad.get("AcctGroup") or ""),
        accounting_group_user=str(job.ad.get("AcctGroupUser") or ""),
    )


def _inherited(
    schedd: ScheddAdapter, job: OwnJob, config: Config, out: OutLog
) -> tuple[tuple[str, str], ...]:
    wanted = inheritance(config, sub_dag=bool(job.ad.get("DAGManJobId")))
    try:
        return inherited(wanted, schedd.own_expressions(wanted.values()))
    except PoolError as error:
        out.say(f"Warning: node jobs inherit no attributes: {error.reason}")
        return ()


def _log_workflow(workflow: Workflow, schedd: ScheddAdapter, job: OwnJob, out: OutLog) -> None:
    _say_all(
        out,
        banner.workflow_lines(
            batch_id=workflow.batch_id,
            batch_name=workflow.batch_name,
            accounting_group=workflow.accounting_group,
            accounting_group_user=workflow.accounting_group_user,
            nodes_log=workflow.nodes_log,
        ),
    )
    if job.ad:
        _name_batch(workflow, schedd, job, out)


def _name_batch(workflow: Workflow, schedd: ScheddAdapter, job: OwnJob, out: OutLog) -> None:
    """condor_q groups jobs by batch; the submit file need not name one."""
    wanted = {"JobBatchId": workflow.batch_id, "JobBatchName": workflow.batch_name}
    missing = {
        name: quoted(value) for name, value in wanted.items() if value and not job.ad.get(name)
    }
    try:
        schedd.publish(missing)
    except PoolError as error:
        out.say(f"Warning: can't update the DAGMan job's ad: {error.reason}")


def _limits(settings: Settings, job: OwnJob) -> Throttles:
    """Throttles of the command line; what the job ad has of an earlier start, or of SET_JOB_ATTR,
    wins (stock rule)."""
    options, config, admin = settings
    earlier = earlier_throttles(job.ad)
    return throttles(
        config,
        admin,
        jobs=earlier.get("jobs", options.max_jobs),
        idle=earlier.get("idle", options.max_idle),
        pre=earlier.get("pre", options.max_pre),
        post=earlier.get("post", options.max_post),
        hold=earlier.get("hold", options.max_hold),
        submits=earlier.get("submits"),
    )


def _take_lock(lock: LockFile, job: OwnJob, out: OutLog) -> bool:
    """Returns whether an earlier DAGMan left its lock file, so that its run is to be recovered."""
    try:
        holder = lock.acquire()
    except FileError as error:
        raise CannotStart(f"ERROR: {error}", _code(error, begun=lock.has_begun())) from None
    if holder is None:
        if lock.found_file:
            out.say(f"Lock file {lock.path} detected")
        return lock.found_file
    if job.cluster and holder == job.cluster:
        raise CannotStart(
            f"Lock file {lock.path} is still held by this same DAGMan job ({holder});"
            " starting again later",
            EXIT_RESTART,
        )
    raise CannotStart(
        "Aborting because it looks like another instance of DAGMan is currently running on this"
        " DAG; if that is not the case, delete the lock file"
        f" ({lock.path}) and re-submit the DAG."
    )


def _begin(it: Plan, beginning: Beginning) -> NodesLog:
    """Open the nodes log, then say in the lock file that the run has begun: in this order, since a
    lock file with a name in it makes the next start replay the log."""
    lock, path = it.lock, it.workflow.nodes_log
    log = NodesLog(path)
    if not beginning.resumes:
        it.out.say(f"MultiLogFiles: truncating log file {path}")
    try:
        log.open(truncate=not beginning.resumes)
        lock.write(it.job.cluster, beginning.rescue_number)
    except FileError as error:
        lock.release()
        raise CannotStart(f"ERROR: {error}", _code(error, begun=lock.found_file)) from None
    return log


def _code(error: FileError, *, begun: bool) -> int:
    """The exit code for a file that can't be written.  With 1 the schedd takes the job away, and
    the node jobs of a DAG that has begun; what may pass is tried again."""
    return EXIT_RESTART if begun or error.transient else 1


def _refuse_dry_run(lock: LockFile, job: OwnJob) -> None:
    """A dry run must not take the place of a run that is still to be recovered."""
    holder = lock.holder_cluster()
    if holder and holder == job.cluster:
        return  # of this very job, which was held meanwhile, so it was a dry run as well
    lock.release()
    raise CannotStart(
        f"ERROR: lock file {lock.path} shows that a run of this DAG was interrupted; -DryRun would"
        " forget how far it came. Submit the DAG again without -DryRun to go on with that run, or"
        " delete the lock file"
    )


def _log_nodes(run: DagRun) -> None:
    """Every node as it stands at the start, for debugging."""
    run.out.say(f"Current path is {os.getcwd()}", 4)
    if run.out.verbosity < NODES_VERBOSITY:
        return
    for report in run.engine.node_reports():
        for line in status_table.node_dump(run.dag, report):
            run.out.say(line, NODES_VERBOSITY)


def set_up(run: DagRun) -> int:
    """-SetupOnly: replay an old nodes log, then exit; nothing is started.

    Returns the exit code.
    """
    _handle(run, inputs.Begin(run.recovering))
    if run.recovering:
        for events in run.log.to_end():
            for event in events:
                _handle(run, event)
    run.out.say("Exiting after DAG setup (-SetupOnly).")
    _say_all(run.out, status_table.status_lines(run.engine.report()))
    if run.jobstate is not None:
        run.jobstate.note_end(run.clock.time(), 0)
        run.jobstate.write()
    run.lock.release()
    return 0


def _handle(run: DagRun, an_input: inputs.Input) -> None:
    """Give an input to the engine, which dispatches nothing in this mode; log its messages."""
    for action in run.engine.handle(an_input, run.clock.time()):
        if isinstance(action, do.Say):
            run.out.say(action.text, action.level)
