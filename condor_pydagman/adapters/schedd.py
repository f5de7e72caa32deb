"""The only user of the schedd: submits, removes, lists and edits jobs through the bindings.

Texts of the bindings' exceptions are turned into PoolError here.  A submit that failed in a way we
do not know counts as *unknown*: the schedd may have taken the job, so it is asked before another
try.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters import descriptions, job_history
from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.adapters.files import inside
from condor_pydagman.adapters.job_history import FACTORY, retry_of
from condor_pydagman.adapters.ownership import ATTRIBUTES as OWNER
from condor_pydagman.adapters.ownership import Ownership
from condor_pydagman.adapters.steady_none import keep_none_alive
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.records.ad_attributes import (
    ADDRESS,
    BEGUN,
    ENDED,
    EXIT_BY_SIGNAL,
    EXIT_CODE,
    HALTED,
    LIMITS,
    OWN_PACE,
    RUN_COUNT,
    quoted,
)
from condor_pydagman.vocabulary import SECRETS

_OWN_ATTRIBUTES = [
    "Owner",
    "DAGNodeName",
    "JobBatchId",
    "JobBatchName",
    "AcctGroup",
    "AcctGroupUser",
    "DAGManJobId",
    "DAG_Status",
    ADDRESS,
    HALTED,
    ENDED,
    BEGUN,
    RUN_COUNT,
    EXIT_CODE,
    EXIT_BY_SIGNAL,
    *LIMITS,
    OWN_PACE,
]

_QUEUED = [
    "ClusterId",
    "ProcId",
    "DAGManJobId",
    "DAGNodeName",
    "DAGManNodeRetry",
    "JobStatus",
    FACTORY,
    *OWNER,
]
HISTORY_TRIES = 5  # then the run goes on without it
_NO_HISTORY = ("HISTORY undefined", "has been disabled", "DENIED")  # the administrator's will
_LEAVING = (3, 4)  # JobStatus of removed and completed jobs
# Of a job whose end has been logged, JobStatus is that of a running one until its shadow has left.
_NOT_COMPLETED = " && JobStatus =!= 4"
_ACTIVE = " && JobStatus =!= 1 && JobStatus =!= 3 && JobStatus =!= 5"  # not idle, removed, held

# Phrases with which nothing can have reached the queue, and asking again may help.
_NOT_REACHED = (
    "failed to connect",
    "unable to connect",
    "unable to locate",
    "failed to create new cluster",
    "failed to send",
    "failed to authenticate",
    "authentication failed",
    "secman:",
)
# How texts begin that say what is wrong with the description: asking again is no use.
_REFUSED = (
    "failed to create job ad",
    "failed to create a cluster ad",
    "failed to append queue statement",
    "failed to make submit digest",
    "parse error",
    "error",
    "invalid",
    "submit:",
    "can't open",
    "no '",
)


class ScheddAdapter:
    """The access point's schedd, seen by one DAGMan.

    Args:
        cluster: cluster of the DAGMan job, 0 if it runs by hand.
        warn: told what the submit language has to complain about.
    """

    def __init__(self, cluster: int, warn: Callable[[str], None] = lambda text: None) -> None:
        self.cluster = cluster
        self.credentials = True  # DAGMAN_PRODUCE_JOB_CREDENTIALS
        self._mine = f"DAGManJobId == {cluster}"
        self._ownership = Ownership(cluster)
        self._schedd: Any = None
        self._history_tries = 0
        self._warn = warn
        keep_none_alive()
        warnings.simplefilter("always")
        warnings.showwarning = self._show_warning

    def go_by_log(self, nodes_log: str) -> None:
        """Count jobs that write to this nodes log as ours too, whichever DAGMan submitted them.

        For recovery, and for a DAGMan that is no job.  A run with a new log knows nothing of them.
        """
        directory, base = os.path.split(nodes_log)
        plain = os.path.normpath(directory)
        spellings = dict.fromkeys((nodes_log, f"{plain}/{base}", f"{plain}/./{base}"))
        same = [f"DAGManNodesLog =?= {quoted(path)}" for path in spellings]
        mine = [f"DAGManJobId == {self.cluster}"] if self.cluster else []
        self._mine = "(" + " || ".join(mine + same) + ")"

    def submit(
        self, text: str, directory: str, look: Callable[[Any], None] = lambda description: None
    ) -> tuple[int, int]:
        """Submit a description as one cluster from `directory`; returns cluster and procs.

        `look` is given what the bindings make of it before anything is submitted, in `directory`;
        what it raises ends the attempt.

        Procs are 0 with late materialization (manual: "Submitting Lots of Jobs"): how many there
        are now, the nodes log alone says; event 036 tells of the cluster's end.

        Raises:
            PoolError: `transient` if nothing can be in the queue and asking again may help.
            LostReply: it is not known whether the schedd took it.
        """
        with _inside(directory), _secret_hidden():
            description = descriptions.parsed(text)
            look(description)
            if self.credentials:
                _issue_credentials(description)
            try:
                result = descriptions.submitted(self._located(), description, text)
            except BINDINGS as error:
                self._schedd = None
                raise _submit_error(error) from None
        late = descriptions.materializes_late(description)
        return int(result.cluster()), 0 if late else int(result.num_procs())

    def procs_of(self, text: str, directory: str) -> int:
        """How many procs a description makes; nothing is submitted.

        Raises:
            PoolError: the description is wrong, or `directory` can't be entered.
        """
        with _inside(directory):
            description = descriptions.parsed(text)
            try:
                return descriptions.procs_of(description)
            except BINDINGS as error:
                raise PoolError(reason_of(error), transient=False) from None

    def remove(
        self,
        reason: str,
        cluster: int = 0,
        *,
        spare_services: bool = False,
        ended: Callable[[list[QueuedJob]], list[QueuedJob]] = lambda jobs: [],
    ) -> None:
        """Remove one cluster of this DAG, or all its jobs, those of SERVICE nodes if need be not.

        A job stays in the queue for a while after its end has been logged.  Removed then, it would
        count as a removed one: an ABORTED event behind its end, and no end in the history.  So
        `ended` is shown what may be such jobs, and says which of them are.

        Raises:
            PoolError: the schedd could not be told.
        """
        which = f"ClusterId == {cluster} && {self._mine}" if cluster else self._mine
        which += _NOT_COMPLETED
        if spare_services:
            which += " && DAGLifetimeJob =!= True"
        with self._asking() as schedd:
            which += f" && {self._ownership.owners(schedd).clause}"
            active = schedd.query(constraint=which + _ACTIVE, projection=_QUEUED)
            which += _without(ended([_named(ad) for ad in active]))
            schedd.act(htcondor2.JobAction.Remove, which, (reason, 0))  # a bare text is dropped

    def jobs(self) -> list[QueuedJob]:
        """Every proc of this DAG in the queue, and clusters that go on making some (proc -1).

        What an earlier DAGMan job submitted and is leaving was removed with that: it counts for no
        node, unless the log says so.

        Raises:
            PoolError: the schedd could not be asked.
        """
        with self._asking() as schedd:
            owners = self._ownership.owners(schedd)
            clusters_too = htcondor2.QueryOpts.IncludeClusterAd
            which = f"{self._mine} && {owners.clause}"
            ads = schedd.query(constraint=which, projection=_QUEUED, opts=clusters_too)
        ours = (ad for ad in ads if owners.has(ad))
        return [self._queued(ad) for ad in ours if "ProcId" in ad or FACTORY in ad]

    def _queued(self, ad: Any) -> QueuedJob:
        job = _named(ad)
        others = job.leaving and ad.get("DAGManJobId") != self.cluster
        return job._replace(node="") if others else job

    def ended_jobs(self) -> list[EndedJob]:
        """Every proc of this DAGMan job's run that has left the queue, by the schedd's history.

        Empty, and a warning, if the schedd will not tell: an administrator may have forbidden it.

        Raises:
            PoolError: it could not be asked, not oftener than HISTORY_TRIES times in a row.
        """
        if not self.cluster:
            return []
        with self._asking() as schedd:
            owners = self._ownership.owners(schedd)
        self._history_tries += 1
        try:
            with self._asking() as schedd:
                own = schedd.query(f"ClusterId == {self.cluster}", projection=["QDate", BEGUN])
                question = job_history.wanted(self.cluster, own[0] if own else {}, owners)
                jobs = job_history.ask(schedd, question)
        except PoolError as error:
            for_good = any(phrase in error.reason for phrase in _NO_HISTORY)
            if self._history_tries < HISTORY_TRIES and not for_good:
                raise
            self._warn(f"can't ask for the schedd's history ({error}); going by log and queue")
            return []
        self._history_tries = 0
        return jobs

    def own_ad(self) -> dict[str, Any]:
        """What DAGMan wants to know of its own job ad; empty without a job.

        Raises:
            PoolError: the schedd could not be asked.
        """
        ad = self._ad(self.cluster, _OWN_ATTRIBUTES)
        return {} if ad is None else {name: _plain(ad.get(name)) for name in _OWN_ATTRIBUTES}

    def own_expressions(self, names: Iterable[str]) -> dict[str, str]:
        """Attributes of our own ad as texts of expressions; those it does not have are left out.

        Raises:
            PoolError: the schedd could not be asked.
        """
        wanted = list(names)
        ad = self._ad(self.cluster, wanted) if wanted else None
        return {} if ad is None else {name: str(ad.lookup(name)) for name in wanted if name in ad}

    def wanted_limits(self) -> dict[str, int]:
        """The DAGMan_Max* that our own ad has now: a user may have edited them while we run.

        Raises:
            PoolError: the schedd could not be asked.
        """
        ad = self._ad(self.cluster, list(LIMITS))
        found = {name: _plain(ad.get(name)) for name in LIMITS} if ad is not None else {}
        return {name: value for name, value in found.items() if _is_limit(value)}

    def attribute(self, cluster: int, name: str) -> Any:
        """One attribute of the first proc of a cluster of ours; None if that is gone or lacks it.

        Raises:
            PoolError: the schedd could not be asked.
        """
        with self._asking() as schedd:
            ours = self._ownership.owners(schedd).clause
        ad = self._ad(cluster, [name], ours)
        value = ad.eval(name) if ad is not None and name in ad else None
        return None if isinstance(value, classad2.Value) else value  # Undefined, Error

    def publish(self, attributes: Mapping[str, str], *, durable: bool = False) -> None:
        """Set attributes (expression texts) in DAGMan's own job ad; `durable`: on the disk.

        Raises:
            PoolError: the schedd could not be told.
        """
        if not self.cluster:
            return
        flag = htcondor2.TransactionFlag
        how = flag.Default if durable else flag.NonDurable
        with self._asking() as schedd:
            for name, value in attributes.items():
                schedd.edit(f"{self.cluster}.0", name, value, how)

    def _ad(self, cluster: int, names: list[str], which: str = "true") -> Any:
        """Some attributes of a cluster's first proc; None if it is not in the queue."""
        if not cluster:
            return None
        constraint = f"ClusterId == {cluster} && ProcId == 0 && {which}"
        with self._asking() as schedd:
            ads = schedd.query(constraint=constraint, projection=names)
        return ads[0] if ads else None

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Any]:
        try:
            yield self._located()
        except PoolError:
            raise
        except BINDINGS as error:
            self._schedd = None  # it may have come back at another address
            raise PoolError(reason_of(error), transient=True) from None

    def _located(self) -> Any:
        if self._schedd is None:
            try:
                self._schedd = htcondor2.Schedd()
            except BINDINGS as error:
                raise PoolError(
                    f"can't locate the schedd: {reason_of(error)}", transient=True
                ) from None
        return self._schedd

    def _show_warning(self, message: Warning | str, *_: Any, **__: Any) -> None:
        self._warn(str(message))


