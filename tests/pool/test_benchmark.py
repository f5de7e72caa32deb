"""The benchmark runs, and gives all it promises; what its numbers are is not asked."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from benchmarks import figures

CHECKOUT = Path(__file__).resolve().parents[2]
STEPS = (
    "chain,held,held-curve,crowd,submit,obeying,punctual,many-idle,"
    "load,load-curve,recovery,recovery-curve,engine,look-curve"
)
SUBJECTS = "floor,ours,together"  # stock takes most of a minute


def test_a_run_has_all_numbers_tables_and_charts(work: Path, place: Path) -> None:
    directory = place / "benchmark"  # a pool refuses one that everybody may write to, as `work` is
    directory.mkdir()
    shutil.copy(CHECKOUT / "docs" / "performance.md", work)
    numbers = work / "numbers.json"
    argv = ["--smallest", "--only", STEPS, "--subjects", SUBJECTS, "--dir", str(directory)]
    argv += ["--json", str(numbers), "--report", "--docs", str(work)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.run", *argv],
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(numbers.read_text(encoding="utf-8"))
    assert told["failures"] == []
    results: figures.Results = told["numbers"]
    for row in (row for title in ("Reaction", "Many", "Orders") for row in figures.GROUPS[title]):
        assert row.name == "many run" or results["ours"][row.name], row
    assert {"reaction", "held rate", "held rate, DAG's job"} <= set(results["floor"])
    assert {"submit_dag", "recovery time", "load time vars 1000"} <= set(results["ours"])
    assert results["ours"]["crowd cpu"][0] >= results["ours"]["crowd cpu alone"][0] > 0
    assert "held rate 5" in results["together"]
    for title in figures.CURVES:
        assert title in dict(figures.groups(results))
    for found in results.values():
        assert all(math.isfinite(number) for values in found.values() for number in values)
    page = (work / "performance.md").read_text(encoding="utf-8")
    for title, rows in figures.groups(results):
        assert f"<!-- begin {title} -->" in page
        for row in rows:
            assert f"| {row.text} |" in page
            assert f"| {row.text} |" in done.stdout
    drawings = list((work / "charts").glob("*.svg"))
    stems = {path.stem for path in drawings}
    assert stems >= {"reaction", "bags", "many-memory", "recovery", "curve-held"}
    for path in drawings:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        assert f"(charts/{path.name})" in page
    assert not list(directory.iterdir())
