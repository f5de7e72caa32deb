"""Where the lines go that condor_submit_dag prints; the caller chooses."""

from __future__ import annotations

from collections.abc import Callable

from condor_pydagman.named_tuple import NamedTuple


class Output(NamedTuple):
    """Where lines go that stock condor_submit_dag prints: its standard output, its errors."""

    out: Callable[[str], None]
    err: Callable[[str], None]
