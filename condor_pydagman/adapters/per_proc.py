"""The value that a line of a submit description has for each proc.

The bindings expand macros, but make the procs only when they submit; so the queue statement's items
are gone through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from condor_pydagman.adapters.descriptions import (
    BINDINGS,
    copied,
    expanded,
    materializes_late,
    queued,
)

# More procs than these are not looked at: a schedd takes no more than 20,000 of one cluster, unless
# its administrator says so (MAX_JOBS_PER_SUBMISSION), and a wrong number must not keep DAGMan busy.
MOST = 100_000

_NUMBERS = ("Process", "ProcId")  # macros that number the procs


def values(description: Any, key: str) -> Iterator[str]:
    """The value of `key`, which the description has, for each proc in order; '' for an empty one.

    Equal values may come once only.  With late materialization only the first one's ad is made when
    the cluster is submitted, so only its value comes.  The description is not changed.  Nothing
    comes of one whose items can't be read: its submission will say so.
    """
    if "$" not in description[key] or not description.getQArgs().strip():
        yield expanded(description, key)
        return
    try:
        copy = copied(description)
        items, steps = queued(description)
    except BINDINGS:
        return
    most = 1 if materializes_late(description) else MOST
    for number, row in enumerate(islice(_rows(items, steps), most)):
        for name, value in row.items():
            copy[name] = value
        for name in _NUMBERS:
            copy[name] = str(number)
        yield expanded(copy, key)


def _rows(items: list[Any], steps: int) -> Iterator[dict[str, str]]:
    """What the queue statement sets for each proc."""
    for item in items:
        for step in range(steps):
            yield {**_row(item), "Step": str(step)}


def _row(item: Any) -> dict[str, str]:
    return dict(item) if isinstance(item, dict) else {"Item": item}
