"""The value that a line of a submit description has for each proc.

The bindings expand macros, but make the procs only when they submit; so the queue statement's items
are gone through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import htcondor2

from condor_pydagman.adapters.descriptions import materializes_late

# More procs than these are not looked at: a schedd takes no more than 20,000 of one cluster, unless
# its administrator says so (MAX_JOBS_PER_SUBMISSION), and a wrong number must not keep DAGMan busy.
MOST = 100_000

_SLICE = re.compile(r"\b(?:in|from|matching)\s*(?:files|dirs|any)?\s*\[([-\d:\s]*)\]", re.I)
_QUEUE = "PYDAGMAN_QUEUE_ARGUMENTS"  # a macro of ours, in a copy
_NUMBERS = ("Process", "ProcId")  # macros that number the procs


def values(description: Any, text: str, key: str) -> Iterator[str]:
    """The value of `key`, which the description has, for each proc in order; '' for an empty one.

    Equal values may come once only.  With late materialization only the first one's ad is made when
    the cluster is submitted, so only its value comes.  `description` is what the bindings made of
    `text`; it is not changed.  Nothing comes of one whose items can't be read: its submission will
    say so.
    """
    if "$" not in description[key] or not description.getQArgs().strip():
        yield _expanded(description, key)
        return
    copy = htcondor2.Submit(text)
    try:
        items, steps = _queued(copy)
    except (htcondor2.HTCondorException, ValueError, RuntimeError, TypeError, OSError):
        return
    most = 1 if materializes_late(description) else MOST
    for number, row in enumerate(islice(_rows(items, steps), most)):
        for name, value in row.items():
            copy[name] = value
        for name in _NUMBERS:
            copy[name] = str(number)
        yield _expanded(copy, key)


def _expanded(description: Any, key: str) -> str:
    try:
        return str(description.expand(key))
    except KeyError:  # how the bindings say that nothing is left of it
        return ""


def _queued(description: Any) -> tuple[list[dict[str, str]], int]:
    """The items of the queue statement, and how many procs each makes."""
    description[_QUEUE] = description.getQArgs()
    words = description.expand(_QUEUE)
    found = description.itemdata()
    count = re.match(r"\s*(\d+)", words)
    items = [{}] if found is None else [_row(item) for item in found]
    cut = _SLICE.search(words)
    if cut is not None:
        items = items[slice(*(int(part) if part.strip() else None for part in cut[1].split(":")))]
    return items, max(int(count[1]) if count else 1, 1)


def _rows(items: list[dict[str, str]], steps: int) -> Iterator[dict[str, str]]:
    """What the queue statement sets for each proc."""
    for item in items:
        for step in range(steps):
            yield {**item, "Step": str(step)}


def _row(item: Any) -> dict[str, str]:
    return dict(item) if isinstance(item, dict) else {"Item": item}
