"""The value that a line of a submit description has for each proc.

The bindings expand macros, but make the procs only when they submit; so this module expands them
for each item of the queue statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from condor_pydagman.adapters.descriptions import (
    BINDINGS,
    copy_of,
    expanded,
    materializes_late,
    queued,
)

# Further procs are not checked: a schedd accepts at most 20,000 in one cluster, unless configured
# otherwise (MAX_JOBS_PER_SUBMISSION), and a wrong count must not keep DAGMan busy.
MAX_PROCS = 100_000

_NUMBERS = ("Process", "ProcId")  # macros that number the procs


def values(description: Any, key: str) -> Iterator[str]:
    """The value of `key`, which the description has, for each proc in order; '' for an empty one.

    A value without macros is returned once.  With late materialization only the first proc's ad is
    made when the cluster is submitted, so only its value is returned.  The description is not
    changed.  If its items can't be read there are no values: the submission reports the error.
    """
    if "$" not in description[key] or not description.getQArgs().strip():
        yield expanded(description, key)
        return
    try:
        copy = copy_of(description)
        items, steps = queued(description)
    except BINDINGS:
        return
    most = 1 if materializes_late(description) else MAX_PROCS
    for number, row in enumerate(islice(_rows(items, steps), most)):
        for name, value in row.items():
            copy[name] = value
        for name in _NUMBERS:
            copy[name] = str(number)
        yield expanded(copy, key)


def _rows(items: list[Any], steps: int) -> Iterator[dict[str, str]]:
    """The macros that the queue statement sets for each proc."""
    for item in items:
        for step in range(steps):
            yield {**_row(item), "Step": str(step)}


def _row(item: Any) -> dict[str, str]:
    return dict(item) if isinstance(item, dict) else {"Item": item}
