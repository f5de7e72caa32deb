"""The version of the schedd on this machine, from the file in which it says where it listens."""

from __future__ import annotations

from condor_pydagman.adapters.knobs import lookup

_ENOUGH = 4096  # bytes


def schedd_version() -> str:
    """`$CondorVersion: ... $`; '' if there is no such file, as for a schedd of another machine."""
    try:
        with open(lookup("SCHEDD_ADDRESS_FILE") or "", encoding="utf-8", errors="replace") as file:
            text = file.read(_ENOUGH)
    except (OSError, ValueError):
        return ""
    return next((line for line in text.split("\n") if line.startswith("$CondorVersion:")), "")
