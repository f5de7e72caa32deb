"""What commands that print events have in common: which events, and how the DAG is read."""

from __future__ import annotations

import argparse
import fnmatch
import sys

from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.follower import Plan, unknown_plan
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.plan import read_plan
from condor_pydagman.trace.dag_events import NAMES, DagEvent


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


def no_logs(monitor: DagMonitor) -> PydagmanError:
    """What is wrong with a DAG of which no event could be read."""
    problems = "; ".join(monitor.problems)
    return PydagmanError(
        f"{monitor.found.name} has not started, or its logs were deleted: {problems}"
    )


def plan_of(found: FoundDag) -> Plan:
    """The DAG; an unknown one, after a message, if it can't be read."""
    try:
        return read_plan(found)
    except PydagmanError as error:
        message = f"the DAG can't be read, so states of nodes may be missing: {error}"
        print(f"condor_pydagman: {message}", file=sys.stderr)
        return unknown_plan()


def _kind(text: str) -> str:
    if not fnmatch.filter(NAMES, text):
        raise argparse.ArgumentTypeError(
            f"there is no event {text}; choose one of {', '.join(NAMES)}"
        )
    return text
