"""How the tests on the pool wait for a DAG: a DAGMan that has ended is not waited for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pool import waiting

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
    assert waiting.end_of(dag) is None
    Path(f"{dag}.dagman.log").write_text(SUBMITTED + events)
    assert waiting.end_of(dag) == code


def test_waiting_for_a_dag_that_has_ended_fails_with_its_log(tmp_path: Path) -> None:
    dag = tmp_path / "t.dag"
    Path(f"{dag}.dagman.log").write_text(SUBMITTED + NORMAL)
    Path(f"{dag}.dagman.out").write_text("ERROR: no such node\n")
    with pytest.raises(
        AssertionError, match=r"(?s)exit code 3\): a job\n.*ERROR: no such node.*t.dag.dagman.log"
    ):
        waiting.until(lambda: False, "a job", dag)


def test_the_last_effects_of_a_dag_are_seen_though_it_ends_meanwhile(tmp_path: Path) -> None:
    dag = tmp_path / "t.dag"
    log = Path(f"{dag}.dagman.log")

    def look() -> bool:
        """The DAG ends, with its effect, right after the first look."""
        ended = log.exists()
        log.write_text(NORMAL)
        return ended

    assert waiting.until(look, "a job", dag, pause=0.01)


def test_waits_without_a_dag_last_until_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.waiting.LIMIT_S", 0.05)
    with pytest.raises(AssertionError, match="waited in vain: a job\nit was late"):
        waiting.until(lambda: False, "a job", pause=0.01, tell=lambda: "it was late")
