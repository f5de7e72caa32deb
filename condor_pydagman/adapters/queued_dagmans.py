"""Which DAGMan jobs are in the queue of the schedd, for claims that outlive their DAGMan."""

from __future__ import annotations

import socket

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.adapters.knobs import lookup
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


def queue_name(global_job_id: object = None) -> str:
    """What tells the queue of this schedd from those of others on the machine: its name, and where
    the queue is kept, since personal pools have schedds of the same name.

    Args:
        global_job_id: of one of its jobs; without one the collector is asked for the name.
    """
    name, mark, _ = str(global_job_id or "").partition("#")
    if not mark:
        name = _asked_name()
    return f"{name} {lookup('SPOOL') or ''}"


def _asked_name() -> str:
    try:
        ad = htcondor2.Collector().locate(htcondor2.DaemonType.Schedd)
    except BINDINGS:
        return socket.gethostname()
    return str(ad.get("Name") or socket.gethostname())
