"""Which DAGMan jobs are in the queue of the schedd, for claims that outlive their DAGMan."""

from __future__ import annotations

import socket

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.errors import PoolError

_AT_ONCE = 500  # clusters that one query asks for


def in_queue(clusters: list[int]) -> set[int]:
    """Those of the clusters that the schedd has.

    Raises:
        PoolError: it can't be asked.
    """
    found: set[int] = set()
    for begin in range(0, len(clusters), _AT_ONCE):
        some = clusters[begin : begin + _AT_ONCE]
        constraint = f"ClusterId >= {min(some)} && ClusterId <= {max(some)} && JobUniverse == 7"
        try:
            jobs = htcondor2.Schedd().query(constraint, ["ClusterId"])
        except BINDINGS as error:
            reason = f"the schedd: {reason_of(error)}"
            raise PoolError(reason, transient=True) from None
        found.update(int(job["ClusterId"]) for job in jobs)
    return found


def schedd_name(global_job_id: object) -> str:
    """The schedd's name, as in the id of one of its jobs; the machine's if there is none."""
    name, mark, _ = str(global_job_id or "").partition("#")
    return name if mark else socket.gethostname()
