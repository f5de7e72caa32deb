"""condor_pydagman report: a page, or rows."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from tests import locks
from tests.dag_logs import DagLogs
from tests.waiting import LIMIT_S


@pytest.fixture(autouse=True)
def logs(work_directory: Path) -> DagLogs:
    (work_directory / "t.dag").write_text(
        "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nSUBDAG EXTERNAL S in.dag\n"
    )
    made = DagLogs(work_directory).start()
    made.submit("A", 7)
    made.now += 5
    made.execute(7)
    made.now += 5
    made.terminate(7, value=3)
    made.end(1)
    return made


def test_how_many_rows(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"n{'abc'[n // 9]}{'abcdefghi'[n % 9]}" for n in range(27)]
    Path("t.dag").write_text("".join(f"JOB {name} {name}.sub\n" for name in names))
    logs.start()
    for number, name in enumerate(names):
        logs.submit(name, number + 10)
    assert pydagman.main(["report", "--no-picture"]) == 0
    assert (
        "and 2 more: <code>condor_pydagman report t.dag --rows 0</code> shows all rows"
        in Path("t.dag.report.html").read_text()
    )
    for rows in ("0", "27"):
        assert pydagman.main(["report", "--no-picture", "--rows", rows]) == 0
        assert "more: <code>" not in Path("t.dag.report.html").read_text()
    with pytest.raises(SystemExit):
        pydagman.main(["report", "--rows", "many"])
    assert "'many' is not a number from 0" in capsys.readouterr().err


def test_what_keeps_a_dag_from_going_on(logs: DagLogs) -> None:
    """Held jobs and full limits, in the sentences of `watch` and `explain`."""
    text = "JOB A a.sub\nJOB B a.sub\nCATEGORY A c\nCATEGORY B c\nMAXJOBS c 1\n"
    Path("t.dag").write_text(text)
    logs.start()
    logs.submit("A", 7)
    logs.hold(7)
    with locks.held("t.dag.lock", "0\n"):
        assert pydagman.main(["report", "--no-picture"]) == 0
    page = Path("t.dag.report.html").read_text()
    assert "1 job of node A has been held for" in page
    assert "Category c is full" in page
    assert "node B is waiting because of that." in page


def test_a_dag_that_has_changed_since(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.dag").write_text("JOB Other a.sub\n")
    assert pydagman.main(["report", "t.dag", "--format", "json"]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    assert [(row["node"], row["value"]) for row in rows] == [("A", 3)]


def test_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "u.dag").write_text("JOB A a.sub\n")
    assert pydagman.main(["report", "u.dag"]) == 1
    assert "u.dag has not run, or its logs were deleted" in capsys.readouterr().err
    assert pydagman.main(["report", "t.dag", "-o", str(tmp_path)]) == 1
    assert "it is a directory" in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no Chromium")
def test_a_browser_shows_it_without_errors(tmp_path: Path) -> None:
    assert pydagman.main(["report", "t.dag"]) == 0
    words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"]
    words += ["--enable-logging=stderr", f"--user-data-dir={tmp_path}/profile", "--dump-dom"]
    done = subprocess.run(
        [*words, f"file://{tmp_path}/t.dag.report.html"],
        capture_output=True, text=True, timeout=LIMIT_S, check=True,
    )  # fmt: skip
    for section in ("failures", "timeline", "concurrency", "path", "kinds", "picture"):
        assert f'id="{section}"' in done.stdout
    assert "CONSOLE" not in done.stderr
