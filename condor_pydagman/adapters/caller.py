"""The name that DAGMan was called by, with which `.dagman.out` begins.

Stock reads it from `argv[0]`, which a Python program can't: the kernel replaces it by the path of
the script.  It matters for pegasus-dagman, which starts condor_dagman as
`condor_scheduniv_exec.ID`: pegasus-monitord and pegasus-remove find the id of the DAGMan job, and
the start of a run, only in that name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

DEFAULT_NAME = "condor_dagman"
_WRAPPER = "pegasus-dagman"


def program_name(path: str, environment: Mapping[str, str], parent: Sequence[str]) -> str:
    """The name that stock would have found in `argv[0]`, without its directory.

    Args:
        path: of this script.
        environment: of this process; the schedd sets `CONDOR_ID` to the id of the DAGMan job.
        parent: command line of the parent process.
    """
    job = environment.get("CONDOR_ID", "")
    wrapped = any(os.path.basename(word).startswith(_WRAPPER) for word in parent)
    if job and wrapped:
        return f"condor_scheduniv_exec.{job}"
    name = os.path.basename(path)
    return DEFAULT_NAME if not name or name.endswith(".py") else name


def parent_command() -> list[str]:
    """Command line of the parent process; empty if it is unknown."""
    try:
        with open(f"/proc/{os.getppid()}/cmdline", "rb") as file:
            words = file.read(65536).split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(word) for word in words if word]
