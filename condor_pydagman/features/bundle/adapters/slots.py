"""How many jobs the pool can run at once, by the ads of its machines."""

from __future__ import annotations

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS

_WANTED = ["SlotType", "PartitionableSlot", "DynamicSlot", "TotalSlotCpus", "Cpus"]


def known_slots() -> int:
    """Cores of partitionable slots and static slots, whoever uses them; 0 if it can't be told."""
    try:
        ads = htcondor2.Collector().query(htcondor2.AdType.Startd, "DynamicSlot =!= true", _WANTED)
    except BINDINGS:
        return 0
    found = 0
    for ad in ads:
        cpus = ad.get("TotalSlotCpus", ad.get("Cpus", 1))
        partitionable = ad.get("PartitionableSlot", False) is True
        found += int(cpus) if partitionable and isinstance(cpus, int) else 1
    return found
