"""A run as a WfFormat instance, with which researchers compare workflows.

Source: WfFormat 1.6, the format of WfCommons (wfcommons.org): a specification of the tasks and
their dependencies, and an execution of them.  Identifiers have letters, digits, `-`, `_` and `.`
only; what is not known is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.spans import job_parts, spans

_OTHER = re.compile(r"[^0-9a-zA-Z\-_.]")


def plain_ids(names: Iterable[str]) -> dict[str, str]:
    """An identifier for each name, the name itself if it is one; no two are alike."""
    all_names = list(dict.fromkeys(names))
    found = {name: name for name in all_names if name and not _OTHER.search(name)}
    used = set(found)
    for name in all_names:
        if name not in found:
            plain = _OTHER.sub("_", name) or "_"
            found[name] = made = _unused(plain, used)
            used.add(made)
    return found


def _unused(plain: str, used: set[str]) -> str:
    made, number = plain, 1
    while made in used:
        number += 1
        made = f"{plain}-{number}"
    return made


SCHEMA_VERSION = "1.6"
_MEGABYTE = 1 << 20


class TaskDescription(NamedTuple):
    """What the submit description of a node says.

    Attributes:
        inputs, outputs: sizes of what is transferred for its job, bytes, by paths.
        program: the executable; '' if it has none.
        arguments: of that.
    """

    inputs: Mapping[str, int] = {}
    outputs: Mapping[str, int] = {}
    program: str = ""
    arguments: Sequence[str] = ()


NOT_DESCRIBED = TaskDescription()


def wfformat_text(
    run: Run,
    dag: Dag,
    name: str,
    version: str,
    stamp: Callable[[float], str],
    now: float,
    described: Mapping[str, TaskDescription] = {},
) -> str:
    """The instance as JSON.

    Args:
        name: of the workflow.
        version: of the program that ran it.
        stamp: a time as RFC 3339 has it.
        now: end of what goes on.
        described: nodes by their names, as far as their descriptions are known.
    """
    begin = run.begun or now
    found = spans(run, now)
    end = run.ended or max((span.end for span in found), default=begin)
    named = [node for node in range(len(dag)) if dag.names[node]]  # others have left the DAG
    ids = plain_ids(dag.names)
    sizes: dict[str, int] = {}
    for one in described.values():
        sizes.update({**one.inputs, **one.outputs})
    file_ids = plain_ids(sizes)
    workflow: dict[str, Any] = {
        "specification": {
            "tasks": [_specification(dag, node, ids, described, file_ids) for node in named]
        }
    }
    if sizes:
        workflow["specification"]["files"] = [
            {"id": file_ids[path], "sizeInBytes": size} for path, size in sizes.items()
        ]
    executed = [run.nodes[name] for name in dag.names if _has_run(run.nodes.get(name))]
    if executed:
        workflow["execution"] = {
            "makespanInSeconds": round(max(end - begin, 0.0), 3),
            "executedAt": stamp(begin),
            "tasks": [
                _execution(node, ids[node.name], described.get(node.name, NOT_DESCRIBED), stamp)
                for node in executed
            ],
            **_machines(executed),
        }
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
        "workflow": workflow,
    }
    return json.dumps(instance, indent=1) + "\n"


def _specification(
    dag: Dag,
    node: int,
    ids: Mapping[str, str],
    described: Mapping[str, TaskDescription],
    file_ids: Mapping[str, str],
) -> dict[str, Any]:
    name = dag.names[node]
    task: dict[str, Any] = {
        "name": name,
        "id": ids[name],
        "parents": list(dict.fromkeys(ids[dag.names[parent]] for parent in dag.parents(node))),
        "children": list(dict.fromkeys(ids[dag.names[child]] for child in dag.children(node))),
    }
    own = described.get(name, NOT_DESCRIBED)
    for key, paths in (("inputFiles", own.inputs), ("outputFiles", own.outputs)):
        if paths:
            task[key] = [file_ids[path] for path in paths]
    return task


def _machines(executed: list[NodeRun]) -> dict[str, Any]:
    hosts = sorted({host for node in executed for host in _hosts(node)})
    return {"machines": [{"nodeName": host} for host in hosts]} if hosts else {}


def _has_run(node: NodeRun | None) -> bool:
    return node is not None and any(attempt.started for attempt in node.attempts)


def _hosts(node: NodeRun) -> list[str]:
    """The machines, without the names of their slots."""
    hosts = (host.rpartition("@")[2] for host in node.attempts[-1].hosts)
    return [host for host in dict.fromkeys(hosts) if host]


def _execution(
    node: NodeRun, task_id: str, described: TaskDescription, stamp: Callable[[float], str]
) -> dict[str, Any]:
    """Of the last attempt, which has given the result."""
    attempt = node.attempts[-1]
    parts = job_parts(attempt, attempt.ended) if attempt.started and attempt.ended else ()
    runtime = sum(end - begin for kind, begin, end in parts if kind == "run")
    task: dict[str, Any] = {"id": task_id, "runtimeInSeconds": round(runtime, 3)}
    if attempt.started:
        task["executedAt"] = stamp(attempt.started)
    if described.program:
        task["command"] = {"program": described.program}
        if described.arguments:
            task["command"]["arguments"] = list(described.arguments)
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
