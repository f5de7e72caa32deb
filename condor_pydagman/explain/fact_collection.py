"""Finds out what is to be known of a DAG for an explanation: from its files, schedd, collector."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Iterator

from condor_pydagman.adapters.files import read_text
from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.config import knobs
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.errors import PydagmanError
from condor_pydagman.explain.failed_nodes import MAX_EXAMPLES, failures_by_kind
from condor_pydagman.explain.jobs import fits_of, idle_and_held, queued_job
from condor_pydagman.explain.known_facts import Excerpt, RescueFile
from condor_pydagman.explain.last_lines import excerpt_of
from condor_pydagman.follow.event_facts import hold_codes, reason
from condor_pydagman.follow.failures import Failure
from condor_pydagman.follow.follower import Plan, unknown_plan
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import log_events
from condor_pydagman.follow.notices.facts import HELD, DagmanJob, Facts
from condor_pydagman.follow.run_model import DagState, Hold, NodeRun, Run
from condor_pydagman.follow.tally import Tally
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.data_node_logs import data_waits
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.found_state import state_of_ad
from condor_pydagman.monitor.outside_facts import asked_of_features
from condor_pydagman.monitor.plan import is_of_earlier_run, read_plan
from condor_pydagman.monitor.schedd_queries import queued_dagman_ad
from condor_pydagman.monitor.watched_dag import facts_by_logs
from condor_pydagman.vocabulary import EventKind, NodeKind, NodeStatus

MAX_DEPTH = 3  # of sub-DAGs in sub-DAGs
MAX_SUBDAGS = 5  # of one DAG
_OPTIONS = {
    "max_jobs": "-MaxJobs",
    "max_idle": "-MaxIdle",
    "max_pre": "-MaxPre",
    "max_post": "-MaxPost",
    "max_hold": "-MaxHold",
}
_IN_QUEUE = (DagState.RUNNING, DagState.HALTED, DagState.HELD, DagState.IDLE)


def collect_facts(found: FoundDag, *, node: str = "", depth: int = 0) -> Facts:
    """What is known of a DAG.

    Args:
        found: the DAG.
        node: the only node of interest; '' for all.
        depth: how many DAGs this one is inside of.
    """
    plan, unknown = _plan(found)
    tally, problems = _tally(found, plan)
    run = tally.run
    unknown += problems
    job = _dagman_job(found)
    found = _with_job(found, job)
    again = ""
    if not depth and (run.starts or not found.ended):
        again = submit_command(found, is_read=not plan.is_unknown)
    facts = facts_by_logs(found, tally)._replace(
        dag=None if plan.is_unknown else plan.dag,
        has_halt_file=os.path.exists(found.paths.halt),
        dagman_job=job,
        rescue=_rescue(found, run),
        submit_command=again,
    )
    facts = _with_features(_with_queue(facts, found), found)
    failures = [
        failure for group in failures_by_kind(run, facts.dag) for failure in _first(group, node)
    ]
    waits = data_waits(found, facts.dag, run.in_queue.values()) if facts.is_live else []
    return facts._replace(
        data_waits=waits,
        excerpts=_excerpts(failures, found, facts.dag),
        limit_places=limit_places(run, found.options) if facts.is_live else {},
        inner=_inner(found, facts, node, depth),
        unknown=(*facts.unknown, *unknown),
    )


def _with_features(facts: Facts, found: FoundDag) -> Facts:
    """With what features ask DAGMan and others."""
    if not facts.is_live or facts.dag is None:
        return facts
    known, unknown = asked_of_features(facts.dag, found.paths.primary)
    return facts._replace(of=known, unknown=(*facts.unknown, *unknown))


def _first(group: list[Failure], node: str) -> list[Failure]:
    """Those that are shown."""
    chosen = [failure for failure in group if failure.node.name == node]
    return chosen + [failure for failure in group if failure not in chosen][:MAX_EXAMPLES]


def _plan(found: FoundDag) -> tuple[Plan, list[str]]:
    try:
        plan = read_plan(found)
    except PydagmanError as error:
        first = str(error).splitlines()[0]
        return unknown_plan(), [f"The DAG files can't be read, so its edges are not known: {first}"]
    return plan, list(_changed_files(found))


def _changed_files(found: FoundDag) -> Iterator[str]:
    """DAG files that are newer than the submission."""
    if found.state is DagState.NOT_STARTED:
        return
    try:
        begun = os.path.getmtime(found.paths.condor_sub)
    except OSError:
        return
    for name in found.files:
        path = os.path.join(found.directory, name)
        try:
            changed = os.path.getmtime(path)
        except OSError:
            continue
        if changed > begun:
            yield (
                f"{shown(path)} was changed after the DAG was submitted: this explanation uses"
                " the file as it is now."
            )


def _tally(found: FoundDag, plan: Plan) -> tuple[Tally, list[str]]:
    """The last run by its logs; an empty one if they are of another run than DAGMan's job."""
    if is_of_earlier_run(found):
        logs = f"The logs of {found.name} are of a later run"
        return Tally(Run()), [f"{logs}, so only the job ad describes job {found.cluster}."]
    monitor = DagMonitor(found, read_plan=lambda: plan)
    monitor.read()
    if found.state in (DagState.NOT_STARTED, DagState.IDLE):
        return monitor.tally(), []
    missing = "A log is missing, so this explanation is incomplete"
    return monitor.tally(), monitor.doubts + [f"{missing}: {text}" for text in monitor.problems]


