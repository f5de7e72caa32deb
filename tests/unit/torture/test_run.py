"""Which runs there are, in which order, and what a command finds of one before it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest

from tests.torture.disturbances import DISTURBANCES
from tests.torture.run import ROUND, TO_ALL, Torture, arguments, main, plan
from tests.torture.session import OURS, STOCK


def first(flavour: str, only: list[str], count: int = 200) -> list[list[str]]:
    batches = list(islice(plan(flavour, only, 4), count))
    numbers = [run.number for batch in batches for run in batch]
    assert numbers == list(range(len(numbers)))
    return [[run.disturbance for run in batch] for batch in batches]


def test_every_disturbance_is_planned() -> None:
    drawn = first(OURS, [])
    assert {name for batch in drawn for name in batch} == set(DISTURBANCES)
    assert set(ROUND) | set(TO_ALL) == set(DISTURBANCES)
    for batch in drawn:
        assert len(batch) == (4 if DISTURBANCES[batch[0]].to_all else 1)


def test_disturbances_of_ours_are_not_planned_for_stock() -> None:
    names = {name for batch in first(STOCK, []) for name in batch}
    assert names == {
        name for name, disturbance in DISTURBANCES.items() if not disturbance.ours_only
    }


def test_only_some() -> None:
    names = {name for batch in first(OURS, ["disk", "pool kill"]) for name in batch}
    assert names == {"disk", "pool kill"}


def test_what_is_finished_is_known(tmp_path: Path) -> None:
    book = tmp_path / "runs.jsonl"
    assert Torture(book, 500, 8).killed(OURS) == 0
    records = [
        {"number": 0, "flavour": OURS, "disturbance": "kill", "kills": 7},
        {"number": 1, "flavour": OURS, "disturbance": "hold", "broken": "no pool"},
        {"number": 0, "flavour": STOCK, "disturbance": "kill", "kills": 3},
    ]
    book.write_text("".join(json.dumps(record) + "\n" for record in records))
    torture = Torture(book, 500, 8)
    assert torture.killed(OURS) == 7
    assert len(torture.of(OURS)) == 2


def test_a_report_without_a_run(tmp_path: Path) -> None:
    record = {"number": 0, "flavour": OURS, "disturbance": "kill", "kills": 7, "lost": ["A"]}
    (tmp_path / "runs.jsonl").write_text(json.dumps(record) + "\n")
    page, data = tmp_path / "page.md", tmp_path / "data.json"
    words = ["--kills", "7", "--dir", str(tmp_path), "--report", str(page), "--json", str(data)]
    assert main(words) == 1
    assert "| SIGKILL of DAGMan at random | 1 |" in page.read_text()
    assert json.loads(data.read_text())[0]["lost"] == 1


def test_an_unknown_disturbance_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "kill,tickle"]) == 2
    assert "no disturbance tickle; there are kill, " in capsys.readouterr().err


def test_as_many_kills_as_it_takes() -> None:
    assert arguments([]).kills == 500
