"""What the gate runs of the tests on a real HTCondor, and what only these can prove.

The gate has all tests of the other tiers as well, but for those marked `long`.  What is not here
runs with `sh tests/run.sh --all`.
"""

from __future__ import annotations

import pytest

POOL = "tests/pool/"
# Test, below POOL: what only a pool can show.
SCENES: dict[str, str] = {}


def has(item: pytest.Item) -> bool:
    """Whether the gate runs a test."""
    path, _, name = item.nodeid.partition("::")
    if path.startswith(POOL):
        return f"{path[len(POOL) :]}::{name}" in SCENES
    return item.get_closest_marker("long") is None
