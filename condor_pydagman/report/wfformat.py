"""A run as a WfFormat instance, with which researchers compare workflows.

Source: WfFormat 1.6, the format of WfCommons (wfcommons.org): a specification of the tasks and
their dependencies, and an execution of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from condor_pydagman.graph.model import Dag
from condor_pydagman.report.spans import job_parts, spans
from condor_pydagman.trace.run_history import NodeRun, Run

SCHEMA_VERSION = "1.6"
_MEGABYTE = 1 << 20


def wfformat_text(
    run: Run, dag: Dag, name: str, version: str, stamp: Callable[[float], str], now: float
) -> str:
    """The instance as JSON.

    Args:
        name: of the workflow.
        version: of the program that ran it.
        stamp: a time as RFC 3339 has it.
        now: end of what goes on.
    """
    begin = run.begun or now
    found = spans(run, now)
    end = run.ended or max((span.end for span in found), default=begin)
    tasks = [_specification(dag, node) for node in range(len(dag))]
    executed = [run.nodes[name] for name in dag.names if _has_run(run.nodes.get(name))]
    hosts = sorted({host for node in executed for host in _hosts(node)})
    instance = {
        "name": name,
        "description": "a run of an HTCondor DAG, as its logs tell it",
        "createdAt": stamp(now),
        "schemaVersion": SCHEMA_VERSION,
        "runtimeSystem": {
            "name": "HTCondor DAGMan",
            "url": "https://htcondor.org",
            "version": version or "unknown",
        },
        "workflow": {
            "specification": {"tasks": tasks, "files": []},
            "execution": {
                "makespanInSeconds": round(max(end - begin, 0.0), 3),
                "executedAt": stamp(begin),
                "tasks": [_execution(node, dag, stamp) for node in executed],
                "machines": [{"nodeName": host} for host in hosts],
            },
        },
    }
    return json.dumps(instance, indent=1) + "\n"


def _specification(dag: Dag, node: int) -> dict[str, Any]:
    return {
        "name": dag.names[node],
        "id": dag.names[node],
        "parents": list(dict.fromkeys(dag.names[parent] for parent in dag.parents(node))),
        "children": list(dict.fromkeys(dag.names[child] for child in dag.children(node))),
        "inputFiles": [],
        "outputFiles": [],
    }


def _has_run(node: NodeRun | None) -> bool:
    return node is not None and any(attempt.started for attempt in node.attempts)


def _hosts(node: NodeRun) -> list[str]:
    return [host for host in dict.fromkeys(node.attempts[-1].hosts) if host]


def _execution(node: NodeRun, dag: Dag, stamp: Callable[[float], str]) -> dict[str, Any]:
    """Of the last attempt, which has given the result."""
    attempt = node.attempts[-1]
    parts = job_parts(attempt, attempt.ended) if attempt.started and attempt.ended else ()
    runtime = sum(end - begin for kind, begin, end in parts if kind == "run")
    task: dict[str, Any] = {"id": node.name, "runtimeInSeconds": round(runtime, 3)}
    if attempt.started:
        task["executedAt"] = stamp(attempt.started)
    number = dag.find(node.name)
    if number is not None and dag.submits[number]:
        task["command"] = {"program": dag.submits[number]}
    cpus, memory = attempt.usage.get("Cpus"), attempt.usage.get("Memory (MB)")
    if cpus is not None and cpus.allocated:
        task["coreCount"] = int(cpus.allocated)
    if runtime:
        task["avgCPU"] = round(100 * attempt.cpu_s / runtime, 2)
    if memory is not None and memory.used is not None:
        task["memoryInBytes"] = int(memory.used * _MEGABYTE)
    task.update(readBytes=attempt.bytes_received, writtenBytes=attempt.bytes_sent)
    hosts = _hosts(node)
    if hosts:
        task["machines"] = hosts
    return task
