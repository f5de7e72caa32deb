"""Codes and their bookkeeping."""

from __future__ import annotations

import re
from pathlib import Path

from condor_pydagman.lint.findings import ALL_CODES, MAX_KEPT, Findings, Severity, meaning

MAN = Path(__file__).resolve().parents[3] / "man" / "condor_dag_checker.1"


def test_the_man_page_has_every_code_with_its_severity() -> None:
    told = dict(re.findall(r'^\.BR (DAG\d+) " (\w+)"$', MAN.read_text(), re.MULTILINE))
    assert told == {code: meaning(code).severity.name.lower() for code in ALL_CODES}


def test_many_of_one_code_are_counted_but_not_kept() -> None:
    findings = Findings()
    for number in range(MAX_KEPT + 5):
        findings.add("DAG405", f"{number}", place=f"t.dag:{number + 1}")
    findings.add("DAG301", "x", severity=Severity.WARNING)
    assert len(findings.kept) == MAX_KEPT + 1
    assert findings.of_code("DAG405") == MAX_KEPT + 5
    assert findings.total(Severity.INFO) == MAX_KEPT + 5
    assert findings.total(Severity.WARNING) == 1
    assert findings.total(Severity.ERROR) == 0


def test_a_place_with_a_colon_in_the_name_of_the_file() -> None:
    findings = Findings()
    findings.add("DAG405", "x", place="a:b.dag:7")
    findings.add("DAG405", "x", place="a:b.dag")
    assert [(one.file, one.line) for one in findings.kept] == [("a:b.dag", 7), ("a:b.dag", 0)]
