"""What the checker finds in TIMEOUT lines."""

from __future__ import annotations

from condor_pydagman.features.timeout.commands import timeouts_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Code, Findings, Severity

CODES = {
    "DAG410": Code(
        Severity.WARNING,
        "a TIMEOUT whose TOTAL ends the job before another of its limits can",
        "TOTAL counts from submission: make it the longest, or remove the other limit",
    ),
}


def check(dag: Dag, findings: Findings) -> None:
    """Look for limits that are never reached, and for the first TIMEOUT: stock has none."""
    timeouts = timeouts_of(dag)
    for node, (queued, running, total) in timeouts.items():
        for word, limit in (("QUEUED", queued), ("RUNNING", running)):
            if 0 < total < limit:
                name = dag.names[node]
                message = f"TIMEOUT of node {name} has TOTAL {total} s, but {word} {limit} s"
                findings.of_node("DAG410", dag, node, message, "TIMEOUT")
    for node in timeouts:
        name = dag.names[node]
        message = f"node {name} has a TIMEOUT, a command that the stock condor_dagman does not have"
        findings.of_node("DAG411", dag, node, message, "TIMEOUT")
        break