class LostReply(PoolError):
    """A submit whose reply did not come: the job may be in the queue or not."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, transient=True)


def _named(ad: Any) -> QueuedJob:
    """A job of the queue under the name that its ad gives it."""
    return QueuedJob(
        int(ad["ClusterId"]),
        int(ad.get("ProcId", -1)),
        str(ad.get("DAGNodeName", "")),
        retry_of(ad),
        leaving=int(ad.get("JobStatus", 0)) in _LEAVING,
    )


def _without(jobs: Iterable[QueuedJob]) -> str:
    """What a constraint must add to leave out these jobs; they are few, as they are leaving."""
    procs: dict[int, list[int]] = {}
    for job in jobs:
        procs.setdefault(job.cluster, []).append(job.proc)
    which = " || ".join(
        f"ClusterId == {cluster} && member(ProcId, {{{', '.join(map(str, listed))}}})"
        for cluster, listed in procs.items()
    )
    return f" && ({which}) =!= True" if which else ""  # undefined for the ad of a cluster


def _is_limit(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _issue_credentials(description: Any) -> None:
    """Hand over to the credd what the description asks for; mostly that is nothing."""
    try:
        url = description.issue_credentials()
    except BINDINGS as error:
        reason = f"Failed to produce job credentials: {reason_of(error)}"
        raise PoolError(reason, transient=False) from None
    if url:
        raise PoolError(
            f"Failed to submit job(s) due to credential setup. Please visit: {url}", transient=True
        )


def _submit_error(error: Exception) -> PoolError:
    """What a failed submission means; what we can't read may have reached the queue."""
    reason = reason_of(error)
    text = reason.lower()
    if any(phrase in text for phrase in _NOT_REACHED):
        return PoolError(reason, transient=True)
    if text.startswith(_REFUSED) or isinstance(error, (TypeError, ValueError)):
        return PoolError(reason, transient=False)
    return LostReply(reason)


def _inside(directory: str) -> AbstractContextManager[None]:
    """Work in a node's directory, as `DIR` says; the submit language has no other way."""
    return _entered(directory) if directory else _HERE


_HERE: AbstractContextManager[None] = contextlib.nullcontext()


@contextlib.contextmanager
def _entered(directory: str) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(inside(directory))
        except OSError as error:
            raise PoolError(
                f"can't change into the node's directory {directory}: {error.strerror}",
                transient=True,
            ) from None
        yield


@contextlib.contextmanager
def _secret_hidden() -> Iterator[None]:
    """Within, the environment is without the secret: `getenv = True` in a submit file copies it
    into the job's ad, which everybody may read.  (Stock DAGMan gives its own away so.)"""
    hidden = {name: os.environ.pop(name) for name in SECRETS if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _plain(value: Any) -> Any:
    return None if isinstance(value, classad2.ExprTree) else value
