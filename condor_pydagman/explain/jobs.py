"""Jobs and scripts of a DAG that run, and jobs that wait in the queue: for how long, and
whether any machine can run them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from condor_pydagman.adapters.followed_files import UNKNOWN
from condor_pydagman.adapters.foreign_texts import ask
from condor_pydagman.explain.known_facts import Clause, Fit
from condor_pydagman.follow.carriers import nodes_of, with_jobs
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import HELD, IDLE, Facts, QueuedJob
from condor_pydagman.follow.notices.name_lists import nodes_named
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.vocabulary import NodeStatus, ScriptKind
from condor_pydagman.words import duration

MIN_EVICTIONS = 3  # of a job, for people to be told
_OUTGROWN = (
    "They had used more memory than they requested: request_memory = MAX({2048, MemoryUsage * 3 / 2"
    " ?: 0}) in the submit file requests more after each eviction."
)
MAX_KINDS = 5  # of idle jobs that are compared with machines
_AT_A_TIME = 500  # slots: the process that compares them has little memory
_COUNTS = "condor_pydagman.explain.jobs:counts_of"
_COUNTED = ((int,) * 4, [(str, int, [str])])  # what it returns
Ad = Mapping[str, Any]
_WANTED = (
    *("ClusterId", "ProcId", "JobStatus", "JobUniverse", "DAGNodeName", "EnteredCurrentStatus"),
    *("HoldReason", "HoldReasonCode", "HoldReasonSubCode", "AutoClusterId"),
)
_ALIKE = ("Cmd", "RequestCpus", "RequestMemory", "RequestDisk", "RequestGpus")
_WITHOUT_MACHINE = (7, 9, 12)  # JobUniverse: scheduler, grid, local


def idle_and_held(cluster: int) -> list[Ad]:
    """The ads of a DAG's jobs that are idle or held.

    Raises:
        PoolError: the schedd does not answer.
    """
    condition = f"JobStatus == {IDLE} || JobStatus == {HELD}"
    return schedd_queries.jobs_of_dag(cluster, (*_WANTED, *_ALIKE), condition=condition)


def queued_job(ad: Ad) -> QueuedJob:
    """What an ad says."""
    return QueuedJob(
        f"{ad['ClusterId']}.{ad['ProcId']}",
        str(ad.get("DAGNodeName", "")),
        int(ad["JobStatus"]),
        float(ad.get("EnteredCurrentStatus", 0)),
        str(ad.get("HoldReason", "")),
        int(ad.get("HoldReasonCode", 0)),
        int(ad.get("HoldReasonSubCode", 0)),
    )


def fits_of(cluster: int, ads: Sequence[Ad]) -> list[Fit]:
    """How the idle ones among these jobs fit the machines of the pool, jobs of one kind together.

    Raises:
        PoolError: the schedd or the collector does not answer.
    """
    kinds: dict[Any, list[Ad]] = {}
    for ad in ads:
        if ad["JobStatus"] == IDLE and ad.get("JobUniverse") not in _WITHOUT_MACHINE:
            # the schedd gives the number when jobs are first negotiated for
            alike = ad.get("AutoClusterId") or tuple(str(ad.get(name)) for name in _ALIKE)
            kinds.setdefault(alike, []).append(ad)
    if not kinds:
        return []
    machines, found = schedd_queries.machine_ads(), []
    for jobs in sorted(kinds.values(), key=lambda jobs: -len(jobs))[:MAX_KINDS]:
        first = f"ClusterId == {jobs[0]['ClusterId']} && ProcId == {jobs[0]['ProcId']}"
        nodes = tuple(dict.fromkeys(str(ad.get("DAGNodeName", "")) for ad in jobs))
        for whole in schedd_queries.jobs_of_dag(cluster, (), condition=first):
            found.append(fit_of(whole, len(jobs), nodes, machines))
    return found


_WHOLE = {"Cpus": "TotalSlotCpus", "Memory": "TotalSlotMemory", "Disk": "TotalSlotDisk"}
_WHOLE["GPUs"] = "TotalSlotGPUs"
_IN_JOB = ("requirements", "true", "false", "undefined", "error")


def fit_of(job: Any, jobs: int, nodes: tuple[str, ...], machines: Sequence[Any]) -> Fit:
    """How jobs fit the machines; a confined process evaluates what their owner has written.

    Args:
        job: the whole ad of one of them.
        jobs, nodes: how many there are, and of which nodes.
        machines: the ads of all slots.

    Raises:
        NotRead: it can't be told.
    """
    slots = [str(ad) for ad in machines if ad.get("SlotType") != "Dynamic"]
    parts = [slots[n : n + _AT_A_TIME] for n in range(0, len(slots) or 1, _AT_A_TIME)]
    answers = [ask(_COUNTS, UNKNOWN, str(job), part, shape=_COUNTED) for part in parts]
    able, willing, free, partitionable = map(sum, zip(*(counts for counts, _ in answers)))
    clauses = tuple(
        Clause(each[0][0], sum(met for _, met, _ in each), tuple(each[0][2]))
        for each in zip(*(clauses for _, clauses in answers))
    )
    name = f"{job['ClusterId']}.{job['ProcId']}"
    return Fit(jobs, name, nodes, len(slots), able, willing, free, clauses, partitionable)


def counts_of(job_ad: str, slot_ads: list[str]) -> tuple[list[int], list[Any]]:
    """Of slots: how many are able, willing, free, partitionable (see `Fit`); and the clauses of the
    job's Requirements, with how many meet each.  Called in a confined process."""
    import classad2

    job, slots = classad2.ClassAd(job_ad), [classad2.ClassAd(ad) for ad in slot_ads]
    whole = [_as_if_free(ad) for ad in slots]
    willing = [ad for ad in whole if ad.matches(job)]  # that meet the Requirements of the job
    able = [ad for ad in willing if job.matches(ad)]
    free = len([ad for ad in slots if _is_free(ad) and job.symmetricMatch(ad)])
    partitionable = sum(1 for ad in slots if ad.get("PartitionableSlot"))
    clauses = [
        (text, _number_met(classad2.ExprTree(text), job, whole), list(_values(text, job)))
        for text in clauses_of(str(job.lookup("Requirements")))
    ]
    return [len(able), len(willing), free, partitionable], clauses


