"""Where throttles were set."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.explain.fact_collection import limit_places
from condor_pydagman.monitor.found_dag import FoundDag, find_dag


@pytest.fixture
def found_dag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FoundDag:
    monkeypatch.chdir(tmp_path)
    Path("t.dag").write_text("JOB A a.sub\n")
    dag = find_dag("t.dag", ask=False)
    return dag._replace(options=DagmanOptions(dag_files=("t.dag",), max_jobs=3))


def test_the_command_line_a_config_file_and_the_queue(found_dag: FoundDag) -> None:
    Path("my.config").write_text("\nDAGMAN_MAX_PRE_SCRIPTS = 4\n")
    limits = {"DAGMan_MaxJobs": 3, "DAGMan_MaxPreScripts": 4, "DAGMan_MaxPostScripts": 5}
    places = limit_places(found_dag, limits, str(Path("my.config").resolve()))
    assert places == {
        "DAGMan_MaxJobs": "-MaxJobs 3, command line of DAGMan",
        "DAGMan_MaxPreScripts": f"DAGMAN_MAX_PRE_SCRIPTS, {Path('my.config').resolve()}, line 2",
        "DAGMan_MaxPostScripts": "DAGMan_MaxPostScripts of DAGMan's job, changed in the queue",
    }


def test_defaults_and_limits_that_are_not_there(found_dag: FoundDag) -> None:
    limits = {"DAGMan_MaxIdle": 1000, "DAGMan_MaxJobs": 0}
    assert limit_places(found_dag, limits, "") == {
        "DAGMan_MaxIdle": "DAGMAN_MAX_JOBS_IDLE, default"
    }


def test_a_config_file_that_is_gone(found_dag: FoundDag) -> None:
    places = limit_places(found_dag, {"DAGMan_MaxIdle": 7}, "/nonexistent/my.config")
    assert places["DAGMan_MaxIdle"].endswith("changed in the queue")
