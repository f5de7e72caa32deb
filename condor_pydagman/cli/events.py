"""`condor_pydagman events`: everything that happens in a DAG, one JSON object a line."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from functools import partial

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.which_dag import add_dag_argument, chosen_dag
from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.dag_events import NAMES, DagEvent
from condor_pydagman.follow.follower import Plan, unknown_plan
from condor_pydagman.monitor.dag_monitor import DagMonitor, follow
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.plan import read_plan, with_logs

_DESCRIPTION = """\
Print everything that happened in the last run of a DAG, one JSON object per line. The DAG can be
running or have ended, under this DAGMan or the stock one. To read the events as text, use
condor_pydagman tail."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand to those of `condor_pydagman`."""
    parser = add_subcommand(
        subparsers, "events", "print the events of a DAG as JSON lines", _DESCRIPTION, run
    )
    add_dag_argument(parser)
    parser.add_argument(
        "-f", "--follow", action="store_true", help="continue until DAGMan has ended"
    )
    parser.add_argument(
        "--since",
        default="",
        metavar="ID",
        help='start after the event with this "id"; 0: from the beginning of the last run',
    )
    add_kind_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the events that the command line asks for; returns the exit code.

    Raises:
        PydagmanError: there is no such DAG, or `--since` is no id.
    """
    found = with_logs(chosen_dag(arguments.dag, ask=False))
    monitor = DagMonitor(found, since=arguments.since, read_plan=partial(plan_of, found))
    told = False
    for events in follow(monitor, time.sleep) if arguments.follow else monitor.blocks():
        told = told or bool(events)
        for event in events:
            if is_wanted(event, arguments.kind):
                print(event.to_json())
        sys.stdout.flush()
    if not told and monitor.problems:
        raise monitor.no_logs()
    return 0


def add_kind_option(parser: argparse.ArgumentParser) -> None:
    """Add the option `--kind`."""
    parser.add_argument(
        "--kind",
        action="append",
        type=_kind,
        metavar="NAME",
        help="print only events of this name, such as dag.end or node.*; can be repeated",
    )


def is_wanted(event: DagEvent, kinds: list[str] | None) -> bool:
    """Whether an event is of one of the kinds, None for all."""
    return kinds is None or any(fnmatch.fnmatchcase(event.name, kind) for kind in kinds)


def plan_of(found: FoundDag) -> Plan:
    """The DAG; an unknown one, after a message, if it can't be read."""
    try:
        return read_plan(found)
    except PydagmanError as error:
        message = f"the DAG can't be read, so states of nodes may be missing: {error}"
        say(f"condor_pydagman: {message}", error=True)
        return unknown_plan()


def _kind(text: str) -> str:
    if not fnmatch.filter(NAMES, text):
        raise argparse.ArgumentTypeError(
            f"there is no event {text}; choose one of {', '.join(NAMES)}"
        )
    return text
