"""Where limits are defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.errors import ConfigError
from condor_pydagman.limit_claims import configured
from condor_pydagman.shared_limits.definitions import Kind


def test_the_knob_and_the_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert configured.limits("") == {}
    own = tmp_path / ".condor/pydagman_limits"
    own.parent.mkdir()
    own.write_text("mine = PRE 3\nTAPE = JOBS 99\n")
    found = configured.limits("tape = JOBS 5")
    assert found["tape"].most == {Kind.JOBS: 5} and found["mine"].own


def test_a_mistake_is_told_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    own = tmp_path / ".condor/pydagman_limits"
    own.parent.mkdir()
    own.write_text("mine = 3\n")
    with pytest.raises(ConfigError, match=r"\.condor/pydagman_limits: mine = 3"):
        configured.limits("")
    own.unlink()
    own.mkdir()
    with pytest.raises(ConfigError, match="Is a directory"):
        configured.limits("")
