"""What is measured: the bare bindings, the stock DAGMan and ours, each in two ways, and peers."""

from __future__ import annotations

FLOOR, STOCK, TUNED, OURS = "floor", "stock", "tuned", "ours"
FLOOR_TOGETHER, TOGETHER = "floor-together", "together"  # many jobs a cluster
ASLEEP = "asleep"  # ours, which sleeps when it waits
ONE_BY_ONE = (FLOOR, STOCK, TUNED, OURS)  # all of these give each node a cluster of its own
ALL = (FLOOR, FLOOR_TOGETHER, STOCK, TUNED, OURS, TOGETHER)
DAGMANS = (STOCK, TUNED, OURS)
BUNDLES = ("bundles", "bundles-files")  # ours with nodes in bundles, and with file transfer
PEERS = (
    "parsl-htex",
    "parsl-threads",
    "dask",
    "hyperqueue",
    "snakemake",
    "luigi-local",
    "luigi-central",
    "makeflow-local",
    "makeflow-condor",
)
EVERYONE = (*ALL, *BUNDLES, *PEERS)

# What an administrator can do for the speed of the stock DAGMan.  The other knobs that bear on it
# are at their best by default (DAGMAN_SUBMIT_DELAY, DAGMAN_USE_DIRECT_SUBMIT,
# DAGMAN_USE_JOIN_NODES, DAGMAN_HOLD_CLAIM_TIME, DAGMAN_MAX_JOBS_SUBMITTED,
# DAGMAN_STARTUP_CYCLE_DETECT), or cost its user what it tells (DAGMAN_VERBOSITY).
TUNED_KNOBS = {
    "DAGMAN_USER_LOG_SCAN_INTERVAL": "1",  # the least it takes: 0 is refused
    "DAGMAN_MAX_SUBMITS_PER_INTERVAL": "1000000",
    "DAGMAN_AGGRESSIVE_SUBMIT": "True",  # else it stops submitting after one interval
    "DAGMAN_MAX_JOBS_IDLE": "0",  # no limit
    "DAGMAN_DEBUG_CACHE_ENABLE": "True",  # its own log is not written line by line in recovery
}
JOBS_A_CLUSTER = 1000
TOGETHER_KNOB = "PYDAGMAN_MAX_NODES_IN_CLUSTER"
SLEEP_KNOB = "PYDAGMAN_SLEEP_AFTER"
# Without that a DAGMan submits so many jobs and waits for the first of them to start.
IDLE_LIMIT = 1000
UNLIMITED = {"DAGMAN_MAX_JOBS_IDLE": "0"}
_OWN = {TUNED: TUNED_KNOBS, TOGETHER: {TOGETHER_KNOB: str(JOBS_A_CLUSTER)}}


def knobs(subject: str, others: dict[str, str]) -> dict[str, str]:
    """Environment that sets the knobs of a subject.

    The environment of condor_submit_dag, which hands on what begins with _CONDOR_, counts as the
    administrator's configuration: a DAG's own may not undercut the scan interval of that.

    Args:
        others: knobs that are set for all subjects.
    """
    chosen = {**others, **_OWN.get(subject, {})}
    return {f"_CONDOR_{name}": value for name, value in chosen.items()}
