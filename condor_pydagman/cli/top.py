"""`condor_pydagman top`: all DAGs of a schedd's queue in one table, refreshed in place."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time

from condor_pydagman.cli.dag_table import COLUMNS, Shown, shown, table
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, seconds
from condor_pydagman.errors import UsageError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.queued_dags import QueuedDag, queued_dags, without_sub_dags

VERSION = 1  # of the JSON form, in which fields are only added
INTERVAL_S = 5.0
_ROOT = 0
_DESCRIPTION = """\
Show the DAGs of a schedd's queue, of all users or one, in a table that is refreshed: state, nodes,
what each waits for, how long ago a node ended. It asks the schedd alone and reads no file of a DAG.
Keys: < and > choose the column to sort by, r reverses, / searches, arrows and page keys scroll, q
quits."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "top", "show the DAGs of all users, live", _DESCRIPTION, run
    )
    add_options(parser)
    parser.add_argument("--once", action="store_true", help="print the table once and exit")
    parser.add_argument(
        "--interval",
        type=seconds(1, 86400),
        default=INTERVAL_S,
        metavar="SECONDS",
        help=f"time between updates (default: {INTERVAL_S:g})",
    )
    parser.add_argument(
        "--sort",
        choices=tuple(COLUMNS),
        default="job",
        metavar="COLUMN",
        help=f"sort by this column: {', '.join(COLUMNS)} (default: job)",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose DAGs, and `--json`."""
    parser.add_argument(
        "--allusers", action="store_true", help="DAGs of all users (default for root)"
    )
    parser.add_argument("--user", metavar="NAME", help="DAGs of this user (default: yours)")
    parser.add_argument(
        "--constraint",
        metavar="EXPRESSION",
        help="DAGs whose DAGMan job meets a ClassAd expression",
    )
    parser.add_argument("--name", default="", metavar="SCHEDD", help="ask this schedd")
    parser.add_argument(
        "--pool", default="", metavar="HOST", help="ask this pool's collector for it"
    )
    parser.add_argument("--subdags", action="store_true", help="show sub-DAGs as well")
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(arguments: argparse.Namespace) -> int:
    """Show the table; returns the exit code.

    Raises:
        PoolError: the schedd does not answer.
        UsageError: options exclude each other.
    """
    condition = _condition(arguments)
    if arguments.json or arguments.once or not (sys.stdout.isatty() and sys.stdin.isatty()):
        return show_once(arguments, condition)
    from condor_pydagman.cli import top_screen

    def look() -> list[QueuedDag]:
        return look_at(arguments, condition)

    return top_screen.run(look, arguments.sort, arguments.interval)


def show_once(arguments: argparse.Namespace, condition: str) -> int:
    """Print the table, or the JSON objects."""
    dags = look_at(arguments, condition)
    if arguments.json:
        for dag in dags:
            print(as_json(dag))
        return 0
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    rows = shown(dags, Shown(sort=getattr(arguments, "sort", "job")))
    say(*table(rows, time.time(), width))
    return 0


def look_at(arguments: argparse.Namespace, condition: str) -> list[QueuedDag]:
    """The DAGs that the command line asks for, as they are now."""
    dags = queued_dags(condition, name=arguments.name, pool=arguments.pool)
    return dags if arguments.subdags else list(without_sub_dags(dags))


def as_json(dag: QueuedDag) -> str:
    """A DAG as one line of JSON."""
    return json.dumps({"v": VERSION, **dag._asdict()})


def _condition(arguments: argparse.Namespace) -> str:
    if arguments.allusers and arguments.user:
        raise UsageError("-allusers and -user exclude each other")
    terms: list[str] = []
    everybody = arguments.allusers or (os.geteuid() == _ROOT and not arguments.user)
    if not everybody:
        owner = arguments.user or schedd_queries.user()
        terms.append(f"Owner == {json.dumps(owner)}")
    if arguments.constraint:
        terms.append(f"({arguments.constraint})")
    return " && ".join(terms) or "true"
