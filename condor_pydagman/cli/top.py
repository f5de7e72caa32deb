"""`condor_pydagman top`: all DAGs of a schedd's queue in one table, refreshed in place."""

from __future__ import annotations

import argparse
import os
import sys

from condor_pydagman.cli.dag_table import IN_QUEUE, add_sort, show
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, seconds
from condor_pydagman.cli.which_dags import add_options, condition_of, none_found
from condor_pydagman.monitor.queued_dags import SHOWN, WANTED, Looks, queued_dags

INTERVAL_S = 5.0
_DESCRIPTION = """\
Show the DAGs of a schedd's queue, of all users or one, in a table that is refreshed: state, nodes,
what each waits for, how long ago a node ended. It asks the schedd alone and reads no file of a DAG.
Keys: < and > choose the column to sort by, r reverses, / searches, arrows and page keys scroll, q
quits. Exit code: 1 if the DAG named is not in the queue when the table is printed once."""


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
    add_sort(parser, IN_QUEUE, "job")


def run(arguments: argparse.Namespace) -> int:
    """Show the table; returns the exit code.

    Raises:
        PoolError: the schedd does not answer.
        UsageError: options exclude each other, or the DAG named is not there.
    """
    place = {"name": arguments.name, "pool": arguments.pool}
    condition = condition_of(arguments)

    def none() -> str:
        return f"{none_found(arguments, 'queue')}; those that have ended: condor_pydagman runs"

    if arguments.json or arguments.once or not _is_screen():
        wanted = WANTED if arguments.json else SHOWN
        show(queued_dags(condition, wanted=wanted, **place), IN_QUEUE, arguments, none)
    else:
        from condor_pydagman.cli import top_screen

        look = Looks(condition, **place).look
        top_screen.run(look, none, arguments.sort, arguments.interval)
    return 0


def _is_screen() -> bool:
    """Whether there is a terminal whose lines can be rewritten."""
    known = os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    return known and sys.stdout.isatty() and sys.stdin.isatty()
