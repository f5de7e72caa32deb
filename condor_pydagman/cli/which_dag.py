"""The argument by which commands are told which DAG is meant."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from condor_pydagman.errors import PoolError, UsageError
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor.found_dag import (
    FoundDag,
    find_dag,
    find_here,
    found_by_ad,
    started_in,
)
from condor_pydagman.monitor.schedd_queries import my_dagman_ads


def add_dag_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument `dag`."""
    parser.add_argument(
        "dag",
        nargs="?",
        metavar="DAG",
        help="the first DAG file of the submission, or the cluster of DAGMan's job (default: the"
        " only DAG of this directory)",
    )


def chosen_dag(dag: str | None, *, ask: bool = True) -> FoundDag:
    """The DAG that the argument means.

    Args:
        ask: whether the schedd is asked for its job.

    Raises:
        PydagmanError: there is none, or more than one.
    """
    return find_here(ask=ask) if dag is None else find_dag(dag, ask=ask)


def running_dag(dag: str | None) -> str:
    """Path of the first DAG file of the DAG that the argument means, for those who ask its DAGMan.

    Raises:
        PydagmanError: there is none, or more than one; or it is on hold; or the DAGMan job named
            has ended, and what is asked would change another run.
    """
    found = chosen_dag(dag)
    if found.state is DagState.HELD:
        release = f"takes no commands; to continue: condor_release {found.cluster}"
        raise UsageError(f"DAGMan's job {found.cluster} is on hold, and {release}")
    if found.ad and os.geteuid() == 0 and found.run_by[0] != _uid_of(found.ad):
        raise UsageError(
            f"DAGMan's job {found.cluster} names files of another user than its own"
            f" {found.ad.get('Owner')}: name the DAG file"
        )
    if found.ended and found.ad:
        raise UsageError(f"DAGMan's job {found.cluster} has ended; name the DAG file {found.name}")
    return found.paths.primary


def _uid_of(ad: Mapping[str, Any]) -> int:
    """Whose job it is; -1 if this machine does not know."""
    import pwd

    try:
        return pwd.getpwnam(str(ad.get("Owner", ""))).pw_uid
    except KeyError:
        return -1


def my_dags() -> list[FoundDag]:
    """One's own DAGs that are in the queue, sub-DAGs left out; those that run in this directory if
    the schedd does not answer, or has none.

    Raises:
        UsageError: there is none.
    """
    problem = ""
    try:
        ads = [ad for ad in my_dagman_ads() if "DAGManJobId" not in ad]
    except PoolError as error:
        ads, problem = [], f" ({error})"
    found = [found_by_ad(ad) for ad in ads]
    if not found:
        here = [find_dag(name, ask=False) for name in started_in(".")]
        found = [dag for dag in here if dag.is_live]
    if not found:
        raise UsageError(
            f"you have no DAG in the queue{problem}, and none is running in this directory;"
            " condor_pydagman ls lists those that have ended"
        )
    return found
