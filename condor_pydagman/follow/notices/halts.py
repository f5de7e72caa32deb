"""A DAG that is halted, that something has ended, or whose DAGMan is held."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts, HaltedBy
from condor_pydagman.follow.notices.held_jobs import hold_code
from condor_pydagman.follow.notices.name_lists import capitalized, nodes_named
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import HELD_BY_DAGMAN, MAX_FINAL_EXIT_CODE, NodeKind, NodeStatus
from condor_pydagman.words import duration

_REMOVED = 3  # JobStatus
_COOL_DOWN = "JobCoolDownExpiration"
_BUSY = (NodeStatus.PRERUN, NodeStatus.SUBMITTED, NodeStatus.POSTRUN)
_ENDED = (DagState.FAILED, DagState.SUCCEEDED)


def halted_by(facts: Facts) -> HaltedBy | None:
    """The first feature that has halted or ended the DAG; None if none has."""
    used = feature_table.used_in(facts.dag, facts.run)
    found = (ask(facts) for ask in feature_table.told("shown", "halted_by", used))
    return next((one for one in found if one is not None), None)


def halt_notices(facts: Facts) -> Iterator[Notice]:
    """What keeps the whole DAG from going on, or has ended it."""
    if facts.state is DagState.HELD:
        yield _held(facts)
    if facts.state is DagState.IDLE and cool_down_left(facts.ad, facts.now):
        yield _cooling_down(facts)
    if facts.run.cancelled_by and (facts.is_live or facts.state is DagState.REMOVED):
        yield _cancelled(facts)
    elif facts.state is DagState.REMOVED:
        yield _removed(facts)
    elif facts.run.removed and facts.is_live:
        yield _ending(facts)
    if facts.is_halted and not (facts.run.cancelled_by or facts.run.removed):
        yield _halted(facts)
    elif facts.run.ended and facts.run.halted and facts.state in _ENDED:
        yield _ended_halted(facts)
    if facts.run.aborted:
        yield _aborted(facts)


def cool_down_left(ad: Mapping[str, Any], now: float) -> float:
    """Seconds until the schedd may start once more a DAGMan that has ended."""
    return max(number_in(ad.get(_COOL_DOWN)) - now, 0.0)


def _cooling_down(facts: Facts) -> Notice:
    left = cool_down_left(facts.ad, facts.now)
    sentence = (
        f"DAGMan's job {facts.cluster} waits for the schedd's cool-down, which ends in"
        f" {duration(left)}; then DAGMan goes on. The jobs of its nodes continue."
    )
    why = "by SCHEDULER_UNIVERSE_COOL_DOWN_DURATION, after a hold, a restart or an error"
    evidence = Evidence(f"{_COOL_DOWN} of job {facts.cluster}", why, facts.now + left)
    return Notice("dagman.idle", Weight.WAITING, sentence, evidence=(evidence,))


def _held(facts: Facts) -> Notice:
    hold = facts.dagman_job.hold
    code = int(number_in(facts.ad.get("HoldReasonCode"))) or (hold.code if hold else 0)
    subcode = int(number_in(facts.ad.get("HoldReasonSubCode"))) or (hold.subcode if hold else 0)
    itself = "DAGMan has put it on hold itself" * (subcode == HELD_BY_DAGMAN)
    reason = str(facts.ad.get("HoldReason") or (hold.reason if hold else ""))
    since = number_in(facts.ad.get("EnteredCurrentStatus")) or (hold.time if hold else 0.0)
    held = f"has been held for {duration(facts.now - since)}" if since else "is held"
    sentence = (
        f"DAGMan's job {facts.cluster} {held}, so the DAG is stopped:"
        f" {itself or hold_code(code).meaning} (HoldReasonCode {code})."
    )
    evidence = (Evidence(f"HoldReason of job {facts.cluster}", message(reason), since),)
    command = f"condor_release {facts.cluster}"
    advice, left = (f"To continue: {command}",), cool_down_left(facts.ad, facts.now)
    if left >= 1.0:
        advice = (
            f"{advice[0]}; the schedd starts DAGMan in {duration(left)}, after its cool-down",
        )
    return Notice(
        "dagman.held", Weight.PROBLEM, sentence, (), evidence, advice, since=since, command=command
    )


def _ending(facts: Facts) -> Notice:
    """A removal that DAGMan has not done with."""
    sentence = f"DAGMan's job was removed (condor_rm): DAGMan {_progress_of_end(facts)}."
    evidence = (Evidence(facts.out, "Received SIGUSR1", facts.run.removed_at),)
    return Notice("dagman.removed", Weight.PROBLEM, sentence, (), evidence)


def _removed(facts: Facts) -> Notice:
    run = facts.run
    reason = message(str(facts.ad.get("RemoveReason") or facts.dagman_job.removed))
    when = facts.dagman_job.left or run.ended
    if reason or run.removed or facts.ad.get("JobStatus") == _REMOVED:
        why = f": {reason}" if reason else " (condor_rm)"
        sentence = f"DAGMan's job was removed{why}; DAGMan removed the jobs of its nodes"
        sentence += f"{_why_success(facts)}."
        source = f"{facts.name}.dagman.log" if facts.dagman_job.left else facts.out
        if "RemoveReason" in facts.ad:
            source = f"RemoveReason of job {facts.cluster}"
        evidence = Evidence(source, reason or "Received SIGUSR1", when)
    else:  # by a command, or by an error at the start
        sentence = "DAGMan ended the DAG before its end; it removed the jobs of its nodes."
        said = "" if run.exit_code is None else f"exit code {run.exit_code}"
        evidence = Evidence(facts.out, said, when)
    return Notice("dagman.removed", Weight.PROBLEM, sentence, (), (evidence,), since=when)


def _cancelled(facts: Facts) -> Notice:
    by = message(facts.run.cancelled_by)
    how_far = f"has removed the jobs of its nodes{_why_success(facts)}"
    how_far = _progress_of_end(facts) if facts.is_live else how_far
    sentence = f"User {by} ended the DAG (condor_pydagman steer cancel-all): DAGMan {how_far}."
    at = facts.run.removed_at
    evidence = (Evidence(facts.out, f"{by} asks for the DAG: cancel-all", at),)
    return Notice("dagman.removed", Weight.PROBLEM, sentence, (), evidence, since=at)


def _why_success(facts: Facts) -> str:
    """Why a DAG that was removed has ended with exit code 0; '' if it has not."""
    has_final = facts.dag is None or facts.dag.of_kind(NodeKind.FINAL)
    is_success = has_final and facts.run.exit_code == 0
    return "; the exit code 0 is that of the FINAL node" if is_success else ""


def _progress_of_end(facts: Facts) -> str:
    """How far a DAGMan that is to end has come, and what still runs."""
    last = dict(_last_nodes(facts))
    others = [name for name in facts.run.in_queue if name not in last]
    if not (last or others):
        final = "after the FINAL node if there is one"
        return f"has removed the jobs of its nodes and is ending, {final}"
    done = "is removing the jobs of its nodes" if others else "has removed the jobs of other nodes"
    running = [nodes_named(others)] if others else []
    running += [f"{kind} {nodes_named([name])}" for name, kind in last.items()]
    return f"{done} and is ending; still in the queue or at a script: {', '.join(running)}"


def _last_nodes(facts: Facts) -> Iterator[tuple[str, str]]:
    """The FINAL and SERVICE nodes that have begun and not ended, with their kinds."""
    dag = facts.dag
    if dag is None:
        return
    for kind in (NodeKind.FINAL, NodeKind.SERVICE):
        for name in (logged_name(dag.names[number]) for number in dag.of_kind(kind)):
            run = facts.run.nodes.get(name)
            if run is not None and run.status in _BUSY:
                yield name, kind.name


def _halted(facts: Facts) -> Notice:
    begun, by = _begun(facts), halted_by(facts)
    halted = f"has been halted for {duration(facts.now - begun)}" if begun else "is halted"
    person = f" by user {message(_halter(facts))} (condor_pydagman steer halt)"
    sentence = (
        f"The DAG {halted}{person * bool(_halter(facts))}: jobs in the queue continue, but DAGMan"
        f" submits no new ones.{_end_to_come(facts)}"
    )
    command, button = _what_resumes(facts)
    to = "To resume it"
    if button and not _halter(facts):
        to = f"It was halted by {by.what if by is not None else 'a command'}; to resume it"
    to += ", when its job is released" * bool(button and facts.state is DagState.HELD)
    advice = f"{to}: {command}" if command else ""
    if button and not facts.is_live:
        command = button = ""
    return Notice(
        "dag.halted",
        Weight.PROBLEM,
        sentence,
        evidence=_why_halted(facts, by),
        advice=(advice,) if advice else (),
        since=begun,
        command=command,
        button=button,
        awaited="the DAG to be resumed",
    )


def _halter(facts: Facts) -> str:
    """Who has halted it by condor_pydagman steer; '' if nobody has."""
    return facts.run.halts[-1].by if facts.run.halted else ""


def _what_resumes(facts: Facts) -> tuple[str, str]:
    """A command, and the command of steering that does the same, if one does."""
    steer = f"condor_pydagman steer resume {shlex.quote(facts.name)}" * bool(_halter(facts))
    if facts.has_halt_file:
        remove = f"rm {shlex.quote(facts.halt_file)}"
        return (f"{remove} && {steer}" if steer else remove), ""
    command = steer or f"htcondor dag resume {facts.cluster}" * bool(facts.cluster)
    return command, "resume" if command else ""


def _end_to_come(facts: Facts) -> str:
    """What becomes of a DAG that nobody resumes."""
    if facts.state is DagState.HELD:
        return " That stays so when DAGMan's job is released."
    if not facts.to_start or (facts.run.halts and facts.run.halts[-1].paused):
        return ""
    if facts.dag is not None and facts.dag.of_kind(NodeKind.FINAL):
        return " If nobody resumes it before these have ended, DAGMan runs the FINAL node and ends."
    return " If nobody resumes it before these have ended, the DAG fails (exit code 1)."


def _ended_halted(facts: Facts) -> Notice:
    by = halted_by(facts)
    person = f"User {message(_halter(facts))} halted the DAG (condor_pydagman steer halt)"
    subject = person if _halter(facts) else "The DAG was halted"
    subject = f"{by.named} halted the DAG" if by is not None else subject
    sentence = f"{subject}, and DAGMan ended when nothing was left to wait for"
    by_final = facts.state is DagState.SUCCEEDED
    sentence += f"{'; the exit code is that of the FINAL node' * by_final}."
    file = facts.has_halt_file
    command = f"rm {shlex.quote(facts.halt_file)}" if file else ""
    return Notice(
        "dag.halted",
        Weight.PROBLEM,
        sentence,
        evidence=_why_halted(facts, by),
        advice=(f"To resume it: {command}",) if file else (),
        since=_begun(facts),
        command=command,
    )


def _begun(facts: Facts) -> float:
    return facts.run.halts[-1].begun if facts.run.halted else 0.0


def _why_halted(facts: Facts, by: HaltedBy | None) -> tuple[Evidence, ...]:
    reason = message(facts.run.halts[-1].reason) if facts.run.halted else ""
    said = f"Halt reason: {reason}" if reason else "the DAG is halted"
    file = (Evidence(facts.halt_file, "exists"),) if facts.has_halt_file else ()
    begun = Evidence(facts.out, said, _begun(facts))
    return (*(by.evidence if by is not None else ()), begun, *file)


def _aborted(facts: Facts) -> Notice:
    said, by = message(facts.run.aborted), halted_by(facts)
    sentence = f"A node ended the DAG by ABORT-DAG-ON: {said}."
    if by is not None and by.ends:
        sentence = f"{capitalized(by.what)} ended the DAG: {said}."
    advice: tuple[str, ...] = ()
    code = facts.run.exit_code or 0
    if code > MAX_FINAL_EXIT_CODE:
        sentence += f" DAGMan ended with exit code {code}, and the schedd starts it again."
        advice = (
            f"The schedd does so after each exit code above {MAX_FINAL_EXIT_CODE}: condor_rm"
            f" {facts.cluster or 'its job'}, and use RETURN {MAX_FINAL_EXIT_CODE - 1} on failure.",
        )
    evidence = (
        Evidence(facts.out, said, facts.run.ended),
        *(by.evidence if by is not None else ()),
    )
    return Notice(
        "dag.aborted", Weight.PROBLEM, sentence, (), evidence, advice, since=facts.run.ended
    )


def number_in(value: object) -> float:
    """A value of an ad as a number, 0.0 if it is none."""
    return float(value) if isinstance(value, (int, float)) else 0.0
