"""submit_dag, up to the point where it needs a pool."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from condor_pydagman import ConfigError, DagError, FileError, UsageError, Workflow, submit_dag
from condor_pydagman.adapters import knobs
from condor_pydagman.cli import submit_dag as command
from condor_pydagman.monitor import schedd_queries
from tests import locks


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CONDOR_CONFIG", raising=False)
    Path("t.dag").write_text("JOB A a.sub\n")
    Path("u.dag").write_text("JOB B b.sub\n")
    return work_directory


OPTIONS: dict[str, Any] = {
    "max_jobs": 5,
    "batch_name": "night",
    "force": True,
    "append": ["+A = 1", "+B = 2"],
    "always_run_post": False,
    "suppress_notification": None,
    "outfile_dir": Path("logs"),
}
WORDS = """-no_submit -dagman /opt/condor_dagman -MaxJobs 5 -batch-name night -force -append
+A=1 -append +B=2 -DontAlwaysRunPost -outfile_dir logs"""


def test_the_submit_file_is_that_of_the_command() -> None:
    words = [word.replace("=", " = ") for word in WORDS.split()]
    assert command.main([*words, "t.dag", "u.dag"]) == 0
    wanted = Path("t.dag.condor.sub").read_text()
    found = submit_dag("t.dag", "u.dag", no_submit=True, dagman="/opt/condor_dagman", **OPTIONS)
    assert (found.cluster, found.submit_file) == (None, "t.dag.condor.sub")
    assert Path("t.dag.condor.sub").read_text() == wanted
    assert "-MaxJobs 5" in wanted
    assert "-DontAlwaysRunPost" in wanted


def test_what_the_command_prints_is_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.dag.rescue001").touch()
    found = submit_dag("t.dag", no_submit=True, dagman="/opt/condor_dagman")
    assert found.messages == ("Running rescue DAG 1",)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_jbs": 3}, "no option 'max_jbs'; did you mean 'max_jobs'"),
        ({"dag_files": "x"}, "no option 'dag_files'"),
        ({"terse": True}, "no option 'terse'"),
        ({"max_jobs": True}, "'max_jobs' of submit_dag.. must be a number"),
        ({"batch_name": ["a"]}, "'batch_name' of submit_dag.. must be a text"),
        ({"append": 3}, "'append' of submit_dag.. must be a text or several"),
        ({"force": "no"}, "'force' of submit_dag.. must be True or False"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        submit_dag("t.dag", **options)
    assert not Path("t.dag.condor.sub").exists()


def test_values_that_the_command_refuses() -> None:
    with pytest.raises(UsageError, match="must be non-negative"):
        submit_dag("t.dag", do_rescue_from=-1)
    with pytest.raises(UsageError, match="required to be a integer"):
        submit_dag("t.dag", max_jobs="many")


def test_files_of_an_earlier_run_are_in_the_way() -> None:
    submit_dag("t.dag", no_submit=True, dagman="/opt/condor_dagman")
    with pytest.raises(FileError, match=r"(?s)already exists.*force=True") as caught:
        submit_dag("t.dag", no_submit=True, dagman="/opt/condor_dagman")
    assert "-f" not in str(caught.value)


def test_a_dag_whose_job_waits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    submit_dag("t.dag", no_submit=True, dagman="/opt/condor_dagman")
    ad = {"ClusterId": 42, "Iwd": os.getcwd(), "Arguments": "-Dag t.dag", "JobStatus": 1}
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda: [ad])
    written = Path("t.dag.condor.sub").read_text()
    with pytest.raises(FileError, match="as job 42, which is in the queue"):
        submit_dag("t.dag", force=True)
    assert Path("t.dag.condor.sub").read_text() == written


def test_a_dag_whose_job_is_held_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("t.dag.lock").write_text("42\n")  # nobody holds it: DAGMan was killed
    ad = {"ClusterId": 42, "Iwd": os.getcwd(), "Arguments": "-Dag t.dag", "JobStatus": 5}
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda: [ad])
    with pytest.raises(FileError, match="as job 42, which is in the queue"):
        submit_dag("t.dag", force=True)


def test_a_workflow_whose_job_waits_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = Workflow()
    flow.job("A", "a.sub")
    flow.write("flow.dag")
    Path("flow.dag.condor.sub").touch()
    ad = {"ClusterId": 42, "Iwd": os.getcwd(), "Arguments": "-Dag flow.dag", "JobStatus": 1}
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda: [ad])
    written = Path("flow.dag").read_text()
    flow.job("B", "b.sub")
    with pytest.raises(FileError, match="as job 42"):
        flow.submit()
    assert Path("flow.dag").read_text() == written


def test_a_dag_that_runs_is_refused() -> None:
    with locks.held("t.dag.lock", "42\n"), pytest.raises(FileError, match="as job 42"):
        submit_dag("t.dag", force=True)


def test_a_line_that_dagman_would_refuse_comes_with_all_others() -> None:
    Path("t.dag").write_text("JOB A a.sub\nPARENT A CHILD B\nFOO-BAR x\n")
    with pytest.raises(DagError) as caught:
        submit_dag("t.dag")
    assert {error.place.line for error in caught.value.errors} == {2, 3}
    assert not Path("t.dag.condor.sub").exists()


def test_a_mistake_that_only_the_check_finds() -> None:
    Path("t.dag").write_text("JOB A a.sub\nPARENT A CHILD B\n")
    with pytest.raises(DagError, match="Unknown child node B") as caught:
        submit_dag("t.dag", no_submit=True, check_dag=True, dagman="/opt/condor_dagman")
    assert [error.place.line for error in caught.value.errors] == [2]
    assert "Nothing has been changed or submitted" in str(caught.value)
    assert not Path("t.dag.condor.sub").exists()
    submit_dag("t.dag", no_submit=True, check_dag=False, dagman="/opt/condor_dagman")


def test_this_process_is_as_before() -> None:
    """Neither the DAG's CONFIG file nor its environment stays in force."""
    Path("c").write_text("DAGMAN_MAX_RESCUE_NUM = 7\n")
    Path("t.dag").write_text("CONFIG c\nJOB A a.sub\n")
    before = dict(os.environ)
    submit_dag("t.dag", no_submit=True, dagman="/opt/condor_dagman")
    assert knobs.load().max_rescue_num == 100
    assert htcondor2.param.get("DAGMAN_MAX_RESCUE_NUM") in (None, "", 100)
    assert dict(os.environ) == before
    Path("c").write_text("DAGMAN_MAX_RESCUE_NUM = many\n")
    with pytest.raises(ConfigError, match="DAGMAN_MAX_RESCUE_NUM = many"):
        submit_dag("t.dag", no_submit=True, force=True, dagman="/opt/condor_dagman")
    assert knobs.load().max_rescue_num == 100


def test_a_dag_file_that_begins_like_an_option() -> None:
    Path("-x.dag").write_text("JOB A a.sub\n")
    found = submit_dag("-x.dag", no_submit=True, dagman="/opt/condor_dagman")
    assert found.submit_file == "./-x.dag.condor.sub"


def test_sub_dags_are_prepared_too() -> None:
    Path("t.dag").write_text("SUBDAG EXTERNAL S u.dag\n")
    submit_dag("t.dag", no_submit=True, do_recurse=True, dagman=sys.executable)
    assert Path("u.dag.condor.sub").exists()
