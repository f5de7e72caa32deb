"""The only user of the schedd: submits, removes, lists and edits jobs through the bindings.

Texts of the bindings' exceptions are turned into PoolError here.  A submit that failed in a way we
do not know counts as *unknown*: the schedd may have taken the job, so it is asked before another
try.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import classad2
import htcondor2

from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.errors import PoolError

_OWN_ATTRIBUTES = [
    "Owner",
    "DAGNodeName",
    "JobBatchId",
    "JobBatchName",
    "AcctGroup",
    "AcctGroupUser",
    "DAGManJobId",
    "DAGMan_MaxJobs",
    "DAGMan_MaxIdle",
    "DAGMan_MaxPreScripts",
    "DAGMan_MaxPostScripts",
    "DAGMan_MaxHoldScripts",
]

# What the bindings raise: their own class, and Python's for bad arguments.
_BINDINGS = (htcondor2.HTCondorException, OSError, RuntimeError, TypeError, ValueError)

_LEAVING = (3, 4)  # JobStatus of removed and completed jobs

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
        self._mine = f"DAGManJobId == {cluster}"
        self._schedd: Any = None
        self._warn = warn
        warnings.simplefilter("always")
        warnings.showwarning = self._show_warning

    def go_by_log(self, nodes_log: str) -> None:
        """Count jobs that write to this nodes log as ours too, whichever DAGMan submitted them.

        For recovery, and for a DAGMan that is no job.  A run with a new log knows nothing of them.
        """
        directory, base = os.path.split(nodes_log)
        plain = os.path.normpath(directory)
        spellings = dict.fromkeys((nodes_log, f"{plain}/{base}", f"{plain}/./{base}"))
        same = [f"DAGManNodesLog =?= {_quoted(path)}" for path in spellings]
        mine = [f"DAGManJobId == {self.cluster}"] if self.cluster else []
        self._mine = "(" + " || ".join(mine + same) + ")"

    def submit(self, text: str, directory: str) -> tuple[int, int]:
        """Submit a description as one cluster from `directory`; returns cluster and procs.

        Raises:
            PoolError: `transient` if nothing can be in the queue and asking again may help.
            LostReply: it is not known whether the schedd took it.
        """
        with _inside(directory):
            try:
                description = htcondor2.Submit(text)
            except _BINDINGS as error:
                raise PoolError(_reason(error), transient=False) from None
            try:
                result = self._located().submit(description)
            except _BINDINGS as error:
                self._schedd = None
                raise _submit_error(error) from None
        return int(result.cluster()), int(result.num_procs())

    def remove(self, reason: str, cluster: int = 0) -> None:
        """Remove one cluster of this DAG, or all its jobs.

        Raises:
            PoolError: the schedd could not be told.
        """
        which = f"ClusterId == {cluster} && {self._mine}" if cluster else self._mine
        with self._asking() as schedd:
            schedd.act(htcondor2.JobAction.Remove, which, (reason, 0))  # a bare text is dropped

    def jobs(self) -> list[QueuedJob]:
        """Every proc of this DAG in the queue.

        Raises:
            PoolError: the schedd could not be asked.
        """
        wanted = ["ClusterId", "ProcId", "DAGNodeName", "DAGManNodeRetry", "JobStatus"]
        with self._asking() as schedd:
            ads = schedd.query(constraint=self._mine, projection=wanted)
        return [
            QueuedJob(
                int(ad["ClusterId"]),
                int(ad["ProcId"]),
                str(ad.get("DAGNodeName", "")),
                int(ad.get("DAGManNodeRetry", 0)),
                leaving=int(ad.get("JobStatus", 0)) in _LEAVING,
            )
            for ad in ads
            if "ProcId" in ad
        ]

    def own_ad(self) -> dict[str, Any]:
        """What DAGMan wants to know of its own job ad; empty without a job.

        Raises:
            PoolError: the schedd could not be asked.
        """
        if not self.cluster:
            return {}
        with self._asking() as schedd:
            ads = schedd.query(
                constraint=f"ClusterId == {self.cluster}", projection=_OWN_ATTRIBUTES
            )
        return {name: _plain(ads[0].get(name)) for name in _OWN_ATTRIBUTES} if ads else {}

    def publish(self, attributes: Mapping[str, str]) -> None:
        """Set attributes (expression texts) in DAGMan's own job ad.

        Raises:
            PoolError: the schedd could not be told.
        """
        if not self.cluster:
            return
        with self._asking() as schedd:
            for name, value in attributes.items():
                schedd.edit(f"{self.cluster}.0", name, value, htcondor2.TransactionFlag.NonDurable)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Any]:
        try:
            yield self._located()
        except PoolError:
            raise
        except _BINDINGS as error:
            self._schedd = None  # it may have come back at another address
            raise PoolError(_reason(error), transient=True) from None

    def _located(self) -> Any:
        if self._schedd is None:
            try:
                self._schedd = htcondor2.Schedd()
            except _BINDINGS as error:
                raise PoolError(
                    f"can't locate the schedd: {_reason(error)}", transient=True
                ) from None
        return self._schedd

    def _show_warning(self, message: Warning | str, *_: Any, **__: Any) -> None:
        self._warn(str(message))


class LostReply(PoolError):
    """A submit whose reply did not come: the job may be in the queue or not."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, transient=True)


def _submit_error(error: Exception) -> PoolError:
    """What a failed submission means; what we can't read may have reached the queue."""
    reason = _reason(error)
    text = reason.lower()
    if any(phrase in text for phrase in _NOT_REACHED):
        return PoolError(reason, transient=True)
    if text.startswith(_REFUSED) or isinstance(error, (TypeError, ValueError)):
        return PoolError(reason, transient=False)
    return LostReply(reason)


@contextlib.contextmanager
def _inside(directory: str) -> Iterator[None]:
    """Work in a node's directory, as `DIR` says; the submit language has no other way."""
    if not directory:
        yield
        return
    home = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            os.chdir(directory)
        except OSError as error:
            raise PoolError(
                f"can't change into the node's directory {directory}: {error.strerror}",
                transient=True,
            ) from None
        yield
    finally:
        os.fchdir(home)
        os.close(home)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _plain(value: Any) -> Any:
    return None if isinstance(value, classad2.ExprTree) else value


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