def _with_queue(facts: Facts, found: FoundDag) -> Facts:
    """With what the schedd and the collector say."""
    if found.schedd_problem:
        return facts._replace(unknown=(_silent(found.schedd_problem),))
    if found.state not in _IN_QUEUE or not found.cluster:
        return facts
    try:
        ads = idle_and_held(found.cluster)
    except PydagmanError as error:
        return facts._replace(unknown=(_silent(str(error)),))
    jobs = tuple(map(queued_job, ads))
    held = [job for job in jobs if job.status == HELD]
    facts = facts._replace(jobs=jobs, held=held, held_by="HoldReason in the queue")
    try:
        return facts._replace(fits=tuple(fits_of(found.cluster, ads)))
    except PydagmanError as error:
        problem = f"Whether machines match is not known: {error}"
        return facts._replace(unknown=(problem,))


def _silent(problem: str) -> str:
    return f"What is said of jobs comes from the log files alone: {problem}"


def _excerpts(failures: list[Failure], found: FoundDag, dag: Dag | None) -> dict[str, Excerpt]:
    excerpts = ((failure.node.name, excerpt_of(failure, found, dag)) for failure in failures)
    return {name: excerpt for name, excerpt in excerpts if excerpt is not None}


def _inner(found: FoundDag, facts: Facts, node: str, depth: int) -> dict[str, Facts]:
    """Facts about sub-DAGs that have failed or run."""
    dag = facts.dag
    if dag is None or depth >= MAX_DEPTH:
        return {}
    wanted: dict[str, Facts] = {}
    for number in dag.of_kind(NodeKind.SUBDAG):
        run = facts.run.nodes.get(dag.names[number])
        if run is None or not _is_of_interest(run) or (node and node != run.name):
            continue
        path = os.path.join(found.directory, dag.directories.get(number, ""), dag.subdags[number])
        try:
            inner = find_dag(shown(path), ask=not found.schedd_problem)
            wanted[run.name] = collect_facts(inner, depth=depth + 1)
        except PydagmanError:
            continue
        if len(wanted) == MAX_SUBDAGS:
            break
    return wanted


def _is_of_interest(run: NodeRun) -> bool:
    return run.status in (NodeStatus.ERROR, NodeStatus.SUBMITTED) and bool(run.attempts)


def _with_job(found: FoundDag, job: DagmanJob) -> FoundDag:
    """With DAGMan's job in the queue, if its log alone names it: it waits to be started, or is
    held before it has written anything."""
    if found.cluster or not job.cluster:
        return found
    found = found._replace(cluster=job.cluster)
    if job.left or found.ended:
        return found
    try:
        ad = queued_dagman_ad(job.cluster)
    except PydagmanError as error:
        return found._replace(schedd_problem=str(error))
    if str(ad.get("Iwd", "")) != os.path.realpath(found.directory):
        return found
    state, _ = state_of_ad(ad)
    waits = state in (DagState.IDLE, DagState.HELD)
    return found._replace(ad=ad, state=state if waits else found.state)


