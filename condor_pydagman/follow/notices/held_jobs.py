"""Jobs on hold, by HoldReasonCode, those that condor_pydagman steer has held apart."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.follow.carriers import nodes_of
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import HELD, Facts, QueuedJob
from condor_pydagman.follow.notices.name_lists import nodes_named
from condor_pydagman.follow.run_model import DagState, NodeRun
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.words import duration

_BY_STEER = "(condor_pydagman steer)"  # in HoldReason
# How meanings begin that are about one job, and the same of several.
_OF_MANY = (
    ("it was ", "they were "),
    ("it ", "they "),
    ("its ", "their "),
    ("the job's ", "the jobs' "),
)
MAX_EXAMPLES = 3
MAX_JOBS = 5  # or nodes, in a command
_IN_QUEUE = (DagState.RUNNING, DagState.HALTED, DagState.HELD, DagState.INTERRUPTED, DagState.IDLE)


def held_job_notices(facts: Facts) -> list[Notice]:
    """One for each kind of hold; none of a DAG that has ended."""
    if facts.state not in _IN_QUEUE:
        return []
    groups: dict[tuple[int, bool], list[QueuedJob]] = {}
    for job in sorted(facts.held, key=_number):
        groups.setdefault((job.code, _BY_STEER in job.reason), []).append(job)
    return [
        _notice(code, jobs, facts, _release(code, jobs, facts, apart=(code, not steered) in groups))
        for (code, steered), jobs in groups.items()
    ]


def hold_advice(code: int, release: str, subcode: int = 0) -> tuple[str, ...]:
    """What can be done about jobs that are held for that reason, and that the command releases."""
    known = hold_code(code, subcode)
    advice = (known.advice, RELEASE if known.advice else RELEASE.replace("Then release", "Release"))
    jobs = release.partition(" ")[2]
    return tuple(text.format(jobs=jobs, release=release) for text in advice if text)


def logged_holds(nodes: Iterable[NodeRun]) -> Iterator[QueuedJob]:
    """The jobs of these nodes that are held, as the nodes log has it."""
    for node in nodes:
        for hold in node.attempts[-1].holds if node.attempts and node.attempts[-1].held else ():
            if not hold.released:
                yield QueuedJob(
                    hold.job, node.name, HELD, hold.time, hold.reason, hold.code, hold.subcode
                )


def _meaning(code: int, subcode: int, jobs: Sequence[QueuedJob]) -> str:
    if _BY_STEER in jobs[0].reason:
        return "someone used condor_pydagman steer hold"
    meaning = hold_code(code, subcode).meaning
    if len(jobs) > 1:
        for begin, of_many in _OF_MANY:
            if meaning.startswith(begin):
                return of_many + meaning[len(begin) :]
    return meaning


def _number(job: QueuedJob) -> tuple[int, ...]:
    return tuple(int(part) for part in job.job.split(".") if part.isdecimal())


def _nodes(jobs: Sequence[QueuedJob]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(job.node for job in jobs))


def _release(code: int, jobs: Sequence[QueuedJob], facts: Facts, *, apart: bool) -> str:
    """The command that releases these jobs, and no others; `apart`: of those with the same code
    some were held by steering and some were not."""
    nodes, steered = _nodes(jobs), _BY_STEER in jobs[0].reason
    if steered and facts.is_live and len(nodes) <= MAX_JOBS:
        return shlex.join(("condor_pydagman", "steer", "release", facts.name, *nodes))
    if len(jobs) <= MAX_JOBS or not facts.cluster:
        return f"condor_release {' '.join(job.job for job in jobs[:MAX_JOBS])}"
    which = f"DAGManJobId == {facts.cluster} && HoldReasonCode == {code}"
    if apart:
        which += f' && {"" if steered else "!"}regexp("[(]condor_pydagman steer[)]", HoldReason)'
    return f"condor_release -constraint '{which}'"


def _notice(code: int, jobs: Sequence[QueuedJob], facts: Facts, release: str) -> Notice:
    nodes = _nodes(jobs)
    subcode = jobs[0].subcode if len({job.subcode for job in jobs}) == 1 else 0
    oldest = min((job.since for job in jobs if job.since), default=0.0)
    held = f"{does(len(jobs), 'be')} held"
    if oldest:
        are = "has been held" if len(jobs) == 1 else "are held, the longest"
        held = f"{are} for {duration(facts.now - oldest)}"
    why = _meaning(code, subcode, jobs)
    sentence = (
        f"{number_of(len(jobs), 'job')} of {nodes_named(nodes)} {held}: {why}"
        f" (HoldReasonCode {code})."
    )
    all_nodes = tuple(one for name in nodes for one in nodes_of(facts.run, name))
    return Notice(
        "job.held",
        Weight.PROBLEM,
        sentence,
        all_nodes,
        tuple(_evidence(job, facts) for job in jobs[:MAX_EXAMPLES]),
        hold_advice(code, release, subcode),
        since=oldest,
        command=release,
        button="release" * (all_nodes == nodes),  # steering releases no job of several nodes
        awaited=f"held jobs of {number_of(len(all_nodes), 'node')} to be released",
    )


def _evidence(job: QueuedJob, facts: Facts) -> Evidence:
    text = f"job {job.job} of {message(job.node)}: {message(job.reason)}"
    return Evidence(facts.held_by, text, job.since)


class HoldCode(NamedTuple):
    """A value of HoldReasonCode: why jobs are held, and what can be done."""

    meaning: str
    advice: str = ""


RELEASE = "Then release them: {release}"
_OUTPUT = "Check the directory of `output`, `error` and `log` in the submit file: does it exist,"
_OUTPUT += " can the job's owner write there, is the disk full?"
_INPUT = "Check `input` and transfer_input_files in the submit file: does each file exist, can the"
_INPUT += " job's owner read it?"
_MEMORY = "The job used more than it requested: set request_memory (or request_disk, request_cpus)"
_MEMORY += " in the submit file for later attempts, and condor_qedit {jobs} RequestMemory N for"
_MEMORY += " these jobs."
_MORE_MEMORY = (
    "For jobs submitted later, let HTCondor run such a job again with more, in place of the hold:"
    " retry_request_memory_increase = RequestMemory * 2, with retry_request_memory_max = 16GB or"
    " so, in the submit file. For these jobs: condor_qedit {jobs} RequestMemory N, in MB."
)
_POLICY = "The expression in the reason became true: fix what it tests, or the expression."
_SUBSYSTEM = (
    "An administrator's policy holds such jobs: ask the administrator, or change what it tests."
)
_CREDENTIAL = "Make the credential valid again (condor_store_cred, or the token of the service)."

HOLD_CODES: dict[int, HoldCode] = {
    1: HoldCode("someone used condor_hold"),
    3: HoldCode("the job's policy (periodic_hold or on_exit_hold)", _POLICY),
    4: HoldCode("its credential is not valid", _CREDENTIAL),
    5: HoldCode("an expression of the job's policy is undefined", _POLICY),
    6: HoldCode(
        "its executable could not be started",
        "Check `executable` in the submit file: does the file exist on that machine, is it"
        " executable, does the interpreter in its first line exist?",
    ),
    7: HoldCode("its output file could not be opened", _OUTPUT),
    8: HoldCode("its input file could not be opened", _INPUT),
    9: HoldCode("its output stream could not be opened", _OUTPUT),
    10: HoldCode("its input stream could not be opened", _INPUT),
    12: HoldCode(
        "its output files could not be transferred",
        "Does the job create each file of transfer_output_files? " + _OUTPUT,
    ),
    13: HoldCode("its input files could not be transferred", _INPUT),
    14: HoldCode(
        "its initial directory is not accessible",
        "Check initialdir in the submit file, and DIR in the DAG file.",
    ),
    15: HoldCode("it was submitted on hold (hold = true)"),
    16: HoldCode("its input files are being spooled", "Wait until condor_submit -spool has ended."),
    20: HoldCode("the time of its deferred execution was missed", "Set deferral_window."),
    21: HoldCode("the machine's policy (WANT_HOLD)", _SUBSYSTEM),
    22: HoldCode("its log could not be opened", _OUTPUT),
    23: HoldCode("its owner has no usable account here"),
    26: HoldCode("the administrator's policy (SYSTEM_PERIODIC_HOLD)", _SUBSYSTEM),
    32: HoldCode("its input is larger than permitted", "See max_transfer_input_mb."),
    33: HoldCode("its output is larger than permitted", "See max_transfer_output_mb."),
    34: HoldCode("it used more resources than it was given", _MEMORY),
    35: HoldCode("its container image is not valid", "Check container_image or docker_image."),
    36: HoldCode("its checkpoint could not be transferred", "Check checkpoint_destination."),
    46: HoldCode("the container runtime of the machine does not work"),
    47: HoldCode("it took longer than allowed_job_duration", "Set a longer allowed_job_duration."),
    48: HoldCode(
        "it ran longer than allowed_execute_duration", "Set a longer allowed_execute_duration."
    ),
}


OUT_OF_MEMORY = ((21, 102), (34, 102))  # codes and subcodes of a machine's policy, and its kernel


def hold_code(code: int, subcode: int = 0) -> HoldCode:
    """What is known of a code."""
    if (code, subcode) in OUT_OF_MEMORY:
        return HoldCode("it used more memory than it was given", _MORE_MEMORY)
    return HOLD_CODES.get(code, HoldCode("see the reason"))
