"""The table of DAGs in a queue: its columns, how it is sorted and searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from condor_pydagman.cli.text_table import columns
from condor_pydagman.monitor.queued_dags import QueuedDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable
from condor_pydagman.words import duration

MIN_PATH = 12  # columns, below which paths are not cut
_KB = 1 << 10


class Column(NamedTuple):
    """A column of the table."""

    title: str
    text: Callable[[QueuedDag, float], str]  # of a DAG at a time, in seconds since the epoch
    key: Callable[[QueuedDag], Any]  # by which it is sorted
    left: bool = False  # whether it begins at the left


def _nodes(count: int, dag: QueuedDag) -> str:
    return str(count) if dag.total else "-"


def _ago(when: int, now: float) -> str:
    return duration(now - when) if when else "-"


def _waits(dag: QueuedDag, _: float) -> str:
    return f"{dag.waits_for} ({dag.waits_for_count})" if dag.waits_for else "-"


def _percent(dag: QueuedDag) -> float:
    return dag.done / dag.total if dag.total else 0.0


# By the word that sorts by it.
COLUMNS = {
    "job": Column("JOB", lambda dag, _: str(dag.cluster), lambda dag: dag.cluster),
    "owner": Column("OWNER", lambda dag, _: dag.owner, lambda dag: dag.owner, left=True),
    "state": Column("STATE", lambda dag, _: dag.state, lambda dag: dag.state, left=True),
    "done": Column(
        "DONE", lambda dag, _: f"{dag.done}/{dag.total}" if dag.total else "-", _percent
    ),
    "running": Column(
        "RUN", lambda dag, _: _nodes(dag.jobs_running, dag), lambda dag: -dag.jobs_running
    ),
    "idle": Column("IDLE", lambda dag, _: _nodes(dag.jobs_idle, dag), lambda dag: -dag.jobs_idle),
    "held": Column("HELD", lambda dag, _: _nodes(dag.jobs_held, dag), lambda dag: -dag.jobs_held),
    "ready": Column("READY", lambda dag, _: _nodes(dag.ready, dag), lambda dag: -dag.ready),
    "failed": Column("FAILED", lambda dag, _: _nodes(dag.failed, dag), lambda dag: -dag.failed),
    "rate": Column(
        "JOBS/H",
        lambda dag, _: f"{dag.jobs_an_hour:.0f}" if dag.jobs_an_hour else "-",
        lambda dag: -dag.jobs_an_hour,
    ),
    "last": Column(
        "LAST END", lambda dag, now: _ago(dag.last_end, now), lambda dag: dag.last_end or 1 << 62
    ),
    "waits": Column(
        "WAITS FOR", _waits, lambda dag: (dag.waits_for, -dag.waits_for_count), left=True
    ),
    "age": Column("AGE", lambda dag, now: _ago(dag.submitted, now), lambda dag: dag.submitted),
    "memory": Column(
        "MB",
        lambda dag, _: f"{dag.memory_kb / _KB:.1f}" if dag.memory_kb else "-",
        lambda dag: -dag.memory_kb,
    ),
    "cpu": Column("CPU", lambda dag, _: duration(dag.cpu_s), lambda dag: -dag.cpu_s),
    "dag": Column("DAG", lambda dag, _: dag.dag, lambda dag: dag.dag, left=True),
}


class Shown(NamedTuple):
    """Which DAGs are shown, in which order."""

    sort: str = "job"  # a word of COLUMNS
    is_reversed: bool = False
    text: str = ""  # that is in the owner, state, cause, program or path, whatever its case


def shown(dags: Iterable[QueuedDag], how: Shown) -> list[QueuedDag]:
    """The DAGs that are shown, in their order."""
    found = [dag for dag in dags if _has(dag, how.text.lower())]
    return sorted(found, key=COLUMNS[how.sort].key, reverse=how.is_reversed)


def _has(dag: QueuedDag, text: str) -> bool:
    words = (dag.owner, dag.state, dag.waits_for, dag.program, dag.dag, str(dag.cluster))
    return not text or any(text in word.lower() for word in words)


def table(dags: Sequence[QueuedDag], now: float, width: int = 0) -> list[str]:
    """The lines; paths are cut at their begin to fit into `width` columns, 0 for any."""
    if not dags:
        return ["no DAG is in the queue that meets this"]
    shown_columns = list(COLUMNS.values())
    cells = [[printable(column.text(dag, now)) for column in shown_columns] for dag in dags]
    cells.insert(0, [column.title for column in shown_columns])
    widths = [max(map(len, column)) for column in zip(*cells)]
    room = width - sum(widths[:-1]) - 2 * len(widths[:-1])
    for line in cells:
        if MIN_PATH <= room < len(line[-1]):
            line[-1] = f"...{line[-1][3 - room :]}"
    left = [number for number, column in enumerate(shown_columns) if column.left]
    return list(columns(cells, left=left))
