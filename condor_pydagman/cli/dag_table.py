"""The tables of DAGs: columns, order, search, output."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from condor_pydagman.cli.say import say
from condor_pydagman.cli.text_table import Column, table
from condor_pydagman.errors import UsageError
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.words import duration

VERSION = 1  # of the JSON forms, in which fields are only added
_KB, _HOUR = 1 << 10, 3600
_LATEST = 1 << 37  # seconds since the epoch, which calendars bear


def _count(field: str, title: str) -> Column:
    """A number of a DAG, the greatest first; `-` as long as nothing is published."""
    return Column(
        title,
        lambda dag, _: str(getattr(dag, field)) if dag.total else "-",
        lambda dag: -getattr(dag, field),
    )


def _word(field: str, title: str) -> Column:
    return Column(
        title, lambda dag, _: getattr(dag, field), lambda dag: getattr(dag, field), left=True
    )


def _hours(field: str, title: str) -> Column:
    return Column(
        title,
        lambda dag, _: f"{getattr(dag, field) / _HOUR:.1f}",
        lambda dag: -getattr(dag, field),
    )


def _ago(field: str, title: str) -> Column:
    return Column(
        title,
        lambda dag, now: duration(now - getattr(dag, field)) if getattr(dag, field) else "-",
        lambda dag: getattr(dag, field) or 1 << 62,
    )


def _waits(dag: Any, _: float) -> str:
    cause = f"{dag.waits_for} {dag.waits_for_names}".rstrip()
    return f"{cause} ({dag.waits_for_count})" if cause else "-"


def _listed_state(dag: Any, _: float) -> str:
    # the FINAL node, or ABORT-DAG-ON, may make any DAG succeed
    hides = dag.state == DagState.SUCCEEDED.value and dag.failed
    waits = f", waiting for {', '.join(dag.waits_for)}" if dag.waits_for else ""
    return f"{dag.state}{', although nodes failed' if hides else ''}{waits}"


_JOB = Column("JOB", lambda dag, _: str(dag.cluster or "-"), lambda dag: dag.cluster)
_DONE = Column(
    "DONE",
    lambda dag, _: f"{dag.done}/{dag.total}" if dag.total else "-",
    lambda dag: dag.done / dag.total if dag.total else 0.0,
)
# Columns by the words that sort by them.
IN_QUEUE = {
    "job": _JOB,
    "owner": _word("owner", "OWNER"),
    "state": _word("state", "STATE"),
    "done": _DONE,
    "running": _count("jobs_running", "RUN"),
    "idle": _count("jobs_idle", "IDLE"),
    "held": _count("jobs_held", "HELD"),
    "ready": _count("ready", "READY"),
    "failed": _count("failed", "FAILED"),
    "rate": Column(
        "JOBS/H",
        lambda dag, _: f"{dag.jobs_an_hour:.0f}" if dag.jobs_an_hour else "-",
        lambda dag: -dag.jobs_an_hour,
    ),
    "last": _ago("last_end", "LAST END"),
    "waits": Column("WAITS FOR", _waits, lambda dag: (dag.waits_for, -dag.waits_for_count), True),
    "age": _ago("submitted", "AGE"),
    "memory": Column(
        "MB",
        lambda dag, _: f"{dag.memory_kb / _KB:.1f}" if dag.memory_kb else "-",
        lambda dag: -dag.memory_kb,
    ),
    "cpu": Column("CPU", lambda dag, _: duration(dag.cpu_s), lambda dag: -dag.cpu_s),
    "dag": _word("dag", "DAG"),
}
ENDED = {
    "job": _JOB,
    "owner": _word("owner", "OWNER"),
    "end": Column(
        "ENDED",
        lambda dag, _: time.strftime("%Y-%m-%d %H:%M", time.localtime(min(dag.ended, _LATEST))),
        lambda dag: -dag.ended,
    ),
    "state": _word("state", "STATE"),
    "done": _DONE,
    "failed": _count("failed", "FAILED"),
    "retries": _count("retries", "RETRIES"),
    "wall": Column("WALL", lambda dag, _: duration(dag.wall_s), lambda dag: -dag.wall_s),
    "waited": _hours("idle_s", "IDLE H"),
    "ran": _hours("running_s", "RUN H"),
    "wasted": _hours("wasted_s", "WASTED H"),
    "nodes": _word("failed_nodes", "FAILED NODES"),
    "dag": _word("dag", "DAG"),
}
LISTED = {
    "job": _JOB,
    "state": Column("STATE", _listed_state, lambda dag: dag.state, left=True),
    "done": _DONE,
    "failed": _count("failed", "FAILED"),
    "age": _ago("since", "AGE"),
    "dag": _word("dag", "DAG"),
}


class Choice(NamedTuple):
    """Which DAGs are shown, in which order."""

    sort: str = "job"  # a word of the columns; '' for the order in which they are found
    is_reversed: bool = False
    text: str = ""  # that is in a word of the DAG, whatever its case


def chosen(dags: Iterable[Any], columns: dict[str, Column], how: Choice) -> list[Any]:
    """The DAGs that are shown, in their order."""
    text = how.text.lower()
    found = [dag for dag in dags if not text or any(text in word.lower() for word in _words(dag))]
    return sorted(found, key=columns[how.sort].key, reverse=how.is_reversed) if how.sort else found


def _words(dag: Any) -> Iterable[str]:
    return (str(dag.cluster), *(value for value in dag if isinstance(value, str)))


def add_sort(parser: argparse.ArgumentParser, columns: dict[str, Column], default: str) -> None:
    """Add the option `--sort`."""
    parser.add_argument(
        "--sort",
        choices=tuple(columns),
        default=default,
        metavar="COLUMN",
        help=f"sort by this column: {', '.join(columns)} (default: {default})",
    )


def show(
    dags: Iterable[Any],
    columns: dict[str, Column],
    arguments: argparse.Namespace,
    none: Callable[[], str],
) -> None:
    """Print DAGs as the options say: as a table, or with `--json` each as a line.

    Args:
        none: gives what a table of none says.

    Raises:
        UsageError: one was named, and is not there.
    """
    dags = list(dags)
    if arguments.dag and not dags:
        raise UsageError(none())
    if arguments.json:
        for dag in dags:
            print(json.dumps({"v": VERSION, **dag._asdict()}))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    rows = chosen(dags, columns, Choice(arguments.sort))
    say(*table(list(columns.values()), rows, time.time(), width) if rows else [none()])
