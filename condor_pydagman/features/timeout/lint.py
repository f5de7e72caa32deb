"""What the checker finds in TIMEOUT lines."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.timeout.commands import Timeout, timeouts_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Code, Findings, Severity

CODES = {
    "DAG410": Code(
        Severity.WARNING,
        "a limit of a TIMEOUT that is never reached, since another one ends the job before",
        "TOTAL counts from submission: make it the longest, and limits with WARN shorter than those"
        " without; or remove one",
    ),
}


def _never_reached(limits: Timeout) -> Iterator[tuple[str, int, str, int]]:
    """Limits, each with its words, and the words and seconds of one that is reached before."""
    queued, running, total, *late = limits
    for word, limit in (("QUEUED", queued), ("RUNNING", running)):
        if 0 < total < limit:
            yield word, limit, "TOTAL", total
    for word, limit, end in zip(("QUEUED", "RUNNING", "TOTAL"), late, limits):
        if 0 < end <= limit:
            yield f"{word} WARN", limit, word, end


def check(dag: Dag, findings: Findings) -> None:
    """Look for limits that are never reached, and for the first TIMEOUT: stock has none."""
    timeouts = timeouts_of(dag)
    for node, limits in timeouts.items():
        for what, limit, other, least in _never_reached(limits):
            name = dag.names[node]
            message = f"TIMEOUT of node {name} has {other} {least} s, but {what} {limit} s"
            findings.of_node("DAG410", dag, node, message, "TIMEOUT")
    for node in timeouts:
        name = dag.names[node]
        message = f"node {name} has a TIMEOUT, a command that the stock condor_dagman does not have"
        findings.of_node("DAG411", dag, node, message, "TIMEOUT")
        break
