"""All use of the schedd: submits, removes, lists and edits jobs through the bindings.

Exceptions of the bindings become a PoolError.  A submission that failed for a reason that is not
known here is LostReply: the schedd may have the job, so it is queried before another attempt.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters import descriptions, job_history
from condor_pydagman.adapters.bindings import limit_in
from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.adapters.files import working_directory
from condor_pydagman.adapters.job_history import FACTORY_ATTRIBUTE, USER_NOTES, is_shared, retry_of
from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.adapters.ownership import ATTRIBUTES as OWNER
from condor_pydagman.adapters.ownership import Ownership, first_proc
from condor_pydagman.adapters.schedd_requests import Listing, LostReply, QueueFull
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.records.own_ad import (
    ADDRESS,
    BEGUN,
    ENDED,
    HALTED,
    LEAVES,
    LEAVING,
    LIMITS,
    OWN_PACE,
    RUN_COUNT,
    quoted,
)
from condor_pydagman.vocabulary import ALL_PROCS, HELD_BY_DAGMAN, SECRETS

# Works around an error in the bindings' reference counting of None.
#
# Each `Schedd.submit` of the bindings (25.14), and some calls of `Schedd.act`, release one
# reference to None too many.  Python before 3.12 starts with about 5,000 references to None, and
# aborts the process when the count is 0: a DAG of so many jobs would never end.

EXTRA_REFERENCES = 1 << 30  # more than the bindings can release


def keep_none_alive() -> None:
    """Add EXTRA_REFERENCES to None's reference count; from Python 3.12 on it has more."""
    if sys.getrefcount(None) >= EXTRA_REFERENCES:
        return
    count = ctypes.c_ssize_t.from_address(id(None))  # the first field of every object
    # A Python that is built for debugging has other fields before it.
    if abs(count.value - sys.getrefcount(None)) < 100:
        count.value += EXTRA_REFERENCES


def schedd_version() -> str:
    """`$CondorVersion: ... $` of the schedd on this machine, from the file with its address; '' if
    there is none."""
    try:
        with open(lookup("SCHEDD_ADDRESS_FILE") or "", encoding="utf-8", errors="replace") as file:
            text = file.read(4096)
    except (OSError, ValueError):
        return ""
    return next((line for line in text.split("\n") if line.startswith("$CondorVersion:")), "")


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
    *LEAVING,
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
    "HoldReason",
    "HoldReasonCode",
    USER_NOTES,
    FACTORY_ATTRIBUTE,
    *OWNER,
]
_LEAVING = (3, 4)  # JobStatus of removed and completed jobs
_HELD, _BY_A_PERSON = 5, 1  # JobStatus; HoldReasonCode
# After the end of a job is logged, its JobStatus is still that of a running job until its shadow
# exits.
_NOT_COMPLETED = " && JobStatus =!= 4"
_JSON_TYPES = (bool, int, float, str)  # not classad2's Undefined, which is a kind of int
_ACTIVE = " && JobStatus =!= 1 && JobStatus =!= 3 && JobStatus =!= 5"  # not idle, removed, held

# Texts of errors after which no job is in the queue, and a retry may succeed.
_NOT_SENT = (
    "failed to connect",
    "unable to connect",
    "unable to locate",
    "failed to create new cluster",
    "expected next procid",
    "failed to send",
    "failed to authenticate",
    "authentication failed",
    "secman:",
)
# Beginnings of errors that say what is wrong with the description: a retry is no use.
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
# The schedd's own answer to a commit, after which stock does not try again either.  With code 0 it
# is a warning about jobs that the schedd has, and the end of its reply was lost.
_FORBIDDEN = re.compile(r"unable to commit transaction, schedd:-?[1-9]")


