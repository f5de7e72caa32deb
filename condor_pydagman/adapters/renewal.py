"""What a DAGMan that sleeps asks of the schedd; it loads little."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import htcondor2

from condor_pydagman.engine.jobs import CLUSTER_ITSELF


def renew(cluster: int) -> None:
    """Put the time into the ad of DAGMan's job.

    Raises:
        Exception: the schedd did not answer.
    """
    htcondor2.set_subsystem("DAGMAN")
    htcondor2.reload_config()
    flag = htcondor2.TransactionFlag.NonDurable
    date = str(int(time.time()))
    htcondor2.Schedd().edit(f"{cluster}.0", "DAG_AdUpdateTime", date, flag)


def is_same(
    cluster: int, memory: list[Any], jobs: Sequence[Sequence[int]], limits: Sequence[Any]
) -> bool:
    """Whether the schedd has these jobs of DAGMan's, and nobody has edited the limits in its ad.

    Args:
        cluster: of DAGMan's own job.
        memory: see ScheddAdapter.memory.
        jobs: cluster and proc of each.
        limits: the fields of `Throttles`.

    Raises:
        PoolError: the schedd did not answer.
    """
    from condor_pydagman.adapters.schedd import ScheddAdapter
    from condor_pydagman.engine.throttles import Throttles
    from condor_pydagman.records.own_ad import wanted_limits

    adapter = ScheddAdapter(cluster)
    adapter.remember(memory)
    listing = adapter.listing()
    if wanted_limits(listing.limits, Throttles(*limits)) is not None:
        return False
    wanted = {(cluster, proc) for cluster, proc in jobs}
    there = {(job.cluster, job.proc) for job in listing.jobs}
    return wanted <= there <= wanted | {(cluster, CLUSTER_ITSELF) for cluster, _ in wanted}
