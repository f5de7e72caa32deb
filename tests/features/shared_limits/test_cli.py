"""The output of `condor_pydagman limits`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from condor_pydagman.cli.pydagman import main
from condor_pydagman.features.shared_limits import cli as limits_command
from condor_pydagman.features.shared_limits.overview import DagPart, LimitRow

DAGS = (
    DagPart("/x/a.dag", "ann", 1, 5, 0, 0.0, True, 1),
    DagPart("/x/b.dag", "bob", 22, 4, 5, 40.0, False),
)
FOUND = [
    LimitRow("mine", "PRE", 2, True, 0, 0, ()),
    LimitRow("tape", "JOBS", 10, False, 9, 5, DAGS, 1),
]


def test_the_table() -> None:
    assert limits_command.table(FOUND) == [
        "LIMIT       WHAT  TAKEN  AHEAD  WAITING  DAGS",
        "mine (own)  PRE     0/2      0        0     0",
        "tape        JOBS   9/10      1        5     2",
    ]
    assert limits_command.table([]) == []


def test_a_line_for_each_dag() -> None:
    assert limits_command.dag_table(FOUND, 100.0) == [
        "LIMIT  WHAT  TAKEN  AHEAD  WAITING    FOR  JOB  USER  DAG",
        "tape   JOBS   5/10      1        0      -    1  ann   /x/a.dag",
        "tape   JOBS   4/10      0        5  1 min   22  bob   /x/b.dag (not running)",
    ]


def test_json_has_the_dags(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_limits(say: Callable[[str], None]) -> list[LimitRow]:
        say("the directory is unusual")
        return FOUND

    monkeypatch.setattr(limits_command, "all_limits", all_limits)
    assert main(["limits", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "the directory is unusual\n"
    found = json.loads(printed.out)
    assert found[1]["dags"][1]["waiting"] == 5 and found[1]["most"] == 10


def test_no_limit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(limits_command, "all_limits", lambda say: [])
    assert main(["limits"]) == 0
    assert "limits are defined by the administrator's" in capsys.readouterr().out