class ScheddAdapter:
    """The schedd of the access point, as used by one DAGMan.

    Args:
        cluster: cluster of the DAGMan job, 0 if it runs by hand.
        warn: called with the warnings of the bindings.
    """

    def __init__(self, cluster: int, warn: Callable[[str], None] = lambda text: None) -> None:
        self.cluster = cluster
        # whether submits produce the job's credentials (DAGMAN_PRODUCE_JOB_CREDENTIALS)
        self.credentials = True
        # `==` would let the schedd evaluate the rest of a constraint for each job of no DAG
        self._own_jobs = f"DAGManJobId =?= {cluster}"
        self._ownership = Ownership(cluster)
        self._schedd: Any = None
        self.warn = warn  # the same; it can be changed
        keep_none_alive()
        warnings.simplefilter("always")
        # Python 3.12 warns of forks if a library has started a thread; no user can act on it.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        warnings.showwarning = lambda message, *_, **__: self.warn(str(message))

    def memory(self) -> list[Any]:
        """The state of this object, for `remember`; of types that JSON has."""
        return [self._own_jobs, self._ownership.memory()]

    def remember(self, memory: list[Any]) -> None:
        """Take over the state of another adapter of the same DAGMan, in another process."""
        self._own_jobs, ownership = memory
        self._ownership.remember(ownership)

    def select_by_log(self, nodes_log: str) -> None:
        """Select also jobs that write to this nodes log, whichever DAGMan submitted them.

        For recovery, and for a DAGMan that runs by hand.  A run with a new log ignores such jobs.
        """
        directory, base = os.path.split(nodes_log)
        plain = os.path.normpath(directory)
        spellings = dict.fromkeys((nodes_log, f"{plain}/{base}", f"{plain}/./{base}"))
        same = [f"DAGManNodesLog =?= {quoted(path)}" for path in spellings]
        mine = [f"DAGManJobId =?= {self.cluster}"] if self.cluster else []
        self._own_jobs = "(" + " || ".join(mine + same) + ")"

    def submit(
        self, text: str, directory: str, inspect: Callable[[Any], None] = lambda description: None
    ) -> tuple[int, int]:
        """Submit a description as one cluster from `directory`; returns cluster and procs.

        Before that, in `directory`, `inspect` is called with what the bindings have made of it;
        its exceptions end the attempt.

        Procs are 0 with late materialization (manual: "Submitting Lots of Jobs"): only the nodes
        log shows how many there are; event 036 is the end of the cluster.

        Raises:
            PoolError: `transient` if no job is in the queue and a retry may succeed.
            LostReply: it is unknown whether the schedd has the jobs.
        """
        with _node_directory(directory), _secret_hidden():
            description = descriptions.parse(text)
            inspect(description)
            descriptions.check_heard_of(description, self.cluster)
            if self.credentials:
                _issue_credentials(description)
            try:
                result = descriptions.submit(self._connect(), description, text)
            except BINDINGS as error:
                self._schedd = None
                raise _submit_error(error, description, self.cluster) from None
        late = descriptions.materializes_late(description)
        return int(result.cluster()), 0 if late else int(result.num_procs())

    def procs_of(self, text: str, directory: str) -> int:
        """How many procs a description makes; nothing is submitted.

        Raises:
            PoolError: the description is wrong, or `directory` can't be entered.
        """
        with _node_directory(directory):
            description = descriptions.parse(text)
            try:
                return descriptions.procs_of(description)
            except BINDINGS as error:
                raise PoolError(reason_of(error), transient=False) from None

    def removable(
        self, cluster: int = 0, *, spare_services: bool = False, proc: int = ALL_PROCS
    ) -> list[QueuedJob]:
        """Jobs that `remove` with the same arguments would remove and that seem to run.

        A job stays in the queue for a while after its end has been logged.  If it is removed then,
        an ABORTED event follows its end, and the history has no end of it.  So the caller of
        `remove` finds out which of these jobs have ended, and excludes them.

        Raises:
            PoolError: the schedd did not answer.
        """
        with self._connection() as schedd:
            which = self._removal_constraint(schedd, (cluster, proc), spare_services)
            return [_queued_job(ad) for ad in schedd.query(which + _ACTIVE, projection=_QUEUED)]

    def remove(
        self,
        reason: str,
        cluster: int = 0,
        *,
        spare_services: bool = False,
        ended: Iterable[tuple[int, int]] = (),
        proc: int = ALL_PROCS,
        force: bool = False,
    ) -> None:
        """Remove one cluster of this DAG or one proc of it, or all its jobs, with `spare_services`
        except those of SERVICE nodes.

        `ended`: cluster and proc of jobs that are excluded, see `removable`.
        `force`: of those that are being removed, whatever removes them has not answered; they leave
        the queue all the same, as by `condor_rm -forcex`.

        Raises:
            PoolError: the schedd did not answer.
        """
        with self._connection() as schedd:
            target = cluster, proc
            which = self._removal_constraint(schedd, target, spare_services) + _exclude(ended)
            action = htcondor2.JobAction.RemoveX if force else htcondor2.JobAction.Remove
            # The bindings ignore a reason without a code.
            schedd.act(action, which, (reason, 0))

    def hold(self, cluster: int, proc: int, reason: str, *, release: bool = False) -> None:
        """Put jobs of this DAG on hold, or release them; those that are so already stay so.

        `cluster`: 0 for DAGMan's own job.

        Raises:
            PoolError: the schedd did not answer.
        """
        if not (cluster or self.cluster):
            return  # DAGMan runs by hand: there is no job
        action = htcondor2.JobAction.Release if release else htcondor2.JobAction.Hold
        with self._connection() as schedd:
            which, subcode = f"ClusterId == {self.cluster}", HELD_BY_DAGMAN
            if cluster:
                subcode = 0
                which = self._removal_constraint(schedd, (cluster, proc), False)
            schedd.act(action, which, reason if release else (reason, subcode))

    def prioritize(self, priority: int, jobs: Sequence[tuple[int, int]]) -> None:
        """Give jobs of this DAG, by cluster and proc or ALL_PROCS, another JobPrio; those that have
        left the queue are passed over.

        Raises:
            PoolError: the schedd did not answer.
        """
        clusters = ",".join(str(cluster) for cluster, proc in jobs if proc == ALL_PROCS)
        which = [f"member(ClusterId, {{{clusters}}})"] if clusters else []
        which += [f"ClusterId == {c} && ProcId == {p}" for c, p in jobs if p != ALL_PROCS]
        with self._connection() as schedd:
            owners = self._ownership.owners(schedd).clause
            mine = f"({' || '.join(which)}) && {self._own_jobs}{_NOT_COMPLETED} && {owners}"
            schedd.edit(mine, "JobPrio", str(priority))

    def _removal_constraint(
        self, schedd: Any, target: tuple[int, int], spare_services: bool
    ) -> str:
        cluster, proc = target
        which = f"ClusterId == {cluster} && {self._own_jobs}" if cluster else self._own_jobs
        if proc != ALL_PROCS:
            which += f" && ProcId == {proc}"
        which += _NOT_COMPLETED
        if spare_services:
            which += " && DAGLifetimeJob =!= True"
        return f"{which} && {self._ownership.owners(schedd).clause}"

    def listing(self) -> Listing:
        """Every proc of this DAG in the queue, and clusters that still materialize procs (proc -1);
        and the limits in DAGMan's own ad, by the same query, as each goes through the whole queue.

        Jobs of an earlier DAGMan job that are leaving the queue were removed together with it: they
        are returned without a node's name, so that only the log can assign them to a node.

        Raises:
            PoolError: the schedd did not answer.
        """
        with self._connection() as schedd:
            owners = self._ownership.owners(schedd)
            clusters_too = htcondor2.QueryOpts.IncludeClusterAd
            which = f"{self._own_jobs} && {owners.clause}"
            if self.cluster:
                which = f"ClusterId =?= {self.cluster} || {which}"
            wanted = [*_QUEUED, *LIMITS]
            ads = schedd.query(constraint=which, projection=wanted, opts=clusters_too)
        procs = [ad for ad in ads if "ProcId" in ad or FACTORY_ATTRIBUTE in ad]
        own = next((ad for ad in procs if ad["ClusterId"] == self.cluster), None)
        jobs = [self._queued(ad) for ad in procs if ad is not own and owners.has(ad)]
        return Listing(jobs, limits={} if own is None else _literals(own, LIMITS))

    def _queued(self, ad: Any) -> QueuedJob:
        job = _queued_job(ad)
        others = job.leaving and ad.get("DAGManJobId") != self.cluster
        return job._replace(node="") if others else job

    def ended_jobs(self) -> list[EndedJob]:
        """Every proc of this DAGMan job's run that has left the queue, by the schedd's history.

        May take very long; `job_history.Patience` decides what follows an error.

        Raises:
            PoolError: the schedd did not answer, or refused.
        """
        if not self.cluster:
            return []
        with self._connection() as schedd:
            owners = self._ownership.owners(schedd)
            own = first_proc(schedd, self.cluster, ["QDate", BEGUN]) or {}
            query = job_history.history_query(self.cluster, own, owners)
            return job_history.search(schedd, query)

    def own_ad(self) -> dict[str, Any]:
        """The attributes of DAGMan's own job ad that it uses; empty without a job.

        Raises:
            PoolError: the schedd did not answer.
        """
        ad = self._ad(self.cluster, _OWN_ATTRIBUTES)
        if ad is not None and LEAVES in ad:
            ended = classad2.ClassAd()  # without what has changed since, JobRunCount for example
            for name in LEAVING:
                if name in ad:
                    ended[name] = ad.lookup(name)
            ad[LEAVES] = ended.eval(LEAVES)
        return {} if ad is None else _literals(ad, _OWN_ATTRIBUTES)

    def own_expressions(self, names: Iterable[str]) -> dict[str, str]:
        """Attributes of DAGMan's own ad as texts of expressions; those that it lacks are left out.

        Raises:
            PoolError: the schedd did not answer.
        """
        wanted = list(names)
        ad = self._ad(self.cluster, wanted) if wanted else None
        return {} if ad is None else {name: str(ad.lookup(name)) for name in wanted if name in ad}

    def attribute(self, cluster: int, name: str) -> Any:
        """One attribute of the first proc of a cluster of this DAG: a number, truth value or text.

        None if the proc or the attribute does not exist, or has a value that JSON does not know.

        Raises:
            PoolError: the schedd did not answer.
        """
        with self._connection() as schedd:
            ours = f" && {self._ownership.owners(schedd).clause}"
            ad = first_proc(schedd, cluster, [name], ours)
        value = ad.eval(name) if ad is not None and name in ad else None
        return value if type(value) in _JSON_TYPES else None

    def publish(self, attributes: Mapping[str, str], *, durable: bool = False) -> None:
        """Set attributes (texts of expressions) in DAGMan's own job ad.

        `durable`: returns when they are on the schedd's disk.

        Raises:
            PoolError: the schedd did not answer.
        """
        if not self.cluster:
            return
        flag = htcondor2.TransactionFlag
        how = flag.Default if durable else flag.NonDurable
        with self._connection() as schedd:
            for name, value in attributes.items():
                schedd.edit(f"{self.cluster}.0", name, value, how)

    def _ad(self, cluster: int, names: list[str]) -> Any:
        """Some attributes of a cluster's first proc; None if it is not in the queue."""
        if not cluster:
            return None
        with self._connection() as schedd:
            return first_proc(schedd, cluster, names)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[Any]:
        try:
            yield self._connect()
        except PoolError:
            raise
        except BINDINGS as error:
            self._schedd = None  # it may have restarted at another address
            raise PoolError(reason_of(error), transient=True) from None

    def _connect(self) -> Any:
        if self._schedd is None:
            try:
                self._schedd = htcondor2.Schedd()
            except BINDINGS as error:
                raise PoolError(
                    f"can't locate the schedd: {reason_of(error)}", transient=True
                ) from None
        return self._schedd


