"""condor_pydagman report: a page, or rows."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
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


def test_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.sub").write_text("executable = x\nerror = err\nqueue\n")
    Path("err").write_text("no such module\n")
    assert pydagman.main(["report", "t.dag"]) == 0
    assert capsys.readouterr().out == "t.dag.report.html: 3 nodes\n"
    text = Path("t.dag.report.html").read_text()
    assert "exit code 3" in text
    assert "Output of A</summary><pre>no such module</pre>" in text
    assert "<svg" in text
    assert "condor_pydagman report" in text
    assert "in.dag" in text
    before = text
    assert pydagman.main(["report", "t.dag", "--no-picture", "-o", "-"]) == 0
    assert "id='picture'" in before
    assert "id='picture'" not in capsys.readouterr().out


def test_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert pydagman.main(["report", "--format", "csv"]) == 0
    (row,) = [row for row in csv.DictReader(capsys.readouterr().out.splitlines()) if row["job"]]
    assert (row["node"], row["value"], row["status"]) == ("A", "3", "ERROR")
    assert pydagman.main(["report", "--format", "json", "-o", "t.json"]) == 0
    rows = [json.loads(line) for line in Path("t.json").read_text().splitlines()]
    assert [row["status"] for row in rows] == ["ERROR", "FUTILE", "READY"]


def rescued(logs: DagLogs) -> None:
    """After a run of A, as `logs` has it and `.dagman.out` tells of it, one of A and S."""
    when = time.strftime("%m/%d/%y %H:%M:%S", time.localtime(logs.now))
    logs.start()
    for what in ("SUBMIT", "EXECUTE", "JOB_TERMINATED"):
        logs.say(f"Event: ULOG_{what} for HTCondor Node A (9.0.0) {{{when}}}")
    logs.say("Node A job proc (9.0.0) failed with status 4.")
    logs.end(1)
    logs.now += 100
    logs.start(rescue="t.dag.rescue001")
    logs.submit("A", 11)
    logs.execute(11)
    logs.now += 5
    logs.terminate(11)
    logs.end(0)


def test_all_runs(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    rescued(logs)
    assert pydagman.main(["report", "--all-runs", "--format", "csv"]) == 0
    table = csv.DictReader(capsys.readouterr().out.splitlines())
    found = [(row["run"], row["job"], row["status"], row["value"]) for row in table if row["job"]]
    assert found == [("2", "9.0", "ERROR", "4"), ("3", "11.0", "DONE", "0")]
    assert pydagman.main(["report", "--all-runs", "--no-picture"]) == 0
    assert capsys.readouterr().out == "t.dag.report.html: 3 nodes, 3 runs\n"
    text = Path("t.dag.report.html").read_text()
    assert "id='runs'" in text
    assert "t.dag.rescue001" in text


def test_the_last_run_alone_is_the_default(
    logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    rescued(logs)
    assert pydagman.main(["report", "--format", "csv"]) == 0
    table = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["job"] for row in table if row["job"]] == ["11.0"]
    assert "run" not in table[0]


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


def test_a_dag_that_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    os.unlink("t.dag")
    assert pydagman.main(["report", "t.dag"]) == 0
    assert "The DAG can&#x27;t be read" in Path("t.dag.report.html").read_text()


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
