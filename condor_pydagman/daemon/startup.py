"""From a command line to a run: configuration, log, rescue file, DAG, lock, engine.

The order is stock DAGMan's, so that what goes wrong first is reported first.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import htcondor2

from condor_pydagman.adapters import files
from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.scripts import ScriptRunner
from condor_pydagman.cli.options import DagmanOptions
from condor_pydagman.config import Config
from condor_pydagman.daemon.dag_input import CannotStart, read_dag
from condor_pydagman.daemon.run import Run
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles, throttles
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import DagPaths
from condor_pydagman.records import banner, jobstate
from condor_pydagman.records.job_description import Workflow, inheritance, inherited

OWN_AD_TRIES = 4


class JobId(NamedTuple):
    """Id of the DAGMan job; zeros if it runs by hand."""

    cluster: int = 0
    proc: int = 0


def open_log(options: DagmanOptions, config: Config) -> OutLog:
    """Open `.dagman.out` (named by the environment, as the schedd sets it) and greet."""
    path = os.environ.get("_CONDOR_DAGMAN_LOG") or options.paths().dagman_out
    out = OutLog(path, config.verbosity if options.debug is None else options.debug)
    os.environ["_CONDOR_DAGMAN_LOG"] = out.path  # scripts may want it
    touched = ""
    if out.touched is not None:
        touched = time.strftime("%m/%d %H:%M:%S", time.localtime(out.touched))
    process = banner.Process(
        executable=os.path.abspath(sys.argv[0]),
        version=htcondor2.version(),
        platform=htcondor2.platform(),
        pid=os.getpid(),
        user_id=os.getuid(),
        config_source=os.environ.get("CONDOR_CONFIG", ""),
        last_touched=touched,
    )
    _say_all(out, banner.start_lines(process))
    _say_all(out, banner.setting_lines(config))
    return out


def with_options(config: Config, options: DagmanOptions) -> Config:
    """The knobs, with what the command line says put over them."""
    changes: dict[str, bool] = {}
    if options.always_run_post is not None:
        changes["always_run_post"] = options.always_run_post
    if options.suppress_notification is not None:
        changes["suppress_notification"] = options.suppress_notification
    return replace(config, **changes)  # type: ignore[arg-type]


def job_id() -> JobId:
    """The DAGMan job's own id, from the environment that the schedd makes."""
    cluster, _, proc = os.environ.get("CONDOR_ID", "").partition(".")
    if cluster.isdigit() and proc.isdigit():
        return JobId(int(cluster), int(proc))
    return JobId()


def prepare(
    options: DagmanOptions, config: Config, admin: Config, out: OutLog, started: float
) -> Run:
    """Everything up to the first input.

    Args:
        config: knobs in force, those of the DAG's CONFIG file among them.
        admin: knobs without that file: the administrator's, whose throttles are upper limits.

    Raises:
        CannotStart: with message and exit code.
    """
    paths, job = options.paths(), job_id()
    nodes_log = paths.nodes_log(os.getcwd())
    schedd = ScheddAdapter(job.cluster, lambda text: out.say(f"Submit warning: {text}"))
    own_ad = _own_ad(schedd, job, out)
    known = own_ad or {}
    inherited = _inherited(schedd, known, config, out)
    workflow = _workflow(known, job, paths, nodes_log, config, inherited)
    _introduce(workflow, schedd, own_ad, out)
    _refuse_tmp(nodes_log, config)
    limits = _limits(options, config, admin, known)
    _say_all(out, banner.throttle_lines(limits))
    lock = LockFile(options.lockfile or paths.lock)
    _say_all(out, banner.file_lines(lock.path, options.dag_files))
    dag, rescue_number = read_dag(options, config, paths, out)
    recovering = _take_lock(lock, job, out) or options.do_recovery
    if recovering or not job.cluster:
        schedd.go_by_log(nodes_log)
    log = _begin(lock, job, nodes_log, recovering, rescue_number, out)
    history = _jobstate_history(dag)
    first = 1 if recovering else history.sequence + 1
    engine = Engine(dag, config, limits, admin=admin, dag_id=job.cluster, first_sequence=first)
    run = Run(
        dag=dag,
        engine=engine,
        config=config,
        options=options,
        paths=paths,
        out=out,
        log=log,
        schedd=schedd,
        scripts=ScriptRunner(),
        lock=lock,
        workflow=workflow,
        started=started,
        version=htcondor2.version(),
        cluster=job.cluster,
        proc=job.proc,
        parent_cluster=_integer(known.get("DAGManJobId")),
        rescue_number=rescue_number,
        recovering=recovering,
        jobstate=history,
    )
    _begin_jobstate(run)
    return run


def _say_all(out: OutLog, lines: Sequence[str]) -> None:
    for line in lines:
        out.say(line)


def _own_ad(schedd: ScheddAdapter, job: JobId, out: OutLog) -> dict[str, object] | None:
    """The DAGMan job's own ad; None if the schedd would not give it."""
    if not job.cluster:
        out.say(
            "No HTCondor ID available for DAGMan (running on command line?);"
            " DAG status will not be reported to ClassAd"
        )
    for tries in range(1, OWN_AD_TRIES + 1):
        try:
            return schedd.own_ad()
        except PoolError as error:
            out.say(f"Warning: can't read the DAGMan job's own ad: {error.reason}")
            out.flush()
            if tries < OWN_AD_TRIES:
                time.sleep(tries)
    return None


