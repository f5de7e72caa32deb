"""All that the page shows of one node.  For the thread for files only."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

from condor_pydagman.diagnosis.explain_node import explain_node
from condor_pydagman.diagnosis.failed_nodes import failure_of
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.diagnosis.last_lines import excerpt_of
from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_state import DagState
from condor_pydagman.names import logged_name
from condor_pydagman.printable import printable
from condor_pydagman.vocabulary import NodeKind, NodeStatus
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.files import files_of_node
from condor_pydagman.web.group_rows import group_of_node
from condor_pydagman.web.node_rows import row_of

MAX_NEAR = 50  # parents, and children
MAX_VALUE = 2000  # characters of a variable's value
MAX_HOLDS = 10
MAX_HOSTS = 20


def details_of(reader: DagReader, number: int, state: str) -> dict[str, Any]:
    """A node's row, and what is beside, before and behind it.

    Args:
        state: of the DAG, in words.

    Raises:
        Refused: there is no such node.
    """
    reader.check(number)
    run, dag, last = reader.node_run(number), reader.dag, reader.last_attempt(number)
    found = {**row_of(reader, number, time.time()), "attempts": len(run.attempts) if run else 0}
    found["job"] = _job(last)
    found.update(explained(reader, number, state))
    if dag is None:
        near: dict[str, Any] = {"parents": [], "parents_count": 0}
        near.update({"children": [], "children_count": 0})
        return {**found, **near, "vars": {}, "files": [], "kind": "JOB", "submit": ""}
    files = files_of_node(reader.found, dag, number, last)
    return {
        **found,
        **_near(reader, "parents", dag.parents(number)),
        **_near(reader, "children", dag.children(number)),
        **group_of_node(reader, number),
        "kind": NodeKind(dag.kinds[number]).name,
        "submit": dag.submits[number] if dag.submits[number] not in dag.descriptions else "",
        "vars": _variables(dag, number),
        "files": [
            {"kind": kind, "path": printable(shown(path)), "exists": os.path.exists(path)}
            for kind, path in files.items()
        ],
    }


def explained(reader: DagReader, number: int, state: str) -> dict[str, Any]:
    """Why the node is in its state, and what has happened to it; by the files alone: to ask the
    schedd takes too long here."""
    facts = _facts(reader, number, state)
    found = explain_node(facts, logged_name(reader.names[number])).to_json()
    return {
        "headline": found["headline"],
        "explain": [shown_finding(finding) for finding in found["findings"]],
        "life": found["life"],
    }


def shown_finding(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding of `condor_pydagman explain --json` as the page shows it."""
    return {
        "weight": finding["weight"],
        "finding": finding["sentence"],
        "evidence": [_evidence(one) for one in finding["evidence"]],
        "advice": list(finding["advice"]),
        "nodes": list(finding["nodes"]),
        "inner": [
            {
                "headline": inner["headline"],
                "findings": [shown_finding(one) for one in inner["findings"]],
            }
            for inner in finding["inner"]
        ],
    }


def _evidence(evidence: dict[str, Any]) -> str:
    text = evidence["source"] + (f": {evidence['text']}" if evidence.get("text") else "")
    return "\n".join([text, *evidence.get("lines", ())])


def _facts(reader: DagReader, number: int, state: str) -> Facts:
    found, dag, run = reader.found, reader.dag, reader.node_run(number)
    quiet = found._replace(schedd_problem="it is not asked")
    excerpts = {}
    if run is not None and run.status is NodeStatus.ERROR:
        excerpt = excerpt_of(failure_of(run, reader.run, dag), quiet, dag)
        excerpts = {run.name: excerpt} if excerpt is not None else {}
    return Facts(
        found.name,
        DagState(state),
        time.time(),
        reader.run,
        found.exit_code,
        found.cluster,
        found.ad,
        dag,
        shown(found.nodes_log),
        shown(found.out),
        shown(found.paths.halt),
        os.path.exists(found.paths.halt),
        excerpts=excerpts,
    )


def _near(reader: DagReader, what: str, numbers: Iterable[int]) -> dict[str, Any]:
    """The first parents or children, and how many there are."""
    found = list(dict.fromkeys(numbers))
    return {what: [reader.brief(one) for one in found[:MAX_NEAR]], f"{what}_count": len(found)}


def _job(attempt: Attempt | None) -> dict[str, Any]:
    """Of the last attempt; {} if there is none."""
    if attempt is None or not attempt.procs:
        return {}
    return {
        "job": attempt.job,
        "procs": attempt.procs,
        "running": attempt.running,
        "held": attempt.held,
        "ended": attempt.ended_procs,
        "submitted": attempt.submitted,
        "value": attempt.value,
        "hosts": list(attempt.hosts[-MAX_HOSTS:]),
        "evictions": attempt.evictions,
        "holds": [
            {"time": hold.time, "reason": hold.reason, "code": hold.code, "job": hold.job}
            for hold in attempt.holds[-MAX_HOLDS:]
        ],
        "cpu_s": round(attempt.cpu_s, 3),
        "usage": {name: row._asdict() for name, row in attempt.usage.items()},
        "bytes_sent": attempt.bytes_sent,
        "bytes_received": attempt.bytes_received,
    }


def _variables(dag: Dag, number: int) -> dict[str, str]:
    if number not in dag.variables:
        return {}
    return {one.key: one.value[:MAX_VALUE] for one in dag.variables[number]}
