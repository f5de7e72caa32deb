"""The jobs of a DAG that are idle or held, and which machines could run them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.diagnosis.known_facts import Clause, Fit
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.notices.known import HELD, IDLE, QueuedJob

MAX_KINDS = 5  # of idle jobs that are compared with machines
Ad = Mapping[str, Any]
_WANTED = (
    *("ClusterId", "ProcId", "JobStatus", "JobUniverse", "DAGNodeName", "EnteredCurrentStatus"),
    *("HoldReason", "HoldReasonCode", "HoldReasonSubCode", "AutoClusterId"),
)
_ALIKE = ("Cmd", "RequestCpus", "RequestMemory", "RequestDisk", "RequestGpus")
_WITHOUT_MACHINE = (7, 9, 12)  # JobUniverse: scheduler, grid, local


def idle_and_held(cluster: int) -> list[Ad]:
    """The ads of a DAG's jobs that are idle or held.

    Raises:
        PoolError: the schedd does not answer.
    """
    condition = f"JobStatus == {IDLE} || JobStatus == {HELD}"
    return schedd_queries.jobs_of_dag(cluster, (*_WANTED, *_ALIKE), condition=condition)


def queued_job(ad: Ad) -> QueuedJob:
    """What an ad says."""
    return QueuedJob(
        f"{ad['ClusterId']}.{ad['ProcId']}",
        str(ad.get("DAGNodeName", "")),
        int(ad["JobStatus"]),
        float(ad.get("EnteredCurrentStatus", 0)),
        str(ad.get("HoldReason", "")),
        int(ad.get("HoldReasonCode", 0)),
        int(ad.get("HoldReasonSubCode", 0)),
    )


def fits_of(cluster: int, ads: Sequence[Ad]) -> list[Fit]:
    """How the idle ones among these jobs fit the machines of the pool, jobs of one kind together.

    Raises:
        PoolError: the schedd or the collector does not answer.
    """
    kinds: dict[Any, list[Ad]] = {}
    for ad in ads:
        if ad["JobStatus"] == IDLE and ad.get("JobUniverse") not in _WITHOUT_MACHINE:
            # the schedd gives the number when jobs are first negotiated for
            alike = ad.get("AutoClusterId") or tuple(str(ad.get(name)) for name in _ALIKE)
            kinds.setdefault(alike, []).append(ad)
    if not kinds:
        return []
    machines, found = schedd_queries.machine_ads(), []
    for jobs in sorted(kinds.values(), key=lambda jobs: -len(jobs))[:MAX_KINDS]:
        first = f"ClusterId == {jobs[0]['ClusterId']} && ProcId == {jobs[0]['ProcId']}"
        nodes = tuple(dict.fromkeys(str(ad.get("DAGNodeName", "")) for ad in jobs))
        for whole in schedd_queries.jobs_of_dag(cluster, (), condition=first):
            found.append(fit_of(whole, len(jobs), nodes, machines))
    return found


_WHOLE = {"Cpus": "TotalSlotCpus", "Memory": "TotalSlotMemory", "Disk": "TotalSlotDisk"}
_WHOLE["GPUs"] = "TotalSlotGPUs"
_IN_JOB = ("requirements", "true", "false", "undefined", "error")


def fit_of(job: Any, jobs: int, nodes: tuple[str, ...], machines: Sequence[Any]) -> Fit:
    """How jobs fit the machines.

    Args:
        job: the whole ad of one of them.
        jobs, nodes: how many there are, and of which nodes.
        machines: the ads of all slots.
    """
    import classad2

    slots = [ad for ad in machines if ad.get("SlotType") != "Dynamic"]
    whole = [_as_if_free(ad) for ad in slots]
    willing = [ad for ad in whole if ad.matches(job)]  # that meet the Requirements of the job
    able = [ad for ad in willing if job.matches(ad)]
    free = len([ad for ad in slots if _is_free(ad) and job.symmetricMatch(ad)])
    clauses = [
        Clause(text, _number_met(classad2.ExprTree(text), job, whole), tuple(_values(text, job)))
        for text in clauses_of(str(job.lookup("Requirements")))
    ]
    name = f"{job['ClusterId']}.{job['ProcId']}"
    counts = len(slots), len(able), len(willing), free
    partitionable = sum(1 for ad in slots if ad.get("PartitionableSlot"))
    return Fit(jobs, name, nodes, *counts, tuple(clauses), partitionable)


def _as_if_free(slot: Ad) -> Any:
    """A partitionable slot as it is when nothing runs in it."""
    if not slot.get("PartitionableSlot"):
        return slot
    import classad2

    found = classad2.ClassAd()
    found.update(slot)
    for name, total in _WHOLE.items():
        if total in slot:
            found[name] = slot[total]
    return found


def _is_free(slot: Ad) -> bool:
    return bool(slot.get("PartitionableSlot")) or slot.get("State") == "Unclaimed"


def _number_met(clause: Any, job: Ad, slots: Sequence[Any]) -> int:
    return sum(1 for slot in slots if clause.eval(scope=job, target=slot) is True)


def _values(text: str, job: Ad) -> Iterator[str]:
    """What the job's attributes in a clause are."""
    for name in names_in(text):
        scope, _, plain = name.rpartition(".")
        if scope.lower() in ("", "my") and plain.lower() not in _IN_JOB and plain in job:
            yield f"{plain} = {_shown(job, plain)}"


def _shown(job: Any, name: str) -> str:
    value = job.eval(name)
    return f'"{value}"' if isinstance(value, str) else str(value)


_SIGN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|&&|\|\||[()?\[\]{}]|[^"\'&|()?\[\]{}]+|.'
)
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.])((?:[A-Za-z_]\w*\.)?[A-Za-z_]\w*)\b(?!\s*\()')
_OPEN, _CLOSE = "([{", ")]}"


def clauses_of(expression: str) -> list[str]:
    """The operands of all `&&` that are in no other operation; the expression itself if none."""
    text = _without_parentheses(expression.strip())
    parts = _split(text)
    if len(parts) == 1:
        return [text]
    return [clause for part in parts for clause in clauses_of(part)]


def names_in(expression: str) -> list[str]:
    """The attributes that an expression names, each once; `TARGET.Memory` as it stands."""
    found = (match[1] for match in _NAME.finditer(expression))
    return list(dict.fromkeys(name for name in found if name))


def _split(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for sign, at in _signs(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth == 0 and sign in ("||", "?"):
            return [text]
        if depth == 0 and sign == "&&":
            parts.append(text[begin:at].strip())
            begin = at + len(sign)
    return [*parts, text[begin:].strip()]


def _without_parentheses(text: str) -> str:
    """Without a pair of parentheses around the whole."""
    while text.startswith("(") and _closes_at(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closes_at(text: str) -> int:
    """Where the first parenthesis is closed, -1 if nowhere."""
    depth = 0
    for sign, at in _signs(text):
        depth += (sign in _OPEN) - (sign in _CLOSE)
        if depth == 0:
            return at
    return -1


def _signs(text: str) -> Iterator[tuple[str, int]]:
    return ((found[0], found.start()) for found in _SIGN.finditer(text))
