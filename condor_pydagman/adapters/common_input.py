"""Which lists of common input files the jobs of a submit description have.

The bindings make a job's ad only when they submit it, so the two places are read that such a list
comes from; see `records.common_input` for what it is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters.descriptions import materializes_late
from condor_pydagman.errors import PoolError
from condor_pydagman.records.common_input import attribute, difference, token

_AS_ATTRIBUTE = "MY.CommonInputFiles"  # `+CommonInputFiles` too
_AS_COMMANDS = ("transfer_common_input", "CommonInputFiles")
_SLICE = re.compile(r"\b(?:in|from|matching)\s*(?:files|dirs|any)?\s*\[([-\d:\s]*)\]", re.I)
_QUEUE = "PYDAGMAN_QUEUE_ARGUMENTS"  # a macro of ours, in a copy
_NUMBERS = ("Process", "ProcId")  # macros that number the procs


class FirstList(Exception):
    """The jobs are the DAG's first with a list; `token` is what is to be remembered of it."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


def check(description: Any, text: str, known: str) -> None:
    """Compare the lists of a description with `known`, the DAG's ('' if it has none so far).

    Raises:
        FirstList: nothing is known and there is one.
        PoolError: there is another one, so the jobs must not be submitted.
    """
    for files in lists(description, text):
        if files and not known:
            raise FirstList(token(files))
        if files is not None and known and token(files) != known:
            raise PoolError(difference(known, files), transient=False)


def lists(description: Any, text: str) -> Iterator[str | None]:
    """CommonInputFiles of the procs of a description, in their order; None: a proc has none.

    With late materialization only the first one's ad is made when the cluster is submitted, so only
    its list counts.  `description` is what the bindings made of `text`; it is not changed.  Nothing
    comes of one whose items can't be read: its submission will say so.
    """
    key = next((key for key in (_AS_ATTRIBUTE, *_AS_COMMANDS) if description.get(key)), "")
    if not key:
        return
    if "$" not in description[key] or not description.getQArgs().strip():
        yield _list(description, key)
        return
    copy = htcondor2.Submit(text)
    try:
        rows = list(_rows(copy))
    except (htcondor2.HTCondorException, ValueError, RuntimeError, TypeError, OSError):
        return
    for number, row in enumerate(rows[:1] if materializes_late(description) else rows):
        for name, value in row.items():
            copy[name] = value
        for name in _NUMBERS:
            copy[name] = str(number)
        yield _list(copy, key)


def _list(description: Any, key: str) -> str | None:
    try:
        value = description.expand(key)
    except KeyError:  # how the bindings say that nothing is left of it
        return None
    if key != _AS_ATTRIBUTE:
        return attribute(value)
    try:
        found = classad2.ExprTree(value).eval()
    except (classad2.ClassAdException, ValueError, RuntimeError, TypeError):
        return None  # the submission itself will complain
    return found if isinstance(found, str) else None


def _rows(description: Any) -> Iterator[dict[str, str]]:
    """What the queue statement sets for each proc."""
    description[_QUEUE] = description.getQArgs()
    words = description.expand(_QUEUE)
    found = description.itemdata()
    count = re.match(r"\s*(\d+)", words)
    steps = max(int(count[1]) if count else 1, 1)
    items = [{}] if found is None else [_row(item) for item in found]
    cut = _SLICE.search(words)
    if cut is not None:
        items = items[slice(*(int(part) if part.strip() else None for part in cut[1].split(":")))]
    for item in items:
        for step in range(steps):
            yield {**item, "Step": str(step)}


def _row(item: Any) -> dict[str, str]:
    return dict(item) if isinstance(item, dict) else {"Item": item}
