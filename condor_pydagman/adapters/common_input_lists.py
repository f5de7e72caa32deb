"""Finds the lists of common input files of the jobs of a submit description.

The bindings make a job's ad only when they submit it, so the attribute and the submit commands that
give such a list are read here; `records.common_input` explains their use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import classad2

from condor_pydagman.adapters.per_proc import values
from condor_pydagman.errors import PoolError
from condor_pydagman.records.common_input import attribute, difference, token

_AS_ATTRIBUTE = "MY.CommonInputFiles"  # `+CommonInputFiles` too
_AS_COMMANDS = ("transfer_common_input", "CommonInputFiles")


class FirstList(Exception):
    """The jobs are the DAG's first with a list; `token` stands for the list."""

    def __init__(self, token: str) -> None:
        super().__init__(token)
        self.token = token


def check(description: Any, known: str) -> None:
    """Compare the lists of a description with `known`, the DAG's ('' if it has none so far).

    Raises:
        FirstList: none is known and there is one.
        PoolError: the list differs, so the jobs must not be submitted.
    """
    for files in lists(description):
        if files and not known:
            raise FirstList(token(files))
        if files is not None and known and token(files) != known:
            raise PoolError(difference(known, files), transient=False)


def lists(description: Any) -> Iterator[str | None]:
    """CommonInputFiles of the procs of a description, in their order; None: a proc has none.

    See `per_proc.values` for how.
    """
    key = next((key for key in (_AS_ATTRIBUTE, *_AS_COMMANDS) if description.get(key)), "")
    if not key:
        return
    for value in values(description, key):
        if not value:
            yield None
        else:
            yield _evaluated(value) if key == _AS_ATTRIBUTE else attribute(value)


def _evaluated(value: str) -> str | None:
    try:
        found = classad2.ExprTree(value).eval()
    except (classad2.ClassAdException, ValueError, RuntimeError, TypeError):
        return None  # the submission reports the error
    return found if isinstance(found, str) else None
