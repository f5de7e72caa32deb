"""What tests of followers get."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.follow.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Logs of a DAG that has not begun."""
    return Bench(tmp_path)
