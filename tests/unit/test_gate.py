"""Which tests the gate runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests import gate

SCENE = "test_a.py::test_scene[x]"


def collected(nodeid: str, *marks: str) -> Any:
    class Item:
        """Stands for a test that pytest has collected."""

        def get_closest_marker(self, name: str) -> str | None:
            return name if name in marks else None

    made = Item()
    made.nodeid = nodeid  # type: ignore[attr-defined]
    return made


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "ON_THE_POOL", {SCENE: "why"})


def test_it_has_the_scenes_of_the_table_and_the_tests_of_other_tiers_that_are_not_long() -> None:
    scene = collected(f"tests/pool/{SCENE}")
    short = collected("tests/unit/test_b.py::test_b")
    others = [
        collected("tests/pool/test_a.py::test_scene[y]"),
        collected("tests/sim/test_sim.py::test_seeds", "long"),
    ]
    assert gate.of([others[0], scene, others[1], short]) == [scene, short]


def test_a_scene_that_is_not_there_is_told() -> None:
    with pytest.raises(pytest.UsageError, match=r"not there: \['test_a.py::test_scene\[x\]'\]"):
        gate.of([collected("tests/pool/test_a.py::test_renamed[x]")])


def test_the_gate_has_few_tests_on_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert len(gate.ON_THE_POOL) <= 45, "take one out: each must show what no other does"
