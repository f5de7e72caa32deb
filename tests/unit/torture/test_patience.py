"""How the tests on the pool wait for a DAG: a DAGMan that has ended is not waited for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pool import patience

SUBMITTED = "000 (012.000.000) 2026-01-02 03:04:05 Job submitted from host: <1.2.3.4:5>\n...\n"
EVICTED = "004 (012.000.000) 2026-01-02 03:04:05 Job was evicted.\n...\n"
NORMAL = (
    "005 (012.000.000) 2026-01-02 03:04:06 Job terminated.\n"
    "\t(1) Normal termination (return value 3)\n...\n"
)
SIGNAL = (
    "005 (012.000.000) 2026-01-02 03:04:06 Job terminated.\n"
    "\t(0) Abnormal termination (signal 11)\n...\n"
)
REMOVED = "009 (012.000.000) 2026-01-02 03:04:06 Job was aborted.\n...\n"


@pytest.mark.parametrize(
    ("events", "code"),
    [("", None), (SUBMITTED + EVICTED, None), (NORMAL, 3), (SIGNAL, -11), (REMOVED, 2)],
)
def test_the_end_of_a_dagman_job(tmp_path: Path, events: str, code: int | None) -> None:
    dag = tmp_path / "t.dag"
    assert patience.end_of(dag) is None
    Path(f"{dag}.dagman.log").write_text(SUBMITTED + events)
    assert patience.end_of(dag) == code


def test_who_waits_for_a_dag_that_is_over_hears_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "AFTERMATH", 0.1)
    dag = tmp_path / "t.dag"
    Path(f"{dag}.dagman.log").write_text(SUBMITTED + NORMAL)
    Path(f"{dag}.dagman.out").write_text("ERROR: no such node\n")
    with pytest.raises(AssertionError, match=r"(?s)exit code 3\): a job\n.*ERROR: no such node"):
        patience.until(lambda: False, "a job", dag)


def test_what_comes_just_after_the_end_is_found(tmp_path: Path) -> None:
    dag = tmp_path / "t.dag"
    Path(f"{dag}.dagman.log").write_text(NORMAL)
    answers = [0, 0, 0, 4]
    assert patience.until(lambda: answers.pop(0), "a job", dag, pause=0.01) == 4


def test_what_is_no_dag_s_has_all_the_time(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="waited in vain: a job"):
        patience.until(lambda: False, "a job", timeout=0.05, pause=0.01)
    assert "no .dagman.out" in patience.last_words(tmp_path / "t.dag")
