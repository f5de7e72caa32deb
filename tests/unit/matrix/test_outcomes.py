"""Outcomes of pairs of versions: read from pytest's report, kept, and told on the page."""

from __future__ import annotations

import configparser
from pathlib import Path

from tests.matrix import page
from tests.matrix.outcome import Counts, counts, load
from tests.matrix.run import BOOK, PAGE, PAIRS
from tests.matrix.trial import CHECKOUT

REPORT = """\
<testsuites><testsuite>
<testcase classname="tests.a" name="good"/>
<testcase classname="tests.a" name="bad[x]"><failure message="m"/></testcase>
<testcase classname="tests.a" name="broken"><error message="m"/></testcase>
<testcase classname="tests.a" name="left"><skipped message="there is no bash"/></testcase>
<testcase classname="tests.b" name="left"><skipped message="there is no bash"/></testcase>
</testsuite></testsuites>
"""


def test_a_report_of_pytest(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    failures = ["tests.a::bad[x]", "tests.a::broken"]
    assert counts(report) == Counts(["tests.a::good"], failures, {"there is no bash": 2})


def test_the_page_is_up_to_date() -> None:
    assert page.document(PAGE, load(BOOK)) == PAGE.read_text("utf-8")


def test_the_oldest_versions_of_the_package_are_among_the_pairs() -> None:
    file = configparser.ConfigParser()
    file.read(CHECKOUT / "setup.cfg")
    needs = file["options"]["install_requires"].split("\n")
    (bindings,) = (line.split()[1].strip(">=,") for line in needs if line.startswith("htcondor "))
    assert f"{file['options']['python_requires'].strip('>=')}:{bindings}" in PAIRS
