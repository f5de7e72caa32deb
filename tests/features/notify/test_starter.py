"""Starting the processes of NOTIFY."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.features.notify import starter
from tests.unit.graph.texts import build_text

OF_DAG = build_text("NOTIFY dag.end PROGRAM ./x a b\n")


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(
        starter.detached_process, "start", lambda module, order: found.append(json.loads(order))
    )
    return found


def test_orders(orders: list[dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    primary = str(tmp_path / "t.dag")
    for name in "xy":
        (tmp_path / name).touch(0o755)
    starter.start(primary, OF_DAG, "* URL http://a/; ;dag.* PROGRAM y", said.append)
    assert orders == [
        {"dag": primary, "number": 1, "kinds": "dag.end", "program": ["./x", "a", "b"], "url": ""},
        {"dag": primary, "number": 2, "kinds": "*", "program": [], "url": "http://a/"},
        {"dag": primary, "number": 3, "kinds": "dag.*", "program": ["y"], "url": ""},
    ]
    assert not said


def test_a_program_that_is_not_there_is_said(orders: list[dict[str, Any]], tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "plain").touch(0o644)
    starter.start(str(tmp_path / "t.dag"), OF_DAG, "* PROGRAM plain", said.append)
    assert said == [
        f"Warning: NOTIFY 1: {tmp_path}/x does not exist",
        f"Warning: NOTIFY 2: {tmp_path}/plain can't be executed",
    ]
    assert len(orders) == 2  # it may come


def test_what_goes_wrong_is_said(
    orders: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said: list[str] = []
    (tmp_path / "x").touch(0o755)
    primary = str(tmp_path / "t.dag")
    starter.start(primary, OF_DAG, "dag.ends PROGRAM x", said.append)
    (warning,) = said
    assert warning.startswith("Warning: PYDAGMAN_NOTIFY is ignored: There are no events 'dag.ends'")
    assert len(orders) == 1

    def no_process() -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.undo()
    monkeypatch.setattr(os, "fork", no_process)
    starter.start(primary, OF_DAG, "", said.append)
    assert said[1] == (
        "Warning: can't start the process of NOTIFY 1: Resource temporarily unavailable"
    )
