"""What `condor_pydagman steer` prints."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.adapters.request_client import SteeringAnswer
from condor_pydagman.cli import pydagman, steer


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "1 node run again"),
        ({"descendants": 1}, "1 node run again, and 1 more that depends on it"),
        ({"descendants": 3}, "1 node run again, and 3 more that depend on it"),
    ],
)
def test_descendants_are_counted(
    fields: dict[str, Any],
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steer, "running_dag", lambda dag: dag)
    monkeypatch.setattr(steer, "steer", lambda *_, **__: SteeringAnswer(1, (), 0, fields))
    assert pydagman.main(["steer", "rerun", "x.dag", "A", "--descendants"]) == 0
    assert capsys.readouterr().out == line + "\n"
