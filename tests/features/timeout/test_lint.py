"""TIMEOUT: what the checker finds."""

from __future__ import annotations

from tests.unit.graph.texts import JOBS
from tests.unit.lint.paper import codes


def test_timeouts_that_never_happen() -> None:
    assert codes("JOB A a.sub\nTIMEOUT A TOTAL 1h RUNNING 2h\n") == ["DAG410", "DAG411"]
    assert codes("JOB A a.sub\nTIMEOUT A TOTAL 1h QUEUED 2h\n") == ["DAG410", "DAG411"]
    assert codes("JOB A a.sub\nTIMEOUT A TOTAL 2h QUEUED 2h RUNNING 1h\n") == ["DAG411"]
    assert codes("JOB A a.sub\nTIMEOUT A QUEUED 2h RUNNING 3h\n") == ["DAG411"]
    late = "JOB A a.sub\nTIMEOUT A RUNNING 1h\nTIMEOUT A RUNNING "
    assert codes(f"{late}1h WARN\n") == ["DAG410", "DAG411"]
    assert codes(f"{late}59m WARN\n") == ["DAG411"]


def test_that_stock_has_none_is_told_once() -> None:
    text = JOBS + "".join(f"TIMEOUT {name} TOTAL 5\n" for name in "ABC")
    assert codes(text).count("DAG411") == 1
