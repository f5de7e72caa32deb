"""Names of files that a job may give: they lead from the DAG's directory into it."""

from __future__ import annotations

import os.path
import re

from condor_pydagman.graph.building import fail

TRUST = "TRUSTED on the EXTEND line takes all commands: what the job writes can run programs here"
_HIDDEN = re.compile(r"(?:^|/)\.[^/.]")  # keys, where the DAG's directory is the user's own


def leads_inside(name: str) -> bool:
    """Whether a name of a file leads into the directory that it is looked for in."""
    return not os.path.isabs(name) and ".." not in name.split("/")


def check_inside(*names: str) -> None:
    """Refuse names of files that lead out of the DAG's directory."""
    for name in names:
        if not leads_inside(name) or "$" in name or _HIDDEN.search(name):
            fail(
                f"A job can't name {name}",
                "names lead from the DAG's directory into it, without .., macros or names that"
                f" begin with a dot. {TRUST}",
                at=name,
            )
