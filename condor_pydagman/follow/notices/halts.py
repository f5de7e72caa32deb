"""A DAG that is halted, that something has ended, or whose DAGMan is held."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.held_jobs import hold_code
from condor_pydagman.follow.notices.known import HaltedBy, Known
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


def halted_by(known: Known) -> HaltedBy | None:
    """The first feature that has halted or ended the DAG; None if none has."""
    used = feature_table.used_in(known.dag, known.run)
    found = (ask(known) for ask in feature_table.told("shown", "halted_by", used))
    return next((one for one in found if one is not None), None)


def halt_notices(known: Known) -> Iterator[Notice]:
    """What keeps the whole DAG from going on, or has ended it."""
    if known.state is DagState.HELD:
        yield _held(known)
    if known.state is DagState.IDLE and cool_down_left(known.ad, known.now):
        yield _cooling_down(known)
    if known.run.cancelled_by and (known.is_live or known.state is DagState.REMOVED):
        yield _cancelled(known)
    elif known.state is DagState.REMOVED:
        yield _removed(known)
    elif known.run.removed and known.is_live:
        yield _ending(known)
    if known.is_halted and not (known.run.cancelled_by or known.run.removed):
        yield _halted(known)
    elif known.run.ended and known.run.halted and known.state in _ENDED:
        yield _ended_halted(known)
    if known.run.aborted:
        yield _aborted(known)


def cool_down_left(ad: Mapping[str, Any], now: float) -> float:
    """Seconds until the schedd may start once more a DAGMan that has ended."""
    return max(number_in(ad.get(_COOL_DOWN)) - now, 0.0)


def _cooling_down(known: Known) -> Notice:
    left = cool_down_left(known.ad, known.now)
    sentence = (
        f"DAGMan's job {known.cluster} waits for the schedd's cool-down, which ends in"
        f" {duration(left)}; then DAGMan goes on. The jobs of its nodes continue."
    )
    why = "by SCHEDULER_UNIVERSE_COOL_DOWN_DURATION, after a hold, a restart or an error"
    evidence = Evidence(f"{_COOL_DOWN} of job {known.cluster}", why, known.now + left)
    return Notice("dagman.idle", Weight.WAITING, sentence, evidence=(evidence,))


def _held(known: Known) -> Notice:
    hold = known.hold
    code = int(number_in(known.ad.get("HoldReasonCode"))) or (hold.code if hold else 0)
    subcode = int(number_in(known.ad.get("HoldReasonSubCode"))) or (hold.subcode if hold else 0)
    itself = "DAGMan has put it on hold itself" * (subcode == HELD_BY_DAGMAN)
    reason = str(known.ad.get("HoldReason") or (hold.reason if hold else ""))
    since = number_in(known.ad.get("EnteredCurrentStatus")) or (hold.time if hold else 0.0)
    held = f"has been held for {duration(known.now - since)}" if since else "is held"
    sentence = (
        f"DAGMan's job {known.cluster} {held}, so the DAG is stopped:"
        f" {itself or hold_code(code).meaning} (HoldReasonCode {code})."
    )
    evidence = (Evidence(f"HoldReason of job {known.cluster}", message(reason), since),)
    command = f"condor_release {known.cluster}"
    advice, left = (f"To continue: {command}",), cool_down_left(known.ad, known.now)
    if left >= 1.0:
        advice = (
            f"{advice[0]}; the schedd starts DAGMan in {duration(left)}, after its cool-down",
        )
    return Notice(
        "dagman.held", Weight.PROBLEM, sentence, (), evidence, advice, since=since, command=command
    )


def _ending(known: Known) -> Notice:
    """A removal that DAGMan has not done with."""
    sentence = f"DAGMan's job was removed (condor_rm): DAGMan {_progress_of_end(known)}."
    evidence = (Evidence(known.out, "Received SIGUSR1", known.run.removed_at or known.run.last),)
    return Notice("dagman.removed", Weight.PROBLEM, sentence, (), evidence)


def _removed(known: Known) -> Notice:
    run = known.run
    reason = message(str(known.ad.get("RemoveReason") or known.removed_because))
    when = known.left or run.ended
    if reason or run.removed or known.ad.get("JobStatus") == _REMOVED:
        why = f": {reason}" if reason else " (condor_rm)"
        sentence = f"DAGMan's job was removed{why}; DAGMan removed the jobs of its nodes"
        sentence += f"{_why_success(known)}."
        source = f"{known.name}.dagman.log" if known.left else known.out
        if "RemoveReason" in known.ad:
            source = f"RemoveReason of job {known.cluster}"
        evidence = Evidence(source, reason or "Received SIGUSR1", when)
    else:  # by a command, or by an error at the start
        sentence = "DAGMan ended the DAG before its end; it removed the jobs of its nodes."
        said = "" if run.exit_code is None else f"exit code {run.exit_code}"
        evidence = Evidence(known.out, said, when)
    return Notice("dagman.removed", Weight.PROBLEM, sentence, (), (evidence,), since=when)


def _cancelled(known: Known) -> Notice:
    by = message(known.run.cancelled_by)
    how_far = f"has removed the jobs of its nodes{_why_success(known)}"
    how_far = _progress_of_end(known) if known.is_live else how_far
    sentence = f"User {by} ended the DAG (condor_pydagman steer cancel-all): DAGMan {how_far}."
    at = known.run.removed_at
    evidence = (Evidence(known.out, f"{by} asks for the DAG: cancel-all", at),)
    return Notice("dagman.removed", Weight.PROBLEM, sentence, (), evidence, since=at)


def _why_success(known: Known) -> str:
    """Why a DAG that was removed has ended with exit code 0; '' if it has not."""
    has_final = known.dag is None or known.dag.of_kind(NodeKind.FINAL)
    is_success = has_final and known.run.exit_code == 0
    return "; the exit code 0 is that of the FINAL node" if is_success else ""


def _progress_of_end(known: Known) -> str:
    """How far a DAGMan that is to end has come, and what still runs."""
    last = dict(_last_nodes(known))
    others = [name for name in known.run.in_queue if name not in last]
    if not (last or others):
        final = "after the FINAL node if there is one"
        return f"has removed the jobs of its nodes and is ending, {final}"
    done = "is removing the jobs of its nodes" if others else "has removed the jobs of other nodes"
    running = [nodes_named(others)] if others else []
    running += [f"{kind} {nodes_named([name])}" for name, kind in last.items()]
    return f"{done} and is ending; still in the queue or at a script: {', '.join(running)}"


def _last_nodes(known: Known) -> Iterator[tuple[str, str]]:
    """The FINAL and SERVICE nodes that have begun and not ended, with their kinds."""
    dag = known.dag
    if dag is None:
        return
    for kind in (NodeKind.FINAL, NodeKind.SERVICE):
        for name in (logged_name(dag.names[number]) for number in dag.of_kind(kind)):
            run = known.run.nodes.get(name)
            if run is not None and run.status in _BUSY:
                yield name, kind.name


def _halted(known: Known) -> Notice:
    begun, by = _begun(known), halted_by(known)
    halted = f"has been halted for {duration(known.now - begun)}" if begun else "is halted"
    person = f" by user {message(_halter(known))} (condor_pydagman steer halt)"
    sentence = (
        f"The DAG {halted}{person * bool(_halter(known))}: jobs in the queue continue, but DAGMan"
        f" submits no new ones.{_end_to_come(known)}"
    )
    command, button = _what_resumes(known)
    to = "To resume it"
    if button and not _halter(known):
        to = f"It was halted by {by.what if by is not None else 'a command'}; to resume it"
    to += ", when its job is released" * bool(button and known.state is DagState.HELD)
    advice = f"{to}: {command}" if command else ""
    if button and not known.is_live:
        command = button = ""
    return Notice(
        "dag.halted",
        Weight.PROBLEM,
        sentence,
        evidence=_why_halted(known, by),
        advice=(advice,) if advice else (),
        since=begun,
        command=command,
        button=button,
        awaited="the DAG to be resumed",
    )


def _halter(known: Known) -> str:
    """Who has halted it by condor_pydagman steer; '' if nobody has."""
    return known.run.halts[-1].by if known.run.halted else ""


def _what_resumes(known: Known) -> tuple[str, str]:
    """A command, and the command of steering that does the same, if one does."""
    steer = f"condor_pydagman steer resume {shlex.quote(known.name)}" * bool(_halter(known))
    if known.has_halt_file:
        remove = f"rm {shlex.quote(known.halt_file)}"
        return (f"{remove} && {steer}" if steer else remove), ""
    command = steer or f"htcondor dag resume {known.cluster}" * bool(known.cluster)
    return command, "resume" if command else ""


def _end_to_come(known: Known) -> str:
    """What becomes of a DAG that nobody resumes."""
    if known.state is DagState.HELD:
        return " That stays so when DAGMan's job is released."
    if not known.to_start or (known.run.halts and known.run.halts[-1].paused):
        return ""
    if known.dag is not None and known.dag.of_kind(NodeKind.FINAL):
        return " If nobody resumes it before these have ended, DAGMan runs the FINAL node and ends."
    return " If nobody resumes it before these have ended, the DAG fails (exit code 1)."


def _ended_halted(known: Known) -> Notice:
    by = halted_by(known)
    person = f"User {message(_halter(known))} halted the DAG (condor_pydagman steer halt)"
    subject = person if _halter(known) else "The DAG was halted"
    subject = f"{by.named} halted the DAG" if by is not None else subject
    sentence = f"{subject}, and DAGMan ended when nothing was left to wait for"
    by_final = known.state is DagState.SUCCEEDED
    sentence += f"{'; the exit code is that of the FINAL node' * by_final}."
    file = known.has_halt_file
    command = f"rm {shlex.quote(known.halt_file)}" if file else ""
    return Notice(
        "dag.halted",
        Weight.PROBLEM,
        sentence,
        evidence=_why_halted(known, by),
        advice=(f"To resume it: {command}",) if file else (),
        since=_begun(known),
        command=command,
    )


def _begun(known: Known) -> float:
    return known.run.halts[-1].begun if known.run.halted else 0.0


def _why_halted(known: Known, by: HaltedBy | None) -> tuple[Evidence, ...]:
    reason = message(known.run.halts[-1].reason) if known.run.halted else ""
    said = f"Halt reason: {reason}" if reason else "the DAG is halted"
    file = (Evidence(known.halt_file, "exists"),) if known.has_halt_file else ()
    begun = Evidence(known.out, said, _begun(known))
    return (*(by.evidence if by is not None else ()), begun, *file)


def _aborted(known: Known) -> Notice:
    said, by = message(known.run.aborted), halted_by(known)
    sentence = f"A node ended the DAG by ABORT-DAG-ON: {said}."
    if by is not None and by.ends:
        sentence = f"{capitalized(by.what)} ended the DAG: {said}."
    advice: tuple[str, ...] = ()
    code = known.run.exit_code or 0
    if code > MAX_FINAL_EXIT_CODE:
        sentence += f" DAGMan ended with exit code {code}, and the schedd starts it again."
        advice = (
            f"The schedd does so after each exit code above {MAX_FINAL_EXIT_CODE}: condor_rm"
            f" {known.cluster or 'its job'}, and use RETURN {MAX_FINAL_EXIT_CODE - 1} on failure.",
        )
    evidence = (
        Evidence(known.out, said, known.run.ended),
        *(by.evidence if by is not None else ()),
    )
    return Notice(
        "dag.aborted", Weight.PROBLEM, sentence, (), evidence, advice, since=known.run.ended
    )


def number_in(value: object) -> float:
    """A value of an ad as a number, 0.0 if it is none."""
    return float(value) if isinstance(value, (int, float)) else 0.0