def _queued_job(ad: Any) -> QueuedJob:
    """A job of the queue, with the node's name in its ad."""
    is_held = ad.get("JobStatus") == _HELD and ad.get("HoldReasonCode") != _BY_A_PERSON
    return QueuedJob(
        int(ad["ClusterId"]),
        int(ad.get("ProcId", -1)),
        str(ad.get("DAGNodeName", "")),
        retry_of(ad),
        leaving=int(ad.get("JobStatus", 0)) in _LEAVING,
        shared=is_shared(ad),
        hold=str(ad.get("HoldReason", "?")) if is_held else "",
    )


def _exclude(jobs: Iterable[tuple[int, int]]) -> str:
    """The addition to a constraint that excludes these jobs; they are few, as they are leaving."""
    procs: dict[int, list[int]] = {}
    for cluster, proc in jobs:
        procs.setdefault(cluster, []).append(proc)
    which = " || ".join(
        f"ClusterId == {cluster} && member(ProcId, {{{', '.join(map(str, listed))}}})"
        for cluster, listed in procs.items()
    )
    return f" && ({which}) =!= True" if which else ""  # undefined for the ad of a cluster


def _issue_credentials(description: Any) -> None:
    """Give the credd the credentials that the description asks for; usually none."""
    try:
        url = description.issue_credentials()
    except BINDINGS as error:
        reason = f"Failed to produce job credentials: {reason_of(error)}"
        raise PoolError(reason, transient=False) from None
    if url:
        raise PoolError(
            f"Failed to submit job(s) due to credential setup. Please visit: {url}", transient=True
        )