def _as_if_free(slot: Ad) -> Any:
    """A partitionable slot as it is when nothing runs in it."""
    if not slot.get("PartitionableSlot"):
        return slot
    import classad2

    found = classad2.ClassAd()
    found.update(slot)
    for name, total in _WHOLE.items():
        if total in slot:
            found[name] = slot[total]
    return found


def _is_free(slot: Ad) -> bool:
    return bool(slot.get("PartitionableSlot")) or slot.get("State") == "Unclaimed"


def _number_met(clause: Any, job: Ad, slots: Sequence[Any]) -> int:
    return sum(1 for slot in slots if clause.eval(scope=job, target=slot) is True)


def _values(text: str, job: Ad) -> Iterator[str]:
    """What the job's attributes in a clause are."""
    for name in names_in(text):
        scope, _, plain = name.rpartition(".")
        if scope.lower() in ("", "my") and plain.lower() not in _IN_JOB and plain in job:
            yield f"{plain} = {_shown(job, plain)}"


def _shown(job: Any, name: str) -> str:
    value = job.eval(name)
    if isinstance(value, Enum):  # undefined or error, which are numbers as well
        return value.name.lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


_SIGN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|&&|\|\||[()?\[\]{}]|[^"\'&|()?\[\]{}]+|.'
)
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.])((?:[A-Za-z_]\w*\.)?[A-Za-z_]\w*)\b(?!\s*\()')
_OPEN, _CLOSE = "([{", ")]}"


def clauses_of(expression: str) -> list[str]:
    """The operands of all `&&` that are in no other operation; the expression itself if none."""
    text = _without_parentheses(expression.strip())
    parts = _split(text)
    if len(parts) == 1:
        return [text]
    return [clause for part in parts for clause in clauses_of(part)]


def names_in(expression: str) -> list[str]:
    """The attributes that an expression names, each once; `TARGET.Memory` as it stands."""
    found = (match[1] for match in _NAME.finditer(expression))
    return list(dict.fromkeys(name for name in found if name))


def _split(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for sign, at in _signs(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth == 0 and sign in ("||", "?"):
            return [text]
        if depth == 0 and sign == "&&":
            parts.append(text[begin:at].strip())
            begin = at + len(sign)
    return [*parts, text[begin:].strip()]


def _without_parentheses(text: str) -> str:
    """Without a pair of parentheses around the whole."""
    while text.startswith("(") and _closes_at(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closes_at(text: str) -> int:
    """Where the first parenthesis is closed, -1 if nowhere."""
    depth = 0
    for sign, at in _signs(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth == 0:
            return at
    return -1


def _signs(text: str) -> Iterator[tuple[str, int]]:
    return ((found[0], found.start()) for found in _SIGN.finditer(text))


def running_findings(facts: Facts) -> list[Notice]:
    """One for PRE scripts, POST scripts, jobs that are evicted, jobs; none if no DAGMan runs."""
    if not facts.is_live:
        return []
    kinds = (ScriptKind.PRE, ScriptKind.POST)
    scripts = [notice for kind in kinds for notice in _scripts(facts, kind)]
    return [*scripts, *_evicted(facts), *_jobs(facts)]


def _evicted(facts: Facts) -> Iterator[Notice]:
    """Jobs that may never end, since no machine keeps them."""
    nodes = with_jobs(facts.run, facts.run.nodes.values())
    queued = (node for node in nodes if node.status is NodeStatus.SUBMITTED and node.attempts)
    evictions = {node: node.attempts[-1].evictions for node in queued}
    names = tuple(node.name for node, times in evictions.items() if times >= MIN_EVICTIONS)
    if names:
        worst = max(evictions, key=lambda node: evictions[node])
        sentence = (
            f"Jobs of {nodes_named(names)} are taken from their machines again and again, and begin"
            f" anew each time: {job_of(worst)} {evictions[worst]} times."
        )
        advice = [f"For the reasons: condor_pydagman events {shlex.quote(facts.name)}"]
        if any(node.attempts[-1].outgrown for node in evictions):
            advice.append(_OUTGROWN)
        yield Notice("job.evicted", Weight.PROBLEM, sentence, names, advice=tuple(advice))


def _scripts(facts: Facts, kind: ScriptKind) -> Iterator[Notice]:
    status = NodeStatus.PRERUN if kind is ScriptKind.PRE else NodeStatus.POSTRUN
    runs = (run for run in facts.run.nodes.values() if run.status is status)
    found = [(since, run.name) for run in runs if (since := run.script_since(kind))]
    if not found:
        return
    since, name = min(found)
    longest = f", the longest for {duration(facts.now - since)} (node {message(name)})"
    if len(found) == 1:
        longest = f" for {duration(facts.now - since)}"
    names = tuple(name for _, name in sorted(found))
    sentence = (
        f"{number_of(len(found), f'{kind.name} script')} of {nodes_named(names)}"
        f" {'has been' if len(found) == 1 else 'are'} running{longest}."
    )
    evidence = (Evidence(facts.out, f"{kind.name} script of {message(name)} started", since),)
    yield Notice("script.running", Weight.WAITING, sentence, names, evidence)


def _jobs(facts: Facts) -> Iterator[Notice]:
    running = [
        run
        for run in facts.run.nodes.values()
        if run.status is NodeStatus.SUBMITTED and run.attempts and run.attempts[-1].running
    ]
    if not running:
        return
    count = sum(run.attempts[-1].running for run in running)
    oldest = min(running, key=lambda run: run.attempts[-1].started)
    attempt = oldest.attempts[-1]
    age = duration(facts.now - attempt.started)
    longest = f" for {age}" if count == 1 else f", the longest for {age}"
    names = tuple(run.name for run in running)
    sentence = (
        f"{number_of(count, 'job')} of {nodes_named(names)} {'has been' if count == 1 else 'are'}"
        f" running{longest}."
    )
    host = f" on {message(attempt.hosts[-1])}" if attempt.hosts else ""
    text = f"{job_of(oldest)}{host}"
    evidence = (Evidence(facts.nodes_log, text, attempt.started),)
    yield Notice("job.running", Weight.NOTE, sentence, names, evidence)


MAX_CLAUSES = 4


def idle_job_findings(facts: Facts) -> list[Notice]:
    """A finding for jobs of each kind; one for all if the schedd has not told of them."""
    if facts.fits:
        return [_fit_finding(fit, facts) for fit in facts.fits]
    if not facts.is_live or (facts.jobs is not None and not _queued(facts)):
        return []
    return list(_logged(facts))


def _fit_finding(fit: Fit, facts: Facts) -> Notice:
    if fit.slots and not fit.able:
        return _no_match(fit, facts)
    if not fit.slots:
        text = "the pool has no slots"
    elif fit.free:
        text = f"{fit.free} of {_slots(fit)} could run {_them(fit)} now; the next"
        text += " negotiation cycle decides"
    else:
        text = f"{fit.able} of {_slots(fit)} can run {_them(fit)}; all are busy, or"
        text += " other users have priority"
    sentence = f"{_waits(fit.jobs, fit.nodes, _since(facts, fit), facts.now)}: {text}."
    weight = Weight.WAITING if fit.slots else Weight.PROBLEM
    advice = f"To see which slots match: condor_q -better-analyze {fit.job}"
    evidence = Evidence("collector", f"{_slots(fit)}, {fit.able} match")
    names = _all_nodes(facts, fit.nodes)
    return Notice("job.idle", weight, sentence, names, (evidence,), (advice,))


def _no_match(fit: Fit, facts: Facts) -> Notice:
    none = [clause for clause in fit.clauses if not clause.slots]
    shown = none or sorted(fit.clauses, key=lambda clause: clause.slots)
    if fit.willing:
        why = f"the Requirements of the {number_of(fit.willing, 'slot')} that the job matches"
        why += " refuse it"
    elif none:
        s = "s" * (len(none) > 1)
        why = f"no slot meets {'these parts' if s else 'this part'} of {_their(fit)} Requirements:"
        why += f" {', '.join(message(clause.text) for clause in none[:MAX_CLAUSES])}"
    else:
        why = f"no slot meets all parts of {_their(fit)} Requirements"
    sentence = (
        f"{_waits(fit.jobs, fit.nodes, _since(facts, fit), facts.now)}: none of the"
        f" {_slots(fit)} of the pool can run {_them(fit)}: {why}."
    )
    advice = (
        "For jobs submitted later, change `requirements` or `request_...` in the submit file; for"
        f" these jobs: condor_qedit {fit.job} ATTRIBUTE VALUE",
        f"For details: condor_q -better-analyze {fit.job}",
    )
    evidence = tuple(_clause(clause, fit) for clause in shown[:MAX_CLAUSES])
    names = _all_nodes(facts, fit.nodes)
    return Notice("job.no_match", Weight.PROBLEM, sentence, names, evidence, advice)


def _all_nodes(facts: Facts, jobs: Iterable[str]) -> tuple[str, ...]:
    """The nodes of jobs by the names of nodes that these have in the queue."""
    return tuple(name for job in jobs for name in nodes_of(facts.run, job))


def _clause(clause: Clause, fit: Fit) -> Evidence:
    values = f" ({'; '.join(clause.values)})" if clause.values else ""
    text = f"{message(clause.text)}{message(values)} holds for {clause.slots} of {_slots(fit)}"
    return Evidence(f"Requirements of {fit.job}", text)


def _logged(facts: Facts) -> Iterator[Notice]:
    """By the nodes log alone."""
    nodes = [run for run in with_jobs(facts.run, facts.run.nodes.values()) if _idle(run)]
    if not nodes:
        return
    jobs = sum(map(_idle, nodes))
    oldest = min(nodes, key=lambda run: run.attempts[-1].submitted)
    attempt = oldest.attempts[-1]
    sentence = _waits(jobs, tuple(run.name for run in nodes), attempt.submitted, facts.now)
    evidence = Evidence(facts.nodes_log, f"{job_of(oldest)}: submitted", attempt.submitted)
    advice = (f"To see why: condor_q -better-analyze {attempt.job}",) if attempt.job else ()
    names = _all_nodes(facts, [run.name for run in nodes])
    yield Notice("job.idle", Weight.WAITING, f"{sentence}.", names, (evidence,), advice)


def _waits(jobs: int, nodes: tuple[str, ...], since: float, now: float) -> str:
    age = f", the oldest for {duration(now - since)}" if since and jobs > 1 else ""
    if since and jobs == 1:
        age = f" for {duration(now - since)}"
    are = "has been" if since and jobs == 1 else does(jobs, "be")
    return f"{number_of(jobs, 'job')} of {nodes_named(nodes)} {are} idle{age}"


def _slots(fit: Fit) -> str:
    """How many slots there are; a partitionable one is one, however many jobs run in it."""
    if 0 < fit.partitionable == fit.slots:
        return number_of(fit.slots, "partitionable slot")
    some = f" ({fit.partitionable} of them partitionable)" if fit.partitionable else ""
    return f"{number_of(fit.slots, 'slot')}{some}"


def _them(fit: Fit) -> str:
    return "it" if fit.jobs == 1 else "them"


def _their(fit: Fit) -> str:
    return "its" if fit.jobs == 1 else "their"


def _since(facts: Facts, fit: Fit) -> float:
    nodes = set(fit.nodes)
    return min((job.since for job in _queued(facts) if job.node in nodes and job.since), default=0)


def _queued(facts: Facts) -> list[QueuedJob]:
    return [job for job in facts.jobs or () if job.status == IDLE]


def job_of(node: NodeRun) -> str:
    """The job of a node's last attempt, in words; a NOOP node has none."""
    job, name = node.attempts[-1].job, message(node.name)
    return f"job {job} of {name}" if job else name


def _idle(run: NodeRun) -> int:
    submitted = run.status is NodeStatus.SUBMITTED and run.attempts
    return run.attempts[-1].idle if submitted else 0
