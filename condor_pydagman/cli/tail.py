"""`condor_pydagman tail`: what has happened last in a DAG, a line for each event."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from functools import partial

from condor_pydagman.adapters.local_time import local_text
from condor_pydagman.cli.events import add_kind_option, is_wanted
from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand, integer
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.monitor.dag_monitor import DagMonitor, follow
from condor_pydagman.monitor.plan import read_small_plan, with_logs
from condor_pydagman.report.event_words import event_words

LINES = 20
BYTES_OF_EVENT = 4096  # of both logs, more than an event takes
MIN_BYTES = 8 << 20  # of the ends of the logs that are read, in which events are looked for
_DESCRIPTION = """\
Print the last events of a DAG, one line each. To get the events as JSON, use condor_pydagman
events."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(subparsers, "tail", "print the last events of a DAG", _DESCRIPTION, run)
    add_dag_argument(parser)
    parser.add_argument(
        "-f", "--follow", action="store_true", help="continue until DAGMan has ended"
    )
    parser.add_argument(
        "-n", "--lines", type=integer(0, 1_000_000), default=LINES, metavar="N",
        help=f"how many events (default: {LINES})",
    )  # fmt: skip
    add_kind_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the events that the command line asks for; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG, or nothing of a run of it.
    """
    found = with_logs(chosen_dag(arguments.dag, ask=False))
    tail = max(arguments.lines * BYTES_OF_EVENT, MIN_BYTES)
    monitor = DagMonitor(found, read_plan=partial(read_small_plan, found), tail_bytes=tail)
    last: deque[DagEvent] = deque(maxlen=arguments.lines)
    for events in monitor.blocks():
        last.extend(event for event in events if is_wanted(event, arguments.kind))
    for event in last:
        _print(event)
    if not arguments.follow:
        if not monitor.run.begun and monitor.problems:
            raise monitor.no_logs()
        return 0
    for events in follow(monitor, time.sleep):
        for event in events:
            if is_wanted(event, arguments.kind):
                _print(event)
        sys.stdout.flush()
    return 0


def _print(event: DagEvent) -> None:
    say(f"{local_text(event.time)}  {event_words(event)}")
