"""The process that reads the runs of a DAG and compares two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.web.run_answers import main
from tests.unit.report.test_comparison import a_run


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(words) == 0
    return json.loads(capsys.readouterr().out)


def test_the_last_two_runs(work_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_run(work_directory, "a.dag", ran=60)
    alone = told(capsys, "a.dag", "0", "0", "")
    assert (len(alone["runs"]), alone["rows"], alone["a"], alone["b"]) == (1, [], 0, 1)
    a_run(work_directory, "a.dag", ran=90, fails=True)
    found = told(capsys, "a.dag", "0", "0", "")
    assert (found["a"], found["b"]) == (1, 2)
    assert [(run["number"], run["state"], run["took_s"]) for run in found["runs"]] == [
        (1, "succeeded", 76), (2, "succeeded", 201)
    ]  # fmt: skip
    assert [run["failed"] for run in found["runs"]] == [0, 1]
    rows = {row[0]: row[1:] for row in found["rows"]}
    assert rows["run"] == ["run 1", "run 2", ""]
    assert rows["took"] == ["1 min 16 s", "3 min 21 s", "+2 min 5 s"]
    assert told(capsys, "a.dag", "2", "1", "")["rows"][2][3] == "-2 min 5 s"


def test_another_dag(work_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_run(work_directory, "a.dag", ran=60)
    a_run(work_directory, "b.dag", ran=90)
    assert told(capsys, "a.dag", "0", "1", "b.dag")["rows"][1] == ["run", "b.dag", "run 1", ""]


def test_what_there_is_not(work_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_run(work_directory, "a.dag", ran=60)
    assert main(("a.dag", "1", "7", "")) == 1
    assert "a.dag has 1 run, and no run 7" in capsys.readouterr().err
    assert main(("x.dag", "0", "0", "")) == 1
    assert "there is no DAG file x.dag" in capsys.readouterr().err
