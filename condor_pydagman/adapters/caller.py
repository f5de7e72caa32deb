"""The name we were called by, which `.dagman.out` opens with.

The C++ program reads it off `argv[0]`, which a Python program never sees: the kernel puts the path
of the script in its place. pegasus-dagman is the one caller whose choice of it matters: it starts
condor_dagman as `condor_scheduniv_exec.ID`, and pegasus-monitord and pegasus-remove find the id of
the DAGMan job, and the start of a run, in that name alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

USUAL = "condor_dagman"
_WRAPPER = "pegasus-dagman"


def program_name(path: str, environment: Mapping[str, str], parent: Sequence[str]) -> str:
    """The name that the C++ program would have found in `argv[0]`, without its directory.

    Args:
        path: of our script.
        environment: ours; the schedd puts the id of the DAGMan job into `CONDOR_ID`.
        parent: command line of the process that started us.
    """
    job = environment.get("CONDOR_ID", "")
    wrapped = any(os.path.basename(word).startswith(_WRAPPER) for word in parent)
    if job and wrapped:
        return f"condor_scheduniv_exec.{job}"
    name = os.path.basename(path)
    return USUAL if not name or name.endswith(".py") else name


def parent_command() -> list[str]:
    """Command line of the process that started us; empty where the system does not tell."""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            words = file.read(65536).split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(word) for word in words if word]
