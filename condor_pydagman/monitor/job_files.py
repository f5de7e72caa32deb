"""Where the jobs of a node write their output: by their ads, or by the submit description as it is
now.

The ads tell what was submitted; they can be had as long as the schedd has them in its queue or its
history.  A node's job in a bundle has none of its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

from condor_pydagman.adapters.files import working_directory
from condor_pydagman.adapters.foreign_texts import read
from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.node_descriptions import description_of
from condor_pydagman.named_tuple import NamedTuple

_ATTRIBUTES = (
    *("ClusterId", "ProcId", "Iwd", "Out", "Err", "UserLog", "StreamOut", "StreamErr"),
    *("ShouldTransferFiles", "DAGNodeName"),
)
_READER = "condor_pydagman.adapters.described_jobs:files"
_COMMANDS = ("output", "error", "log")
_NAMES = ("initialdir", "should_transfer_files", *_COMMANDS, *(f"stream_{n}" for n in _COMMANDS))
_SHAPE = [dict.fromkeys(_NAMES, str)]
_TIMES = {"SUBMIT_TIME": "%s", "YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}
_TRUE = ("true", "yes", "t", "y", "1")


class JobFiles(NamedTuple):
    """What one job writes."""

    job: str  # `CLUSTER.PROC`
    files: dict[str, str]  # absolute paths, by `output`, `error` and `log`; those that it has
    # which of them come home while it runs, though its files are transferred
    streamed: tuple[str, ...] = ()
    # whether its files are transferred: YES, NO, or IF_NEEDED if that is only known where it runs
    transfers: str = "IF_NEEDED"

    def comes_at_end(self, kind: str) -> bool:
        """Whether nothing of this file can be here before the job has ended."""
        return self.transfers == "YES" and kind not in ("log", *self.streamed)


def by_ads(attempt: Attempt, node: str) -> list[JobFiles]:
    """By the ads of an attempt's jobs; [] if it has none of its own, or the schedd none of them.

    Args:
        node: its name.

    Raises:
        PoolError: the schedd does not answer.
    """
    if attempt.is_part or not attempt.cluster or not attempt.procs:
        return []
    ads = schedd_queries.jobs_of_node(
        attempt.cluster, attempt.proc, attempt.procs, _ATTRIBUTES, attempt.submitted
    )
    return sorted((_of_ad(ad) for ad in ads if schedd_queries.is_job_of(ad, node)), key=_number)


def by_description(
    found: FoundDag, dag: Dag, node: int, attempt: Attempt | None, *, most: int = 1
) -> list[JobFiles]:
    """By the node's submit description as it is now: of the first `most` jobs of an attempt.  []
    if it can't be read.

    Only for a process of one thread that depends on the working directory.

    Args:
        attempt: None if the node has not been started.
    """
    known = attempt or Attempt(0)
    most = max(1, min(known.procs, most))
    try:
        with working_directory(os.path.join(found.directory, dag.directories.get(node, ""))):
            described = description_of(dag, node, attempt.number if attempt else 0, found)
            macros = _of_submission(known)
            files = read(_READER, described, macros, known.proc, most, shape=_SHAPE)
            return [_described(known.cluster, known.proc + n, one) for n, one in enumerate(files)]
    except (PydagmanError, OSError):
        return []


def _of_ad(ad: Any) -> JobFiles:
    files = {}
    for kind, name in zip(_COMMANDS, ("Out", "Err", "UserLog")):
        path = str(ad.get(name) or "")
        if path not in ("", os.devnull):
            files[kind] = os.path.join(str(ad.get("Iwd", "")), path)
    streamed = (("output", "StreamOut"), ("error", "StreamErr"))
    return JobFiles(
        f"{ad['ClusterId']}.{ad['ProcId']}",
        files,
        tuple(kind for kind, name in streamed if ad.get(name) is True),
        str(ad.get("ShouldTransferFiles", "IF_NEEDED")),
    )


def _number(job: JobFiles) -> int:
    return int(job.job.partition(".")[2])


def _described(cluster: int, proc: int, said: dict[str, str]) -> JobFiles:
    """By the values of submit commands; paths are from the working directory."""
    paths = ((kind, said[kind]) for kind in _COMMANDS)
    return JobFiles(
        f"{cluster}.{proc}",
        {
            kind: os.path.abspath(os.path.join(said["initialdir"], path))
            for kind, path in paths
            if path not in ("", os.devnull)
        },
        tuple(kind for kind in _COMMANDS if said[f"stream_{kind}"].strip().lower() in _TRUE),
        said["should_transfer_files"].upper() or "IF_NEEDED",
    )


def _of_submission(attempt: Attempt) -> dict[str, str]:
    """The macros of an attempt's submission, as far as they are known."""
    macros = dict.fromkeys(("Cluster", "ClusterId"), str(attempt.cluster))
    if attempt.submitted:
        moment = time.localtime(attempt.submitted)
        macros |= {name: time.strftime(form, moment) for name, form in _TIMES.items()}
    return macros


def same_files(jobs: Iterable[JobFiles], kind: str) -> dict[str, list[JobFiles]]:
    """The jobs by the path of this file; jobs that have none are left out."""
    found: dict[str, list[JobFiles]] = {}
    for one in jobs:
        if kind in one.files:
            found.setdefault(one.files[kind], []).append(one)
    return found
