"""The generated page of states: in step with the tables, and what its diagrams are made of."""

from __future__ import annotations

import runpy
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.engine.dag_states import MOVES, Phase
from condor_pydagman.engine.node_states import TABLE, State

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools/state_diagrams.py"))


class Light(IntEnum):
    """With and without comments."""

    RED = 0  # stop, or wait
    AMBER = 1
    GREEN = 2  # "go" | drive


def test_the_page_is_in_step_with_the_tables(tool: dict[str, Any]) -> None:
    """If this fails, write it anew: python -m tools.generate."""
    assert (ROOT / "docs/states.md").read_text(encoding="utf-8") == tool["text"]()


def test_every_move_has_an_arrow(tool: dict[str, Any]) -> None:
    text = tool["text"]()
    for (old, cause), new in TABLE.items():
        lines = [line for line in text.splitlines() if f" {old.name} --> {new.name}" in line]
        why = cause.name.lower().replace("_", " ")
        assert any(why in line for line in lines), (old, cause, new)
    for phase, reachable in MOVES.items():
        for other in reachable:
            assert f"    {phase.name} --> {other.name}\n" in text


def test_moves_between_the_same_states_share_an_arrow(tool: dict[str, Any]) -> None:
    moves = [("GREEN", "AMBER", "TIME_UP"), ("RED", "GREEN", "TIME_UP"), ("GREEN", "AMBER", "FOG")]
    assert tool["diagram"](Light, moves) == (
        "```mermaid\nstateDiagram-v2\n"
        "    [*] --> RED\n"
        "    RED --> GREEN: time up\n"
        "    GREEN --> AMBER: time up, fog\n"
        "    AMBER --> [*]\n"
        "```\n"
    )


def test_meanings_are_the_comments_beside_the_members(tool: dict[str, Any]) -> None:
    assert tool["comments"](Light) == {
        "RED": "stop, or wait",
        "AMBER": "",
        "GREEN": '"go" | drive',
    }


def test_a_table_escapes_what_would_end_a_cell(tool: dict[str, Any]) -> None:
    shown = {"RED": "r", "AMBER": "a", "GREEN": "g"}
    table = tool["table"](("light", "letter", "meaning"), Light, shown)
    assert table.splitlines()[2:] == [
        "| `RED` | r | stop, or wait |",
        "| `AMBER` | a |  |",
        '| `GREEN` | g | "go" \\| drive |',
    ]


@pytest.mark.parametrize("states", [State, Phase])
def test_every_state_says_what_it_is(tool: dict[str, Any], states: type[Enum]) -> None:
    """By a comment beside it."""
    assert [name for name, meaning in tool["comments"](states).items() if not meaning] == []
