"""`condor_pydagman ls`: one's own DAGs, in the queue, ended lately, and in this directory."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.cli.text_table import fitted
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_dag import (
    FoundDag,
    counts_of,
    find_dag,
    found_by_ad,
    started_in,
)
from condor_pydagman.monitor.found_state import state_of_files
from condor_pydagman.monitor.outside_facts import waits_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable
from condor_pydagman.words import duration

VERSION = 1  # of the JSON form, in which fields are only added
MAX_ENDED = 10
_DESCRIPTION = """\
List your DAGs: those in the queue, those that ended recently, and those of this directory, found by
their files. For details of a DAG: condor_pydagman watch, explain, report, events."""
_COLUMNS = ("JOB", "STATE", "DONE", "FAILED", "AGE", "DAG")


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


def run(arguments: argparse.Namespace) -> int:
    """Print the list; returns the exit code."""
    problem = ""
    try:
        rows = _of_schedd(arguments.ended, subdags=arguments.subdags)
    except PoolError as error:
        rows, problem = [], str(error)
    waits = waits_of([row.cluster for row in rows if row.place == "queue"])
    rows = [row._replace(waits_for=waits.get(row.cluster, ())) for row in rows]
    known = {os.path.abspath(row.dag) for row in rows}
    rows += [row for row in _of_directory() if os.path.abspath(row.dag) not in known]
    if arguments.json:
        for row in rows:
            print(as_json(row))
    else:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        say(*_table(rows, time.time(), width))
    if problem:
        say(
            f"condor_pydagman: {problem.rstrip('.')}; showing only the DAGs of this directory",
            error=True,
        )
    return 1 if problem else 0


def as_json(row: Row) -> str:
    """A row as one line of JSON."""
    return json.dumps({"v": VERSION, **row._asdict()})


def _of_schedd(most: int, *, subdags: bool) -> list[Row]:
    """Of the queue, then of the history; of runs of one DAG in the history, the newest."""
    found = [(ad, "queue") for ad in schedd_queries.my_dagman_ads()]
    found += [(ad, "history") for ad in (schedd_queries.my_ended_dagman_ads(most) if most else [])]
    rows: dict[str, Row] = {}
    for ad, place in found:
        if subdags or "DAGManJobId" not in ad:
            row = _of_ad(ad, place)
            if row is not None and (place == "queue" or row.dag not in rows):
                rows[row.dag if place == "history" else f"{row.dag} {row.cluster}"] = row
    return list(rows.values())


def _of_ad(ad: Mapping[str, Any], place: str) -> Row | None:
    try:
        found = found_by_ad(ad)
        return _row(found, counts_of(found), float(ad.get("QDate") or 0), place)
    except (PydagmanError, ValueError):
        return None


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


def _table(rows: Sequence[Row], now: float, width: int = 0) -> list[str]:
    """The lines; paths are cut at their begin to fit into `width` columns, 0 for any."""
    if not rows:
        return [
            "you have no DAG in the queue, none that ended recently, and none in this directory;"
            " those of all users: condor_pydagman top -allusers"
        ]
    cells = [_COLUMNS]
    for row in rows:
        done = f"{row.done}/{row.total}" if row.total else "-"
        age = duration(now - row.since) if row.since else "-"
        failed = str(row.failed) if row.total else "-"
        job = str(row.cluster) if row.cluster else "-"
        waits = f", waiting for {', '.join(dict.fromkeys(row.waits_for))}" if row.waits_for else ""
        # the FINAL node, or ABORT-DAG-ON, may make any DAG succeed
        hides = row.state == DagState.SUCCEEDED.value and row.failed
        state = f"{row.state}{', although nodes failed' if hides else ''}{waits}"
        cells.append((job, printable(state), done, failed, age, printable(row.dag)))
    return fitted(cells, range(len(_COLUMNS)), width)