def _dagman_job(found: FoundDag) -> DagmanJob:
    """DAGMan's job by its own log."""
    try:
        data = read_text(found.paths.dagman_log).encode("utf-8", "surrogateescape")
    except (OSError, PydagmanError):
        return DagmanJob()
    job = DagmanJob()
    for event in log_events(data, 0, LocalTimes(logged_minute, time.localtime().tm_year)):
        if event.kind == EventKind.SUBMIT:
            job = DagmanJob(event.cluster, event.time)
        elif event.kind == EventKind.JOB_HELD:
            code, subcode = hold_codes(event.said)
            name = f"{event.cluster}.{event.proc}"
            job = job._replace(hold=Hold(event.time, reason(event.said), code, subcode, name))
        elif event.kind == EventKind.JOB_RELEASED:
            job = job._replace(hold=None)
        elif event.kind == EventKind.JOB_ABORTED:
            job = job._replace(removed=reason(event.said), left=event.time)
        elif event.kind == EventKind.JOB_TERMINATED:
            job = job._replace(left=event.time)
    return job


def _rescue(found: FoundDag, run: Run) -> RescueFile | None:
    """The newest rescue file, unless it is of a run before: DAGMan runs, or has written none."""
    has_succeeded = found.state is DagState.SUCCEEDED and not run.rescue_written
    path = found.next_rescue
    if not path or has_succeeded or found.state in (DagState.RUNNING, DagState.HALTED):
        return None
    try:
        text = read_text(path)
        written = os.path.getmtime(path)
    except (OSError, PydagmanError):
        return None
    return RescueFile(shown(path), len(re.findall(r"^DONE ", text, re.M)), written)


def submit_command(found: FoundDag, here: str = ".", *, is_read: bool = True) -> str:
    """What submits the DAG again, from the directory in which one is ('' if that is unknown); after
    a check if its files can't be read."""
    words = ["condor_submit_dag"]
    if found.state is DagState.INTERRUPTED:
        words.append("-update_submit")
    elif os.path.exists(found.paths.condor_sub) and not found.next_rescue:
        words.append("-f")
    for field, option in _OPTIONS.items():
        value = getattr(found.options, field)
        words += [option, str(value)] if value else []
    words += ["-usedagdir"] * found.options.use_dag_dir + ["-bundle"] * found.options.bundle
    command = shlex.join([*words, *found.files])
    if not is_read:
        command = f"{shlex.join(['condor_dag_checker', '-lint', *found.files])} && {command}"
    if not here or os.path.realpath(found.directory) != os.path.realpath(here):
        return f"cd {shlex.quote(found.directory)} && {command}"
    return command


# Names in the job ad; attributes of Options, options of condor_submit_dag, knobs.
_ROWS = (
    ("DAGMan_MaxJobs", "max_jobs", "-MaxJobs", "DAGMAN_MAX_JOBS_SUBMITTED"),
    ("DAGMan_MaxIdle", "max_idle", "-MaxIdle", "DAGMAN_MAX_JOBS_IDLE"),
    ("DAGMan_MaxPreScripts", "max_pre", "-MaxPre", "DAGMAN_MAX_PRE_SCRIPTS"),
    ("DAGMan_MaxPostScripts", "max_post", "-MaxPost", "DAGMAN_MAX_POST_SCRIPTS"),
)


def limit_places(run: Run, options: DagmanOptions) -> dict[str, str]:
    """Where each throttle in force was set, by its name in the job ad, as far as it is known.

    Args:
        options: of DAGMan's command line.
    """
    places = {}
    for attribute, field, option, knob in _ROWS:
        value = run.limits.get(attribute, 0)
        if not value:
            continue
        default = next(row.default for row in knobs() if row.name == knob)
        set_to, place = run.knob_places.get(knob, (default, "default"))
        if getattr(options, field) == value:
            places[attribute] = f"{option} {value}, command line of DAGMan"
        elif set_to == value:
            places[attribute] = f"{knob}, {place}"
        elif run.knob_places:  # a DAGMan that says where
            places[attribute] = f"{attribute} of DAGMan's job, changed in the queue"
    return places
