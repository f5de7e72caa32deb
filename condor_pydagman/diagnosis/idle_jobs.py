"""Jobs that wait in the queue: for how long, and whether any machine can run them."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.diagnosis.known_facts import Clause, Facts, Fit
from condor_pydagman.diagnosis.load import idle_jobs
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.notices.known import IDLE, QueuedJob
from condor_pydagman.notices.phrases import nodes_named
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration

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
    return Notice("job.idle", weight, sentence, fit.nodes, (evidence,), (advice,))


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
    return Notice("job.no_match", Weight.PROBLEM, sentence, fit.nodes, evidence, advice)


def _clause(clause: Clause, fit: Fit) -> Evidence:
    values = f" ({'; '.join(clause.values)})" if clause.values else ""
    text = f"{message(clause.text)}{message(values)} holds for {clause.slots} of {_slots(fit)}"
    return Evidence(f"Requirements of {fit.job}", text)


def _logged(facts: Facts) -> Iterator[Notice]:
    """By the nodes log alone."""
    nodes = [run for run in facts.run.nodes.values() if _idle(run)]
    if not nodes:
        return
    jobs = sum(map(_idle, nodes))
    oldest = min(nodes, key=lambda run: run.attempts[-1].submitted)
    attempt = oldest.attempts[-1]
    sentence = _waits(jobs, tuple(run.name for run in nodes), attempt.submitted, facts.now)
    text = f"job {attempt.job} of {message(oldest.name)}: submitted"
    evidence = Evidence(facts.nodes_log, text, attempt.submitted)
    advice = f"To see why: condor_q -better-analyze {attempt.job}"
    names = tuple(run.name for run in nodes)
    yield Notice("job.idle", Weight.WAITING, f"{sentence}.", names, (evidence,), (advice,))


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


def _idle(run: NodeRun) -> int:
    submitted = run.status is NodeStatus.SUBMITTED and run.attempts
    return idle_jobs(run.attempts[-1]) if submitted else 0
