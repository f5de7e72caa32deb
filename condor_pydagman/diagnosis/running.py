"""Notices of running jobs, and of running PRE and POST scripts."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.notices.phrases import nodes_named
from condor_pydagman.printable import message, number_of
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration


def running_findings(facts: Facts) -> list[Notice]:
    """One for PRE scripts, one for POST scripts, one for jobs; none if no DAGMan runs."""
    if not facts.is_live:
        return []
    scripts = [notice for kind in ("PRE", "POST") for notice in _scripts(facts, kind)]
    return [*scripts, *_jobs(facts)]


def _scripts(facts: Facts, kind: str) -> Iterator[Notice]:
    status = NodeStatus.PRERUN if kind == "PRE" else NodeStatus.POSTRUN
    found = []
    for run in facts.run.nodes.values():
        if run.status is status and run.attempts:
            started = _started(run.attempts[-1], kind)
            if started:
                found.append((started, run.name))
    if not found:
        return
    since, name = min(found)
    longest = f", the longest for {duration(facts.now - since)} (node {message(name)})"
    if len(found) == 1:
        longest = f" for {duration(facts.now - since)}"
    names = tuple(name for _, name in sorted(found))
    sentence = (
        f"{number_of(len(found), f'{kind} script')} of {nodes_named(names)}"
        f" {'has been' if len(found) == 1 else 'are'} running{longest}."
    )
    evidence = (Evidence(facts.out, f"{kind} script of {message(name)} started", since),)
    yield Notice("script.running", Weight.WAITING, sentence, names, evidence)


def _started(attempt: Attempt, kind: str) -> float:
    """When its script started, if it runs; 0.0 otherwise."""
    script = attempt.pre if kind == "PRE" else attempt.post
    return script.started if script is not None and script.value is None else 0.0


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
    text = f"job {attempt.job} of {message(oldest.name)}{host}"
    evidence = (Evidence(facts.nodes_log, text, attempt.started),)
    yield Notice("job.running", Weight.NOTE, sentence, names, evidence)
