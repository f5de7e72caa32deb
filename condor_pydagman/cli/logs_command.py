"""`condor_pydagman logs`: what the jobs of a node have written."""

from __future__ import annotations

import argparse
import sys
import time

from condor_pydagman.cli.copied_file import CopiedFiles
from condor_pydagman.cli.events import plan_of
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.monitor.dag_monitor import INTERVAL_S, DagMonitor
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.node_output import NodeOutput, Written, output_of_node

NOTHING_YET = 3  # exit code
_DESCRIPTION = """\
Print what the job of a node has written to standard output or standard error, wherever its submit
description puts it. Exit code: 0 if it was printed; 1 if it can't be, or there is no such DAG, node
or attempt; 2 if the command line is wrong; 3 if there is nothing yet, but may be later."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "logs", "print what the job of a node has written", _DESCRIPTION, run
    )
    parser.add_argument(
        "dag", metavar="DAG", help="the first DAG file, or the cluster of DAGMan's job"
    )
    parser.add_argument(
        "node", metavar="NODE", help="its full name; of a node of a sub-DAG, SUB+NODE"
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--err", action="store_true", help="print standard error")
    kinds.add_argument("--log", action="store_true", help="print the job's own event log")
    parser.add_argument(
        "--attempt",
        type=integer(1),
        metavar="N",
        help="of the N-th attempt (1 is the first; default: the last)",
    )
    parser.add_argument(
        "-f", "--follow", action="store_true", help="continue until the job has ended"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print what was written; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG, node or attempt, or the node has no job.
    """
    kind = "log" if arguments.log else "error" if arguments.err else "output"
    found = find_dag(arguments.dag, ask=False)
    monitor, output = output_of_node(found, arguments.node, kind, plan_of)
    copied = CopiedFiles(monitor.found.run_by, follow=arguments.follow)
    if arguments.follow:
        return _follow(monitor, output, copied, arguments.attempt)
    return _copy(copied, output.look(monitor.run, arguments.attempt, over=monitor.over))


def _copy(copied: CopiedFiles, written: Written) -> int:
    """Copy what is there, and say why more is not."""
    problems = copied.copy(written.files)
    for text in (*problems, *filter(None, [written.why])):
        _say(text)
    if written.files:
        return int(bool(problems))
    return NOTHING_YET if written.comes else 1


def _follow(monitor: DagMonitor, output: NodeOutput, copied: CopiedFiles, which: int | None) -> int:
    """Copy what comes until the attempt has ended, the last one that has begun by now."""
    told = ""
    while True:
        written = output.look(monitor.run, which, over=monitor.over)
        if not written.running:
            return _copy(copied, written)
        which = which or written.attempt
        copied.copy(written.files)
        if written.why and written.why != told:
            _say(written.why)
        told = written.why
        time.sleep(INTERVAL_S)
        monitor.read()


def _say(text: str) -> None:
    sys.stdout.flush()
    say(f"condor_pydagman: {text}", error=True)