def _workflow(
    own_ad: dict[str, object],
    job: JobId,
    paths: DagPaths,
    nodes_log: str,
    config: Config,
    inherited: tuple[tuple[str, str], ...],
) -> Workflow:
    batch_id, batch_name = str(own_ad.get("JobBatchId") or ""), own_ad.get("JobBatchName")
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
        accounting_group=str(own_ad.get("AcctGroup") or ""),
        accounting_group_user=str(own_ad.get("AcctGroupUser") or ""),
    )


def _inherited(
    schedd: ScheddAdapter, own_ad: dict[str, object], config: Config, out: OutLog
) -> tuple[tuple[str, str], ...]:
    wanted = inheritance(config, sub_dag=bool(own_ad.get("DAGManJobId")))
    try:
        return inherited(wanted, schedd.own_expressions(wanted.values()))
    except PoolError as error:
        out.say(f"Warning: node jobs inherit no attributes: {error.reason}")
        return ()


def _introduce(
    workflow: Workflow, schedd: ScheddAdapter, own_ad: dict[str, object] | None, out: OutLog
) -> None:
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
    if own_ad:
        _name_batch(workflow, schedd, own_ad, out)


def _name_batch(
    workflow: Workflow, schedd: ScheddAdapter, own_ad: dict[str, object], out: OutLog
) -> None:
    """condor_q groups jobs by batch; the submit file need not name one."""
    wanted = {"JobBatchId": workflow.batch_id, "JobBatchName": workflow.batch_name}
    missing = {
        name: '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for name, value in wanted.items()
        if value and not own_ad.get(name)
    }
    try:
        schedd.publish(missing)
    except PoolError as error:
        out.say(f"Warning: can't update the DAGMan job's ad: {error.reason}")


def _refuse_tmp(nodes_log: str, config: Config) -> None:
    if config.avoid_slash_tmp and config.use_strict >= 1 and nodes_log.startswith("/tmp"):
        raise CannotStart(
            f"Warning: nodes log {nodes_log} is under /tmp, which may be cleaned at any time."
            " Move the DAG elsewhere, or set DAGMAN_AVOID_SLASH_TMP = False\n"
            "ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting"
        )


def _limits(
    options: DagmanOptions, config: Config, admin: Config, own_ad: dict[str, object]
) -> Throttles:
    """Throttles of the command line; what the job ad has of an earlier start, or of SET_JOB_ATTR,
    wins (stock rule)."""

    def wanted(name: str, option: int | None) -> int | None:
        value = own_ad.get(name)
        return value if isinstance(value, int) and value >= 0 else option

    return throttles(
        config,
        admin,
        jobs=wanted("DAGMan_MaxJobs", options.max_jobs),
        idle=wanted("DAGMan_MaxIdle", options.max_idle),
        pre=wanted("DAGMan_MaxPreScripts", options.max_pre),
        post=wanted("DAGMan_MaxPostScripts", options.max_post),
        hold=wanted("DAGMan_MaxHoldScripts", options.max_hold),
        submits=wanted("DAGMan_MaxSubmitsPerInterval", None),
    )


def _take_lock(lock: LockFile, job: JobId, out: OutLog) -> bool:
    """Returns whether an earlier DAGMan left its lock file, so that its run is to be recovered."""
    try:
        holder = lock.take()
    except FileError as error:
        raise CannotStart(f"ERROR: {error}") from None
    if holder is None:
        if lock.found:
            out.say(f"Lock file {lock.path} detected")
        return lock.found
    if job.cluster and holder == job.cluster:
        raise CannotStart(
            f"Lock file {lock.path} is still held by this same DAGMan job ({holder});"
            " starting again later",
            3,
        )
    raise CannotStart(
        "Aborting because it looks like another instance of DAGMan is currently running on this"
        " DAG; if that is not the case, delete the lock file"
        f" ({lock.path}) and re-submit the DAG."
    )


def _begin(
    lock: LockFile, job: JobId, path: str, recovering: bool, rescue: int, out: OutLog
) -> NodesLog:
    """Open the nodes log, then say in the lock file that the run has begun: in this order, since a
    lock file with a name in it makes the next start replay the log."""
    log = NodesLog(path)
    if not recovering:
        out.say(f"MultiLogFiles: truncating log file {path}")
    try:
        log.open(truncate=not recovering)
        lock.write(job.cluster, rescue)
    except FileError as error:
        lock.leave()
        raise CannotStart(f"ERROR: {error}") from None
    return log


def _jobstate_history(dag: Dag) -> jobstate.History:
    if not dag.jobstate_log:
        return jobstate.History()
    try:
        return jobstate.read(files.read_text(dag.jobstate_log).splitlines())
    except (OSError, FileError):
        return jobstate.History()


def _begin_jobstate(run: Run) -> None:
    if not run.dag.jobstate_log:
        return
    now = time.time()
    lines = [jobstate.started(now, run.cluster, run.proc)]
    if run.recovering:
        lines.append(jobstate.recovery_started(now))
    try:
        files.append_lines(run.dag.jobstate_log, lines)
    except FileError as error:
        run.out.say(f"Warning: {error}", 0)


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0
