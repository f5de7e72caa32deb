"""The schedd's history: which of its jobs a DAGMan asks for, and what an ad of it says.

The schedd searches it backwards, so what matters is where it may stop.  A child of ours waits for
the answer: the bindings would wait for ever where a disk hangs, and what they need for the ads of a
long history they do not give back.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from condor_pydagman.adapters.ownership import ATTRIBUTES as OWNER
from condor_pydagman.adapters.ownership import Owners
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.records.ad_attributes import BEGUN
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED

FACTORY = "JobMaterializeDigestFile"  # in the ads of a late materialization
ATTRIBUTES = [
    "ClusterId",
    "ProcId",
    "DAGNodeName",
    "DAGManNodeRetry",
    "JobStatus",
    "ExitBySignal",
    "ExitCode",
    "ExitSignal",
    "TotalSubmitProcs",
    FACTORY,
    *OWNER,
]
_COMPLETED = 4  # JobStatus
# Clocks differ, and a schedd that was down lets completed jobs go when it is up again.
_SLACK = 3600  # seconds
PATIENCE = 300.0  # seconds for one answer
_BLOCK = 65536  # bytes


class Question(NamedTuple):
    """Which jobs of the history are asked for.

    Attributes:
        which: an expression that holds for them.
        since: one that holds for the job at which the search, going back, ends; None if it may not.
        owners: whose jobs they must be, whatever comes back.
    """

    which: str
    since: str | None
    owners: Owners


def wanted(cluster: int, own: Mapping[str, Any], owners: Owners) -> Question:
    """Which jobs of the history are a DAGMan's.  `own` has QDate and BEGUN of the DAGMan job's ad,
    as far as they are known.

    The job that ends the search must have left the queue before this run began.  Many stay in it
    for days when they have ended (LeaveJobInQueue, or somebody must fetch their output): those do
    not count.  Nor do those that were submitted after the DAGMan job: that they have ended before
    it shows that the clock was set back.  Nor do other people's: who may edit a job may turn its
    times back.
    """
    which, begun = f"DAGManJobId == {cluster} && {owners.clause}", own.get(BEGUN)
    if isinstance(begun, int):
        which += f" && QDate >= {begun}"
    born = begun if isinstance(begun, int) else own.get("QDate")
    if not isinstance(born, int):
        return Question(which, None, owners)
    at_once = f'JobStatus == {_COMPLETED} && unparse(LeaveJobInQueue) =?= "false"'
    before = f"ClusterId < {cluster} && EnteredCurrentStatus < {born - _SLACK}"
    return Question(which, f"{at_once} && {before} && {owners.clause}", owners)


def ask(schedd: Any, question: Question) -> list[EndedJob]:
    """What the history of a `htcondor2.Schedd` has of the jobs that are `wanted`.

    Raises:
        PoolError: it could not be asked, or has not answered within PATIENCE.
        OSError: no child can be had.
    """
    import json  # late: few DAGMans ever ask

    reader, writer = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no memory, too many processes: it is tried again
        os.close(reader)
        os.close(writer)
        raise
    if child == 0:
        try:
            os.close(reader)  # if DAGMan is killed, nobody reads any more
            with open(writer, "w", encoding="utf-8") as answer:
                json.dump(_answer(schedd, question), answer)
        finally:
            os._exit(0)
    os.close(writer)
    try:
        text = _read(reader, time.monotonic() + PATIENCE)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)  # it has nothing more to do
        os.waitpid(child, 0)
    try:
        reason, jobs = json.loads(text)
    except ValueError:
        reason, jobs = "its answer ends in the middle", []
    if reason:
        raise PoolError(reason, transient=True)
    return [EndedJob(*job) for job in jobs]


def _answer(schedd: Any, question: Question) -> tuple[str, list[EndedJob]]:
    try:
        ads = schedd.history(question.which, ATTRIBUTES, since=question.since)
        return "", ended([ad for ad in ads if question.owners.has(ad)])
    except Exception as error:  # of the bindings, or no memory: it is told, whatever it is
        return " ".join(str(error).split()) or type(error).__name__, []


def _read(reader: int, until: float) -> bytes:
    """All that comes before `until` (monotonic seconds)."""
    parts: list[bytes] = []
    ready = select.poll()  # scripts may have taken all numbers that `select` can hold
    ready.register(reader, select.POLLIN)
    while ready.poll(1000 * max(0.0, until - time.monotonic())):
        part = os.read(reader, _BLOCK)
        if not part:
            return b"".join(parts)
        parts.append(part)
    raise PoolError(f"no answer within {PATIENCE:.0f} s", transient=True)


def ended(ads: Sequence[Any]) -> list[EndedJob]:
    """The procs of nodes among them; also clusters of late materialization that have made all their
    procs, which have ended (proc -1, as in the queue)."""
    ads = [ad for ad in ads if "DAGNodeName" in ad]
    jobs = [_ended_job(ad) for ad in ads]
    found = Counter(job.cluster for job in jobs)
    clusters = {
        job.cluster: job._replace(proc=-1, value=0)
        for job, ad in zip(jobs, ads)
        if FACTORY in ad and found[job.cluster] == ad.get("TotalSubmitProcs")
    }
    return [*jobs, *clusters.values()]


def retry_of(ad: Mapping[str, Any]) -> int:
    """The retry number of its node that a job's ad names; 0 if it names none: a submit file can
    set it to anything."""
    retry = ad.get("DAGManNodeRetry")
    return retry if type(retry) is int else 0  # classad2's Undefined is a kind of int


def _ended_job(ad: Any) -> EndedJob:
    value = RETURN_JOB_ABORTED
    if ad.get("JobStatus") == _COMPLETED:
        by_signal = ad.get("ExitBySignal") is True
        value = -int(ad.get("ExitSignal", 1)) if by_signal else int(ad.get("ExitCode", 0))
    return EndedJob(
        int(ad["ClusterId"]),
        int(ad["ProcId"]),
        str(ad["DAGNodeName"]),
        retry_of(ad),
        value,
    )
