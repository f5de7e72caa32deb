"""`condor_pydagman limits`: the limits that DAGs share, and which DAG has how much of them."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from condor_pydagman.cli.say import say
from condor_pydagman.cli.subcommands import Subparsers, add_subcommand
from condor_pydagman.cli.text_table import columns
from condor_pydagman.features.shared_limits.configured import PLACES
from condor_pydagman.features.shared_limits.listing import all_limits
from condor_pydagman.features.shared_limits.overview import DagPart, LimitRow
from condor_pydagman.words import duration

_COLUMNS = ("LIMIT", "WHAT", "TAKEN", "AHEAD", "WAITING", "DAGS")
_DAG_COLUMNS = ("LIMIT", "WHAT", "TAKEN", "AHEAD", "WAITING", "FOR", "JOB", "USER", "DAG")
_DESCRIPTION = """\
List the limits that DAGs share (SHARED_LIMIT): how much of each is in use (TAKEN) or kept for
nodes to come (AHEAD), and how much more DAGs are waiting for. The list has the limits of the
access point and your own."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = add_subcommand(
        subparsers, "limits", "list the limits that DAGs share", _DESCRIPTION, _list
    )
    parser.add_argument("--dags", action="store_true", help="print a line for each DAG")
    parser.add_argument("--json", action="store_true", help="print JSON, including the DAGs")


def _list(arguments: argparse.Namespace) -> int:
    """Print the limits; returns the exit code.

    Raises:
        PydagmanError: they are defined wrongly, or the directory can't be read.
    """
    found = all_limits(lambda text: say(text, error=True))
    if arguments.json:
        print(json.dumps([_json(row) for row in found], indent=4))
        return 0
    if not found:
        say(f"no limit is defined; limits are defined by {PLACES} (docs/limits.md)")
    say(*(dag_table(found, time.time()) if arguments.dags else table(found)))
    return 0


def _json(row: LimitRow) -> dict[str, Any]:
    return {**row._asdict(), "dags": [one._asdict() for one in row.dags]}


def table(found: list[LimitRow]) -> list[str]:
    """A line for each limit and kind; nothing if there are none."""
    rows = [(*_of(row, row), str(len(row.dags))) for row in found]
    return list(columns([_COLUMNS, *rows], left=(0, 1))) if rows else []


def dag_table(found: list[LimitRow], now: float) -> list[str]:
    """A line for each DAG that has or wants some of a limit."""
    rows = [
        (
            *_of(row, one),
            duration(max(0.0, now - one.since)) if one.since else "-",
            *(str(one.cluster), one.user, one.dag if one.lives else f"{one.dag} (not running)"),
        )
        for row in found
        for one in row.dags
    ]
    return list(columns([_DAG_COLUMNS, *rows], left=(0, 1, 7, 8))) if rows else []


def _of(row: LimitRow, part: LimitRow | DagPart) -> tuple[str, ...]:
    name = f"{row.name} (own)" if row.own else row.name
    taken = f"{part.taken}/{row.most}"
    return name, row.kind, taken, str(part.ahead), str(part.waiting)
