"""What tests of several features use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page_logs import dag_file, logs
from tests.unit.follow.bench import Bench

__all__ = ["bench", "dag_file", "logs"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
