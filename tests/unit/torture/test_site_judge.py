"""The judge of the torture test of sites finds what is wrong, and nothing else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from condor_pydagman import read_dag
from condor_pydagman.engine import actions as do
from condor_pydagman.records.own_events import record_event
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, JournalRecord
from tests.torture import site_dags, site_judge
from tests.torture.site_dags import DOOMED, SURE, Group, SiteDag
from tests.torture.site_judge import REMOVED, SUBMIT, Event, Generation, Judge, Line, over_limit

GROUP = Group("g", ("a", "b"), SURE, "b", ())
DAG = SiteDag((GROUP,), {"a": (), "b": ("a",)}, {}, frozenset(), frozenset())


def matched(site: str, number: int = 1) -> Event:
    return Event("SITE_MATCHED", "a", round=number, site=site)


def left(number: int = 1) -> Event:
    return Event("SITE_LEFT", "a", round=number)


def submit(node: str, cluster: int) -> Event:
    return Event(SUBMIT, node, cluster)


def ran(node: str, cluster: int, site: str, end: str = "done") -> list[Line]:
    return [Line(what, node, "g", 0, site, 1, cluster, 0.0) for what in ("start", end)]


GOOD = [matched("x"), submit("a", 2), submit("b", 3)]
GOOD_LINES = [*ran("a", 2, "x"), *ran("b", 3, "x")]
AGAIN = [
    *(matched("x"), submit("a", 2), left(), submit("b", 3), Event(REMOVED, "", 3)),
    *(matched("y", 2), submit("a", 4), submit("b", 5)),
]
AGAIN_LINES = [
    *(*ran("a", 2, "x"), *ran("b", 3, "x", "gone")),
    *(*ran("a", 4, "y"), *ran("b", 5, "y")),
]


def judged(
    events: list[Event], lines: list[Line], code: int = 0, dag: SiteDag = DAG, granted: int = 0
) -> str:
    generation = Generation(1, events, code=code, rematched={"g": granted})
    return "; ".join(Judge(dag, [generation], lines).judge())


def test_what_is_good() -> None:
    assert judged(GOOD, GOOD_LINES) == ""
    assert judged(AGAIN, AGAIN_LINES, granted=1) == ""


@pytest.mark.parametrize(
    ("events", "lines", "wrong"),
    [
        (GOOD, GOOD_LINES[:2], "b is lost: it was never done"),
        (GOOD, [*ran("a", 2, "y"), *GOOD_LINES[2:]], "a ran at y, its group is at x"),
        (GOOD, GOOD_LINES[2:] + GOOD_LINES[:2], "b ran before its parent a"),
        (GOOD, [GOOD_LINES[0], *GOOD_LINES], "cluster 2 started 2 times"),
        (GOOD[1:], GOOD_LINES, "a was submitted before its group had a site"),
        ([*GOOD, submit("a", 4)], GOOD_LINES, "a was submitted 2 times"),
        ([*GOOD, submit("a", 4)], GOOD_LINES + ran("a", 4, "x"), "a ran again though it was done"),
        ([*GOOD, matched("y", 2)], GOOD_LINES, "g was matched to y while it had x"),
        ([*GOOD, left(), submit("a", 4)], GOOD_LINES, "a was submitted after its group had left x"),
        (AGAIN[:-2], AGAIN_LINES[:-4], "a was done at x, its group's last site is y"),
        (AGAIN, [*AGAIN_LINES[:3], *AGAIN_LINES[4:]], "a runs at y, others still at {'x'}"),
    ],
)
def test_what_is_wrong(events: list[Event], lines: list[Line], wrong: str) -> None:
    assert wrong in judged(events, lines)


def test_a_request_that_was_granted_and_not_fulfilled() -> None:
    assert "g left 0 times, 1 requests were granted" in judged(GOOD, GOOD_LINES, granted=1)


def test_the_exit_code() -> None:
    assert judged(GOOD, GOOD_LINES, code=1) == "the DAG ended with 1, not 0"
    doomed = DAG._replace(groups=(GROUP._replace(fate=DOOMED),))
    assert judged([], [], code=1, dag=doomed) == ""
    assert "g got done, and can't be" in judged(GOOD, GOOD_LINES, code=1, dag=doomed)


def test_jobs_of_too_many_groups() -> None:
    lines = [*ran("a", 2, "x"), ran("a", 3, "x")[0]]
    assert over_limit(lines, {"x": 1}) == []
    lines.append(ran("b", 4, "x")[0]._replace(group="h"))
    assert over_limit(lines, {"x": 1}) == ["x has jobs of 2 groups: g h"]
    assert over_limit(lines, {"x": 2}) == []


def test_a_nodes_log_with_half_a_record(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        '008 (-01.-01.-01) 2026-11-25 01:05:34.366 [ DAGManNote = "SITE_LEFT"; No'
        "000 (133.000.000) 2026-11-25 01:05:34.411 Job submitted from host: <127.0.0.1:4>\n"
        '    [ DAGNodeName = "a"; JobBatchName = "t.dag+52" ]\n...\n'
        '008 (-01.-01.-01) 2026-11-25 01:05:35.366 [ DAGManNote = "SITE_MATCHED"; Node = "a";'
        ' DAGManNodeRetry = 0; Value = 2; Text = "0123 x" ]\n...\n'
        "005 (133.000.000) 2026-11-25 01:05:36.411 Job terminated.\n...\n"
        "009 (133.000.000) 2026-11-25 01:05:36.411 Job was aborted.\n...\n"
        "009 (134.000.000) 2026-11-25 01:05:36.411 Job was aborted.\n...\n"
    )
    assert site_judge.read_log(path) == [submit("a", 133), matched("x", 2), Event(REMOVED, "", 134)]


@pytest.mark.parametrize("seed", range(20))
def test_dags_that_are_drawn_are_good(work_directory: Path, seed: int) -> None:
    dag = site_dags.draw("d", Random(seed), 8)
    site_dags.write(dag, work_directory, Random(seed), work_directory / "ledger", work_directory)
    read = read_dag("t.dag")
    assert set(read) == set(dag.parents)


def test_a_removal_that_only_the_history_shows(tmp_path: Path) -> None:
    """A full disk has taken its event; DAGMan has written a record of it."""
    action = do.AppendJournalRecord(JournalRecord.JOB_ENDED, 0, 0, RETURN_JOB_ABORTED, 3, 0)
    log = tmp_path / "log"
    log.write_text(record_event("2026-11-21 12:08:04", "b", action))
    assert site_judge.read_log(log) == [Event(REMOVED, "", 3)]
