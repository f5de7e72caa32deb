"""The memory of tortured DAGMans as a chart."""

from __future__ import annotations

from pathlib import Path

from tests.torture import memory


def test_chart(tmp_path: Path) -> None:
    runs, file = tmp_path / "runs", tmp_path / "memory.csv"
    with memory.recorded(runs, file):  # there is no DAGMan
        pass
    assert all(name in file.with_suffix(".svg").read_text() for name in memory.COLUMNS)
    file.write_text("seconds,...\n2,3,1,40,30.5\n4,3,3,10,0.3\n")
    assert memory.chart(file).count("<polyline") == len(memory.COLUMNS) - 1
