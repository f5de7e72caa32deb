"""Work orders of DATA nodes that nobody carries out any more."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.features.data.jobs import remove_work_orders


def test_orders_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.order", "b.order", "a.journal", "a.out"):
        (tmp_path / name).write_text("")
    remove_work_orders(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"a.journal", "a.out"}
    remove_work_orders(str(tmp_path / "not there"))
