"""How many procs of a node may fail before the node does (manual: "TOLERANCE")."""

from __future__ import annotations

from condor_pydagman.config import Config
from condor_pydagman.graph.model import Tolerance


def allowed(tolerance: Tolerance | None, procs: int, config: Config) -> int:
    """How many of `procs` procs may fail."""
    if tolerance is None:
        return config.node_job_failure_tolerance
    return procs * tolerance.limit // 100 if tolerance.percent else tolerance.limit


def removes_the_rest(tolerance: Tolerance | None, config: Config) -> bool:
    """Whether the procs that are left are removed when the node has failed."""
    if tolerance is None or tolerance.fail_fast is None:
        return config.remove_job_list_on_failure
    return tolerance.fail_fast
