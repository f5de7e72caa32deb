"""What tests of the pool must know of the bindings that they are run with."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import htcondor2
import pytest

# Attributes whose values the code that submits a job makes up, by other rules in other versions.
MADE_UP = {
    *("LeaveJobInQueue", "RequestDisk", "RequestMemory", "Requirements", "TransferInputSizeMB"),
}


def alike(ad: Mapping[str, Any], pools: str) -> dict[str, Any]:
    """An ad without what bindings of another version than the pool's fill in otherwise.

    Args:
        pools: the version of the pool, whose program's ads are compared with those of ours.
    """
    apart = MADE_UP if htcondor2.version().split()[1] != pools else set()
    return {key: value for key, value in ad.items() if key not in apart}


def need_htcondor_cli() -> None:
    """Skip the test if these bindings come without the command `htcondor`."""
    if find_spec("htcondor_cli") is None:
        pytest.skip(f"bindings {htcondor2.version().split()[1]} have no htcondor_cli")
