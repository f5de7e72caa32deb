"""What HTCondor's bindings do not give by themselves: the text of a configuration macro as it is
after HTCondor has expanded it, and what to do about their errors.

The bindings evaluate numbers and booleans.  The text is had by setting a macro in this process's
configuration whose value is a reference to the other one.
"""

from __future__ import annotations

import re
from typing import Any

import htcondor2

OWN_MACRO = "PYDAGMAN_EXPANDED"  # in this process only
# Knobs of the schedd, by the number that it answers instead of the next proc's.
_SCHEDD_LIMITS = {
    "-2": "MAX_JOBS_SUBMITTED",
    "-3": "MAX_JOBS_PER_OWNER",
    "-4": "MAX_JOBS_PER_SUBMISSION",
}
_NO_NEXT_PROC = re.compile(r"expected next ProcId to be \d+, but Schedd says (-\d+)")
_NO_CLUSTER = re.compile(r"Failed to create new cluster.*\b(MAX_JOBS_\w+) exceeded", re.DOTALL)


def expanded(name: str) -> Any:
    """The text of `$(name)` in the configuration; None if it is empty."""
    htcondor2.param[OWN_MACRO] = f"$({name})"
    return htcondor2.param.get(OWN_MACRO)


def limit_in(said: str) -> str:
    """The knob of the schedd that allows no more jobs, as the bindings say it; '' if none does."""
    over = _NO_NEXT_PROC.match(said) or _NO_CLUSTER.match(said)
    knob = _SCHEDD_LIMITS.get(over[1], over[1]) if over else ""
    return knob if knob in _SCHEDD_LIMITS.values() else ""


def in_bindings() -> str:
    """What to do about an exception that none of our calls should have raised."""
    version = htcondor2.version().split()[1]
    return (
        f"an error within HTCondor's Python bindings {version}, or in how we call them: try others"
        " (docs/administrators.md, Bindings and daemons), and please report it"
    )
