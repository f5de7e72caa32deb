"""condor_pydagman runs: DAGs that have ended, by the schedd's history."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.cli.dag_table import ENDED, Choice, chosen
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.ended_dags import WANTED, ended_dag
from tests.schemas import check

ADS: list[dict[str, Any]] = [
    {
        **{"ClusterId": 7, "Owner": "ann", "Iwd": "/d", "UserLog": "a.dag.dagman.log", "QDate": 50},
        **{"JobStatus": 4, "ExitCode": 1, "CompletionDate": 7300, "JobStartDate": 100},
        **{"DAG_NodesTotal": 4, "DAG_NodesDone": 3, "DAG_NodesFailed": 1},
        **{"PYDAGMAN_FailedNodes": "B", "PYDAGMAN_Retries": 2, "PYDAGMAN_RunSeconds": 5400},
    },
    # Stock DAGMan's that was removed before it had published anything.
    {
        **{"ClusterId": 6, "Owner": "bob", "Iwd": "/d", "UserLog": "b.dag.dagman.log", "QDate": 60},
        **{"JobStatus": 3, "EnteredCurrentStatus": 90, "PYDAGMAN_FailedNodes": "x" * 9000},
    },
]


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    calls: list[tuple[object, ...]] = []

    def answer(*arguments: object) -> list[dict[str, Any]]:
        calls.append(arguments)
        return ADS

    monkeypatch.setattr(schedd_queries, "ads_in_history", answer)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return calls


def test_the_list(
    asked: list[tuple[object, ...]], capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    assert pydagman.main(["runs", "-ended", "9", "-name", "s"]) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    ((condition, *rest),) = asked
    assert str(condition).startswith("JobUniverse == 7 && (DAG_NodesTotal =!= undefined || ")
    assert str(condition).endswith(" && (DAGManJobId is undefined)")
    assert rest == [WANTED, 9, "s", ""]
    assert head.split()[:3] == ["JOB", "OWNER", "ENDED"]
    for text in ("failed (1)", "3/4", "2 h", "1.5", " B ", "/d/a.dag"):
        assert text in first
    assert len(second) < 300
    for text in ("removed", "30 s", "/d/b.dag"):
        assert text in second
    monkeypatch.setattr(schedd_queries, "ads_in_history", lambda *_: [])
    assert pydagman.main(["runs", "-user", "ann", "-name", "s"]) == 0
    assert capsys.readouterr().out == (
        "ann has no DAG in the history of the schedd s; those of all users: -allusers\n"
    )


def test_of_one_dag_its_runs_are_listed(
    asked: list[tuple[object, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "l").symlink_to("d")
    monkeypatch.chdir(tmp_path / "d")
    for word in ("./my.dag", f"{tmp_path}/l/my.dag", "1234"):
        assert pydagman.main(["runs", word]) == 0
    relative, linked, cluster = (str(condition) for condition, *_ in asked)
    is_log = f'replaceAll("/[.]/", UserLog, "/") =?= "{tmp_path}'
    assert f'{is_log}/d/my.dag.dagman.log"' in relative
    assert f'{is_log}/d/my.dag.dagman.log"' in linked, "as the submission names it"
    assert f'{is_log}/l/my.dag.dagman.log"' in linked
    assert cluster.endswith(" && (ClusterId =?= 1234)")
    assert "DAGManJobId" not in relative, "it may be a sub-DAG"


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_dag_that_is_not_there_is_an_error(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedd_queries, "ads_in_history", lambda *_: [])
    monkeypatch.setattr(schedd_queries, "ads_in_queue", lambda *_: [])
    for command, where in ("runs", "history"), ("top", "queue"):
        assert pydagman.main([command, "nosuch.dag", "-name", "s", *words]) == 1
        said = capsys.readouterr()
        known = f"condor_pydagman: no user has a DAG nosuch.dag in the {where} of the schedd s"
        assert (said.out, said.err[: len(known)]) == ("", known)


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert pydagman.main(["runs", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for row in rows:
        check("runs", row)
    assert [row["exit_code"] for row in rows] == [1, None]


@pytest.mark.parametrize("word", ENDED)
def test_any_column_sorts(word: str) -> None:
    dags = list(map(ended_dag, ADS))
    assert {one.cluster for one in chosen(dags, ENDED, Choice(word))} == {6, 7}
