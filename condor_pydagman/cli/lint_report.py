"""`condor_dag_checker -lint`: findings as text or as JSON.

The JSON is one object, described in the man page; its "Version" changes when the meaning of a
member does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from condor_pydagman.cli.checker_options import CheckerOptions
from condor_pydagman.cli.say import say
from condor_pydagman.feature_table import asked_by
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import ALL_CODES, Finding, Findings, Severity, World, meaning
from condor_pydagman.lint.lint import lint

SCHEMA = 1
MAX_SHOWN = 5  # of one code, in text
MAX_SHOWN_LINES = 50  # of those of a code of which each tells of another mistake
UNLIKE = frozenset(("DAG101", "DAG102", "DAG104"))  # lines that can't be read or are refused


def run_lint(options: CheckerOptions, world: World) -> int:
    """Check, print, and return 1 if there is an error (with -Strict: a warning), else 0."""
    how = BuildOptions(
        use_join_nodes=options.use_join_nodes,
        allow_any_node_name_characters="allowillegalchars" in options.given,
        use_dag_dir="usedagdir" in options.given,
        strict=0,  # what is fatal is said by severities
    )
    findings = lint(options.files, world, how, asked_by(options))
    if options.style == "json":
        print(as_json(options.files, findings))
    else:
        say(*as_text(findings))
    bad = findings.total(Severity.ERROR)
    if options.strict:
        bad += findings.total(Severity.WARNING)
    return 1 if bad else 0


def as_text(findings: Findings) -> Iterator[str]:
    """The lines of the report, the summary last."""
    shown: dict[str, int] = {}
    for finding in findings.kept:
        shown[finding.code] = shown.get(finding.code, 0) + 1
        if shown[finding.code] <= _most(finding.code):
            yield from _lines(finding)
    for code in sorted(shown):
        more = findings.of_code(code) - _most(code)
        if more > 0:
            yield f"and {more} more of {code}: {meaning(code).title}"
    yield summary(findings)


def _most(code: str) -> int:
    return MAX_SHOWN_LINES if code in UNLIKE else MAX_SHOWN


def _lines(finding: Finding) -> Iterator[str]:
    place = finding.file
    if finding.line:
        place += f":{finding.line}"
        if finding.column:
            place += f":{finding.column}"
    place += ": " if place else ""
    yield f"{place}{finding.severity.name.lower()} {finding.code}: {finding.message}"
    if finding.text:
        yield f"    {finding.text}"
        if finding.caret:
            yield "    " + " " * (finding.caret - 1) + "^"
    if finding.hint:
        yield f"    {finding.hint}"


def summary(findings: Findings) -> str:
    """How many findings there are of each severity."""
    parts = []
    for severity in reversed(Severity):
        number = findings.total(severity)
        if number:
            plural = "s" if number > 1 and severity is not Severity.INFO else ""
            parts.append(f"{number} {severity.name.lower()}{plural}")
    return ", ".join(parts) or "no findings"


def as_json(files: list[str], findings: Findings) -> str:
    """The report as one JSON object."""
    report: dict[str, Any] = {
        "Version": SCHEMA,
        "DagFiles": files,
        "NumErrors": findings.total(Severity.ERROR),
        "NumWarnings": findings.total(Severity.WARNING),
        "NumInfos": findings.total(Severity.INFO),
        "Counts": {code: findings.of_code(code) for code in ALL_CODES if findings.of_code(code)},
        "Findings": [_entry(finding) for finding in findings.kept],
    }
    text = json.dumps(report, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _entry(finding: Finding) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "Code": finding.code,
        "Severity": finding.severity.name.lower(),
        "Title": meaning(finding.code).title,
        "Message": finding.message,
        "Hint": finding.hint,
        "SourceFile": finding.file,
        "SourceLine": finding.line,
        "SourceColumn": finding.column,
        "SourceText": finding.text,
        "Node": finding.node,
    }
    return entry
