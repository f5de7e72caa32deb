"""Where limits are defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.config import Config
from condor_pydagman.errors import ConfigError
from condor_pydagman.features.shared_limits import configured
from condor_pydagman.features.shared_limits.definitions import Kind
from tests.unit.graph.texts import JOBS, build_text


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


def test_limits_that_are_not_defined_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    dag = build_text(JOBS + "SHARED_LIMIT tape ALL_NODES\n")
    for defined, said in (
        ("disk = JOBS 5", "no such limit; the limits are disk"),
        ("a = JOB 5", "'JOB' is none of"),
    ):
        assert said in configured.unknown_limits(dag, Config(shared_limits=defined))
    assert configured.unknown_limits(dag, Config(shared_limits="TAPE = JOBS 5")) == ""
