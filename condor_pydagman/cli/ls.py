"""`condor_pydagman ls`: one's own DAGs, in the queue, ended lately, and in this directory."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from typing import Any

from condor_pydagman.cli.dag_table import LISTED, show
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.monitor import ended_dags, schedd_queries
from condor_pydagman.monitor.found_dag import FoundDag, counts_of, find_dag, found_by_ad, started_in
from condor_pydagman.monitor.found_state import state_of_files
from condor_pydagman.monitor.queued_dags import queued_dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_ad import quoted
from condor_pydagman.records.progress_ad import VERSION, WAITS_FOR

MAX_ENDED = 10
WANTED = (*ended_dags.WANTED, *ended_dags.FOR_FILES, "DAG_AdUpdateTime", VERSION, WAITS_FOR)
_DESCRIPTION = """\
List your DAGs: those in the queue, those that ended recently, and those of this directory, found by
their files. For details of a DAG: condor_pydagman watch, explain, report, events."""
_NONE = (
    "you have no DAG in the queue, none that ended recently, and none in this directory;"
    " those of all users: condor_pydagman top -allusers"
)


class Row(NamedTuple):
    """One DAG."""

    cluster: int  # of DAGMan's job, 0 if not known
    state: str  # in words, with the exit code of one that has ended
    # nodes; `total` 0 if nothing tells
    done: int
    total: int
    failed: int
    since: float  # when it was submitted, or its log was written last; seconds since the epoch
    dag: str  # path of its first DAG file
    place: str  # `queue`, `history` or `directory`
    waits_for: tuple[str, ...] = ()  # what it waits for that DAGs share


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(subparsers, "ls", "list your DAGs", _DESCRIPTION, run)
    parser.add_argument(
        "--ended",
        type=integer(0, 10_000),
        default=MAX_ENDED,
        metavar="N",
        help=f"how many ended DAGs to list from the schedd's history (default: {MAX_ENDED})",
    )
    parser.add_argument("--subdags", action="store_true", help="list sub-DAGs as well")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(sort="", dag=None)


def run(arguments: argparse.Namespace) -> int:
    """Print the list; returns the exit code."""
    problem = ""
    try:
        rows = _of_schedd(arguments.ended, subdags=arguments.subdags)
    except PoolError as error:
        rows, problem = [], str(error)
    known = {os.path.abspath(row.dag) for row in rows}
    rows += [row for row in _of_directory() if os.path.abspath(row.dag) not in known]
    show(rows, LISTED, arguments, lambda: _NONE)
    if problem:
        say(
            f"condor_pydagman: {problem.rstrip('.')}; showing only the DAGs of this directory",
            error=True,
        )
    return 1 if problem else 0


def _of_schedd(most: int, *, subdags: bool) -> list[Row]:
    """Of the queue, then of the history; of runs of one DAG in the history, the newest."""
    own = f"Owner =?= {quoted(schedd_queries.user())}"
    own += "" if subdags else " && DAGManJobId is undefined"
    jobs = schedd_queries.ads_in_queue(f"{schedd_queries.IN_UNIVERSE} && {own}", WANTED, "", "")
    queued = sorted(filter(schedd_queries.is_dagman, jobs), key=lambda ad: int(ad["ClusterId"]))
    found = [(ad, "queue") for ad in queued]
    if most:
        dags = f"{schedd_queries.IS_DAGMAN} && {own}"
        ended = schedd_queries.ads_in_history(dags, WANTED, most, "", "")
        found += [(ad, "history") for ad in ended]
    rows: dict[str, Row] = {}
    for ad, place in found:
        row = _of_ad(ad, place)
        if row is not None and (place == "queue" or row.dag not in rows):
            rows[row.dag if place == "history" else f"{row.dag} {row.cluster}"] = row
    return list(rows.values())


def _of_ad(ad: Mapping[str, Any], place: str) -> Row | None:
    try:
        found = found_by_ad(ad)
        row = _row(found, counts_of(found), float(ad.get("QDate") or 0), place)
    except (PydagmanError, ValueError):
        return None
    names = queued_dag(ad).waits_for_names if place == "queue" else ""
    return row._replace(waits_for=tuple(names.split(", "))) if names else row


def _of_directory() -> Iterable[Row]:
    for name in started_in("."):
        try:
            found = find_dag(name, ask=False)
        except PydagmanError:
            continue
        files = state_of_files(found.paths)
        yield _row(found, files.counts, float(files.updated), "directory")


def _row(found: FoundDag, counts: Mapping[str, int], since: float, place: str) -> Row:
    state = found.state.value
    if found.exit_code:
        state += f" ({found.exit_code})"
    done, total, failed = (counts.get(name, 0) for name in ("done", "total", "failed"))
    return Row(found.cluster, state, done, total, failed, since, found.name, place)
