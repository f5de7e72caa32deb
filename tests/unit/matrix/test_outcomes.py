"""Outcomes of pairs of versions: read from pytest's report, kept, and told on the page."""

from __future__ import annotations

import configparser
from pathlib import Path

import pytest

from tests.matrix import page, run, trial
from tests.matrix.outcome import NO_POOL, POOL, Counts, Outcome, Pair, counts, keep, load
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


@pytest.mark.parametrize("text", ["3.9", "3.9:", ":25.0", "new:25.0", "3.9:25.0:1"])
def test_what_is_no_pair(text: str) -> None:
    with pytest.raises(ValueError):
        Pair.parse(text)


def test_a_report_of_pytest(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    failures = ["tests.a::bad[x]", "tests.a::broken"]
    assert counts(report) == Counts(["tests.a::good"], failures, {"there is no bash": 2})


def test_a_later_outcome_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    book = tmp_path / "versions.json"
    assert load(book) == []
    older, newer = outcome(passed=1), outcome(passed=2, skips={"why": 1})
    pool, other = outcome(tests=POOL), outcome("3.13:25.0")
    for one in (older, other, pool, newer):
        keep(book, one)
    assert load(book) == [newer, other, pool]


def test_a_result_in_a_line() -> None:
    good = outcome(passed=12345, unsteady=["a"], skips={"x": 2, "y": 3})
    assert page.result(good) == "12,346 passed, 5 skipped"
    assert page.result(outcome(passed=1, failures=["a"])) == "1 passed, 1 failed"
    assert page.result(outcome(obstacle="no network")) == "not tested"


def test_an_outcome_on_the_terminal() -> None:
    found = outcome(passed=1, seconds=9, failures=["a"], skips={"there is no bash": 2})
    told = ["1 passed, 1 failed, 2 skipped, 9 s", "failed: `a`", "2 skipped: there is no bash"]
    assert page.lines_of(found) == told


def test_the_page_keeps_what_is_around_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"before\n{page.BEGIN}old\n{page.END}after\n")
    found = outcome(python="3.9.18", bindings="25.0.14", passed=7, unsteady=["a"])
    text = page.document(path, [found, outcome("3.15:25.0", obstacle="there is no Python 3.15")])
    assert text.startswith(f"before\n{page.BEGIN}\n## Without a pool\n")
    assert text.endswith(f"\n{page.END}after\n")
    assert "| 3.9.18 | 25.0.14 | none | 2026-11-27 | `abc` | 8 passed |\n" in text
    assert "\nPython 3.9, bindings 25.0:\n\n- failed, then passed: `a`\n" in text
    assert "| 3.15 | 25.0 | none | 2026-11-27 | `abc` | not tested |\n" in text
    assert "\n- there is no Python 3.15\n" in text
    assert "old" not in text


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


def test_the_daemons_are_those_that_the_tests_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.pool.choice.find", lambda cache, say: cache)
    monkeypatch.setattr(
        "condor_pydagman.pool.release_tree.ask_version", lambda release: (25, 14, 1)
    )
    assert trial._daemons() == "25.14.1"


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
