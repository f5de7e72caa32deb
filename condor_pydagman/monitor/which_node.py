"""Names of nodes that people give: of a DAG, and of its sub-DAGs."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from itertools import islice

from condor_pydagman.errors import UsageError
from condor_pydagman.printable import message, number_of

MAX_NEAR = 3
MAX_COMPARED = 20_000  # names: among a million it would take minutes


def no_such_node(dag: str, name: str, known: Collection[str]) -> UsageError:
    """The error for a node that a DAG does not have; it names those that are nearly called so."""
    near = [one for one in known if one.lower() == name.lower()]
    compared = list(islice(known, MAX_COMPARED))
    near = near or difflib.get_close_matches(name, compared, MAX_NEAR, 0.6)
    hint = f"; did you mean {', '.join(map(message, near))}?" if near else ""
    hint = hint or f"; it has {number_of(len(known), 'node')}"
    return UsageError(f"{dag} has no node {message(name)}{hint}")
