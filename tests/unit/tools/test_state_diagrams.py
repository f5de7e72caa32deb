"""The generated page of states: in step with the tables, whose states all say what they are."""

from __future__ import annotations

import runpy
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.engine.dag_states import MOVES, Phase
from condor_pydagman.engine.node_states import TABLE, State

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools/state_diagrams.py"))


def test_every_move_has_an_arrow(tool: dict[str, Any]) -> None:
    text = tool["text"]()
    for (old, cause), new in TABLE.items():
        lines = [line for line in text.splitlines() if f" {old.name} --> {new.name}" in line]
        why = cause.name.lower().replace("_", " ")
        assert any(why in line for line in lines), (old, cause, new)
    for phase, reachable in MOVES.items():
        for other in reachable:
            assert f"    {phase.name} --> {other.name}\n" in text


@pytest.mark.parametrize("states", [State, Phase])
def test_every_state_says_what_it_is(tool: dict[str, Any], states: type[Enum]) -> None:
    """By a comment beside it."""
    assert [name for name, meaning in tool["comments"](states).items() if not meaning] == []
