"""lint_dag: what condor_dag_checker -lint finds, as values."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman import LintFinding, Place, Severity, lint_dag


def test_findings_are_those_of_the_command(work_directory: Path) -> None:
    Path("t.dag").write_text("JOB A nosuch.sub\nRETRY A 0\n")
    found = [one for one in lint_dag("t.dag") if one.code in ("DAG301", "DAG405")]
    assert [(one.code, one.severity, one.node) for one in found] == [
        ("DAG301", Severity.ERROR, "A"),
        ("DAG405", Severity.INFO, "A"),
    ]
    assert found[0].place == Place("t.dag", 1, 5)
    message = "submit file nosuch.sub of node A does not exist"
    assert str(found[0]) == f"t.dag:1:5: error DAG301: {message}"
    assert isinstance(found[0], LintFinding)
    assert found[0].hint


def test_what_dagman_refuses_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text("FOO\n")
    codes = [one.code for one in lint_dag(tmp_path / "t.dag")]
    assert "DAG102" in codes
