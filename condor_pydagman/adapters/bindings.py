"""What HTCondor's bindings do not give by themselves: the text of a configuration macro as it is
after HTCondor has expanded it, and what to do about their errors.

The bindings evaluate numbers and booleans.  The text is had by setting a macro in this process's
configuration whose value is a reference to the other one.
"""

from __future__ import annotations

from typing import Any

import htcondor2

OWN_MACRO = "PYDAGMAN_EXPANDED"  # in this process only


def expanded(name: str) -> Any:
    """The text of `$(name)` in the configuration; None if it is empty."""
    htcondor2.param[OWN_MACRO] = f"$({name})"
    return htcondor2.param.get(OWN_MACRO)


def in_bindings() -> str:
    """What to do about an exception that none of our calls should have raised."""
    version = htcondor2.version().split()[1]
    return (
        f"an error within HTCondor's Python bindings {version}, or in how we call them: try others"
        " (docs/administrators.md, Bindings and daemons), and please report it"
    )
