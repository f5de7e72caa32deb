"""`condor_pydagman top`: all DAGs of a schedd's queue in one table, refreshed in place."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time

from condor_pydagman.cli.dag_table import IN_QUEUE, Choice, chosen
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, seconds
from condor_pydagman.cli.text_table import table
from condor_pydagman.cli.which_dags import add_options, condition_of
from condor_pydagman.monitor.queued_dags import SHOWN, WANTED, QueuedDag, queued_dags

VERSION = 1  # of the JSON form, in which fields are only added
INTERVAL_S = 5.0
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
        choices=tuple(IN_QUEUE),
        default="job",
        metavar="COLUMN",
        help=f"sort by this column: {', '.join(IN_QUEUE)} (default: job)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Show the table; returns the exit code.

    Raises:
        PoolError: the schedd does not answer.
        UsageError: options exclude each other.
    """
    condition = condition_of(arguments)

    def look() -> list[QueuedDag]:
        wanted = WANTED if arguments.json else SHOWN
        return queued_dags(condition, wanted=wanted, name=arguments.name, pool=arguments.pool)

    if arguments.json:
        for dag in look():
            print(as_json(dag))
    elif arguments.once or not _is_screen():
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
        say(*lines_of(look(), Choice(arguments.sort), width))
    else:
        from condor_pydagman.cli import top_screen

        top_screen.run(look, arguments.sort, arguments.interval)
    return 0


def lines_of(dags: list[QueuedDag], how: Choice, width: int = 0) -> list[str]:
    """The table; paths are cut to fit into `width` columns, 0 for any."""
    if not dags:
        return ["the queue of the schedd has no such DAG"]
    return table(list(IN_QUEUE.values()), chosen(dags, IN_QUEUE, how), time.time(), width)


def as_json(dag: QueuedDag) -> str:
    """A DAG as one line of JSON."""
    return json.dumps({"v": VERSION, **dag._asdict()})


def _is_screen() -> bool:
    """Whether there is a terminal whose lines can be rewritten."""
    known = os.environ.get("TERM", "dumb") not in ("", "dumb", "unknown")
    return known and sys.stdout.isatty() and sys.stdin.isatty()