def _submit_error(error: Exception, description: Any = None, dagman: int = 0) -> PoolError:
    """The PoolError for a failed submission; LostReply if the text is unknown."""
    reason = reason_of(error)
    knob = limit_in(reason)
    if knob:
        return _over_limit(reason, knob, description, dagman)
    text = reason.lower()
    if any(phrase in text for phrase in _NOT_SENT):
        return PoolError(reason, transient=True)
    refused = text.startswith(_REFUSED) or _FORBIDDEN.match(text)
    if refused or isinstance(error, (TypeError, ValueError)):
        return PoolError(reason, transient=False)
    return LostReply(reason)


def _over_limit(reason: str, knob: str, description: Any, dagman: int) -> PoolError:
    """Other jobs may leave the queue, but a submission has as many jobs the next time, and job
    `dagman`, if there is one, stays."""
    reason = f"more jobs than the schedd's {knob} allows: {reason}"
    if knob == "MAX_JOBS_PER_SUBMISSION":
        return PoolError(reason, transient=False)
    limit = lookup(knob) or ""
    if limit.isdigit() and descriptions.procs_of(description) + bool(dagman) > int(limit):
        return PoolError(f"a node of {reason}; the limit is {limit}", transient=False)
    return QueueFull(reason)


@contextlib.contextmanager
def _node_directory(directory: str) -> Iterator[None]:
    """Change into a node's directory (`DIR`); the submit language has no command for that."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(working_directory(directory))
        except OSError as error:
            raise PoolError(
                f"can't change into the node's directory {directory}: {error.strerror}",
                transient=True,
            ) from None
        yield


@contextlib.contextmanager
def _secret_hidden() -> Iterator[None]:
    """Hide the secret in the environment: `getenv = True` in a submit file would copy it into the
    job's ad, which every user can read.  (Stock DAGMan discloses its secret so.)"""
    hidden = {name: os.environ.pop(name) for name in SECRETS if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _literals(ad: Any, names: Iterable[str]) -> dict[str, Any]:
    """Values of attributes; None for expressions, lists, undefined and errors (the bindings have
    the latter as numbers)."""
    values = {name: ad.get(name) for name in names}
    return {name: value if type(value) in _JSON_TYPES else None for name, value in values.items()}
