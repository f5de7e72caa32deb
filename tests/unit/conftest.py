"""What tests of several folders need to have around them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def work_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
