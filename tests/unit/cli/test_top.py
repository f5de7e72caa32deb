"""condor_pydagman top: what is asked for, the table, the keys."""

from __future__ import annotations

import curses
import json
import os
from collections.abc import Sequence
from typing import Any

import pytest

from condor_pydagman.adapters import knobs
from condor_pydagman.cli import pydagman, top, top_screen
from condor_pydagman.cli.dag_table import IN_QUEUE, Choice, chosen
from condor_pydagman.cli.text_table import table
from condor_pydagman.cli.top_screen import View, summary, table_within
from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.queued_dags import QueuedDag, queued_dag
from tests.schemas import check


def dag(cluster: int, owner: str = "ann", **more: Any) -> QueuedDag:
    ad = {"ClusterId": cluster, "Owner": owner, "Iwd": "/d", "UserLog": f"{owner}.dag.dagman.log"}
    return queued_dag({**ad, "JobStatus": 2, **more})


DAGS = [
    dag(1, DAG_NodesTotal=9, DAG_NodesDone=3, PYDAGMAN_LastNodeEnd=400, DAG_JobsHeld=1),
    dag(2, "bob", DAG_NodesTotal=9, DAG_NodesDone=8, PYDAGMAN_WaitsFor="job.idle"),
    dag(3, "\x1b[31mcy", DAGManJobId=1),
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    conditions: list[str] = []

    def look(condition: str, **_: str) -> Sequence[QueuedDag]:
        conditions.append(condition)
        return DAGS

    monkeypatch.setattr(top, "queued_dags", look)
    monkeypatch.setattr(schedd_queries, "user", lambda: "ann")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return conditions


@pytest.mark.parametrize(
    ("words", "condition"),
    [
        ([], 'DAGManJobId is undefined && Owner =?= "ann"'),
        (["-allusers"], "DAGManJobId is undefined"),
        (["-allusers", "-subdags"], "true"),
        (["-user", 'b"ob', "-subdags"], 'Owner =?= "b\\"ob"'),
        (["-constraint", "a || b", "-subdags"], 'Owner =?= "ann" && (a || b)'),
    ],
)
def test_whose(asked: list[str], words: list[str], condition: str) -> None:
    assert pydagman.main(["top", "--once", *words]) == 0
    assert asked == [condition]


def test_root_sees_all(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert pydagman.main(["top"]) == 0
    assert pydagman.main(["top", "-user", "bob"]) == 0
    assert asked == [
        "DAGManJobId is undefined", 'DAGManJobId is undefined && Owner =?= "bob"'
    ]  # fmt: skip
    for words in (["-user", "bob", "-allusers"], ["-pool", "p"], ["-constraint", "true || ("]):
        assert pydagman.main(["top", *words]) == 1
    assert pydagman.main(["top", "-constraint", "a) || (b"]) == 1
    assert len(asked) == 2


def test_json(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert pydagman.main(["top", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for row in rows:
        check("top", row)
    assert [(row["v"], row["cluster"], row["outer"]) for row in rows] == [
        (1, 1, 0), (1, 2, 0), (1, 3, 1)
    ]  # fmt: skip


@pytest.mark.usefixtures("asked")
def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    columns = list(IN_QUEUE.values())
    head, first, second, third = table(columns, DAGS, 1000.0)
    assert head.split()[:3] == ["JOB", "OWNER", "STATE"]
    assert "3/9" in first and "10 min" in first and first.endswith("/d/ann.dag")
    assert "job.idle (0)" in second
    assert "\x1b" not in third and third.split()[3] == "-"
    long = dag(1, "a", UserLog="a" * 90, PYDAGMAN_WaitsFor="x" * 9000)
    assert max(map(len, table(columns, [long], 1000.0, 200))) == 200
    assert pydagman.main(["top", "--once", "-sort", "owner"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["1", "2"]


ENDED = "; those that have ended: condor_pydagman runs"


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "ann has no DAG in the queue of the schedd ap; those of all users: -allusers"),
        (
            ["-user", "bob", "-constraint", "a > 0", "-name", "s"],
            "bob has no DAG in the queue of the schedd s that meets a > 0; those of all users:"
            " -allusers",
        ),
        (["-allusers"], "no user has a DAG in the queue of the schedd ap"),
    ],
)
def test_none(
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(knobs, "lookup", {"FULL_HOSTNAME": "ap"}.get)
    monkeypatch.setattr(top, "queued_dags", lambda *_, **__: [])
    assert pydagman.main(["top", "--once", *words]) == 0
    assert capsys.readouterr().out == f"{said}{ENDED}\n"


class Screen:
    """A terminal of 40 columns, with what it shows."""

    encoding = "utf-8"

    def __init__(self, keys: str) -> None:
        self.keys, self.lines = [*keys], dict[int, str]()

    def getmaxyx(self) -> tuple[int, int]:
        return 12, 40

    def erase(self) -> None:
        self.lines.clear()

    def addnstr(self, line: int, _: int, text: str, most: int, *__: int) -> None:
        self.lines[line] = text[:most]

    def getch(self) -> int:
        return ord(self.keys.pop(0))

    def refresh(self) -> None:
        """It is shown at once."""

    def timeout(self, _: int) -> None:
        """Keys come at once."""


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    shown = Screen("q")
    monkeypatch.setattr(curses, "wrapper", lambda run, *words: run(shown, *words))
    return shown


def test_the_screen_says_whose_dags_are_not_there(screen: Screen) -> None:
    top_screen.run(
        list, lambda: "ann has no DAG in the queue of the schedd ap; -allusers", "job", 5
    )
    assert "0 DAGs" in screen.lines[0]
    assert [screen.lines[2], screen.lines[3]] == [
        "ann has no DAG in the queue of the", "schedd ap; -allusers"
    ]  # fmt: skip


def test_a_schedd_that_does_not_answer_any_more(screen: Screen) -> None:
    answers = iter([DAGS])

    def look() -> Sequence[QueuedDag]:
        for dags in answers:
            return dags
        raise PoolError("away", transient=True)

    screen.keys = [*"xq"]
    top_screen.run(look, str, "job", 0)
    assert screen.lines[0] == "away"
    assert screen.lines[3].startswith("  2  bob")


@pytest.mark.parametrize("word", IN_QUEUE)
def test_any_column_sorts(word: str) -> None:
    assert {one.cluster for one in chosen(DAGS, IN_QUEUE, Choice(word))} == {1, 2, 3}


def test_sorted_and_searched() -> None:
    def clusters(**how: Any) -> list[int]:
        return [one.cluster for one in chosen(DAGS, IN_QUEUE, Choice(**how))]

    assert clusters(sort="done") == [3, 1, 2]
    assert clusters(sort="held") == [1, 2, 3]
    assert clusters(sort="last") == [1, 2, 3]
    assert clusters(sort="job", is_reversed=True) == [3, 2, 1]
    assert clusters(text="BOB") == clusters(text="job.idle") == [2]


def test_keys() -> None:
    view = View("job")
    for key in (">", ">", "<", "r", "/"):
        view.press(ord(key), 10)
    for key in (*map(ord, "bxq"), 127, 127, ord("o"), 10):
        view.press(key, 10)
    assert view.how == Choice("owner", True, "bo")
    for key in (curses.KEY_NPAGE, curses.KEY_DOWN, curses.KEY_UP, curses.KEY_UP):
        view.press(key, 10)
    assert view.first == 9
    view.press(curses.KEY_HOME, 10)
    assert view.first == 0 and not view.over
    view.press(ord("/"), 10)
    view.press(27, 10)
    assert view.how.text == "" and not view.typing
    view.press(ord("q"), 10)
    assert view.over


def test_a_narrow_terminal_does_without_columns_but_not_without_the_dag() -> None:
    """Of 80 columns the numbers alone took all, so that nobody saw which DAG it was."""
    rows = [dag(1, PYDAGMAN_WaitsFor="limit.full tape", Iwd=f"/home/ann/{'d' * 60}")]
    for width in (78, 80, 120):
        head, line = table_within(width, rows, 0)
        assert len(head) <= len(line) <= width
        assert "WAITS FOR" in head
        assert line.endswith("dd/ann.dag")
    assert "CPU" in table_within(300, rows, 0)[0]


def test_the_first_line() -> None:
    line = summary(DAGS, Choice("owner", True, "x"))
    assert "3 DAGs, 11 of 18 nodes done, jobs: 0 running, 1 held; by owner, reversed" in line
    assert line.endswith("with 'x'")
