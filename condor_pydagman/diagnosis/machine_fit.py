"""Whether the machines of the pool can run jobs that are idle, by the Requirements of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.diagnosis.clauses import clauses_of, names_in
from condor_pydagman.diagnosis.known_facts import Clause, Fit

Ad = Mapping[str, Any]
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
