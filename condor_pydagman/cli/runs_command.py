"""`condor_pydagman runs`: DAGs that have ended, by the schedd's history."""

from __future__ import annotations

import argparse

from condor_pydagman.cli.dag_table import ENDED, add_sort, show
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.cli.which_dags import add_options, condition_of, none_found
from condor_pydagman.monitor.ended_dags import ended_dags

MOST = 20
_DESCRIPTION = """\
List the runs of DAGs that have ended, the newest first: how, with how many nodes, retries and
hours of jobs, and the nodes that failed first. It asks the schedd's history and reads no file of a
DAG. Exit code: 0 if the list was printed, be it empty; 1 if the DAG named is not in the history; 2
if the command line is wrong."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(subparsers, "runs", "list the DAGs that have ended", _DESCRIPTION, run)
    add_options(parser)
    parser.add_argument(
        "--ended",
        type=integer(1, 100_000),
        default=MOST,
        metavar="N",
        help=f"how many to list at most (default: {MOST})",
    )
    add_sort(parser, ENDED, "end")


def run(arguments: argparse.Namespace) -> int:
    """Print the list; returns the exit code.

    Raises:
        PoolError: the schedd does not answer.
        UsageError: options exclude each other, or the DAG named is not there.
    """
    place = {"name": arguments.name, "pool": arguments.pool}
    dags = ended_dags(condition_of(arguments), arguments.ended, **place)
    show(dags, ENDED, arguments, lambda: none_found(arguments, "history"))
    return 0
