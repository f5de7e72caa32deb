"""NOTIFY: what the checker finds."""

from __future__ import annotations

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Severity
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import SUBMIT, PaperWorld, codes, found


def test_the_program_of_a_notify() -> None:
    (missing,) = found("JOB A a.sub\nNOTIFY * PROGRAM gone a b\n")
    assert (missing.code, missing.line, missing.severity) == ("DAG302", 2, Severity.WARNING)
    assert missing.message == "NOTIFY gone does not exist"
    assert "never in PATH" in missing.hint
    (plain,) = found("JOB A a.sub\nNOTIFY * URL http://a/\nNOTIFY * PROGRAM plain\n")
    assert (plain.code, plain.line) == ("DAG303", 3)
    assert codes("JOB A a.sub\nNOTIFY * PROGRAM pre.sh x\n") == []


def test_the_program_of_a_notify_is_in_the_directory_of_the_dag() -> None:
    files = {"d/t.dag": "JOB A a.sub\nNOTIFY * PROGRAM in.sh\n", "a.sub": SUBMIT, "d/in.sh": ""}
    assert lint(["d/t.dag"], PaperWorld(files), BuildOptions(strict=0)).kept == []
