"""Outcomes of pairs of versions: read from pytest's report, kept, and told on the page."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from tests.matrix import page, run
from tests.matrix.outcome import NO_POOL, Counts, Outcome, Pair, counts, load
from tests.matrix.run import BOOK, PAGE, PAIRS
from tests.matrix.trial import CHECKOUT, POOL_TESTS

REPORT = """\
<testsuites><testsuite>
<testcase classname="tests.a" name="good"/>
<testcase classname="tests.a" name="bad[x]"><failure message="m"/></testcase>
<testcase classname="tests.a" name="broken"><error message="m"/></testcase>
<testcase classname="tests.a" name="left"><skipped message="there is no bash"/></testcase>
<testcase classname="tests.b" name="left"><skipped message="there is no bash"/></testcase>
</testsuite></testsuites>
"""


def outcome(pair: str = "3.9:25.0", tests: str = NO_POOL, **more: object) -> Outcome:
    return Outcome(Pair.parse(pair), tests, "2026-11-27", "abc", **more)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("name", POOL_TESTS)
def test_modules_of_the_pool_are_there(name: str) -> None:
    assert (CHECKOUT / name).exists()


def test_a_pair_that_could_not_be_tested_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = outcome(obstacle="there is no Python 3.15")
    (tmp_path / "page.md").write_text(page.BEGIN + page.END)
    monkeypatch.setattr(run, "BOOK", tmp_path / "book.json")
    monkeypatch.setattr(run, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(run, "trial", lambda *_: found)
    monkeypatch.setattr("sys.argv", ["run", "3.9:25.0"])
    assert run.main() == 1
    found.obstacle = ""
    assert run.main() == 0
