"""Where throttles were set, as DAGMan says in its log."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.explain.fact_collection import collect_facts, limit_places
from condor_pydagman.follow.run_model import DagState, Run
from condor_pydagman.monitor.found_dag import find_dag
from tests.dag_logs import DagLogs

OPTIONS = DagmanOptions(dag_files=("t.dag",), max_jobs=3)


def run_with(limits: dict[str, int], **places: tuple[int, str]) -> Run:
    run = Run()
    run.limits, run.knob_places = limits, places
    return run


def test_the_command_line_a_config_file_and_the_queue() -> None:
    limits = {"DAGMan_MaxJobs": 3, "DAGMan_MaxPreScripts": 4, "DAGMan_MaxPostScripts": 5}
    run = run_with(limits, DAGMAN_MAX_PRE_SCRIPTS=(4, "my.config, line 2"))
    assert limit_places(run, OPTIONS) == {
        "DAGMan_MaxJobs": "-MaxJobs 3, command line of DAGMan",
        "DAGMan_MaxPreScripts": "DAGMAN_MAX_PRE_SCRIPTS, my.config, line 2",
        "DAGMan_MaxPostScripts": "DAGMan_MaxPostScripts of DAGMan's job, changed in the queue",
    }


def test_defaults_and_limits_that_are_not_there() -> None:
    run = run_with({"DAGMan_MaxIdle": 1000, "DAGMan_MaxJobs": 0})
    assert limit_places(run, OPTIONS) == {"DAGMan_MaxIdle": "DAGMAN_MAX_JOBS_IDLE, default"}


def test_a_dagman_that_does_not_say() -> None:
    assert limit_places(run_with({"DAGMan_MaxIdle": 7}), OPTIONS) == {}


def test_the_dags_own_configuration_is_not_read(work_directory: Path) -> None:
    Path("a.sub").write_text("executable = /bin/true\nqueue\n")
    Path("t.dag").write_text("CONFIG my.config\nJOB A a.sub\n")
    Path("my.config").write_text("include command : touch ran\n")
    logs = DagLogs(work_directory).start()
    logs.say("DAGMAN_MAX_JOBS_IDLE = 7, set in my.config, line 2")
    logs.say("\tMaximum Idle Jobs-------------: 7")
    found = find_dag("t.dag", ask=False)._replace(state=DagState.RUNNING)
    facts = collect_facts(found)
    assert facts.limit_places == {"DAGMan_MaxIdle": "DAGMAN_MAX_JOBS_IDLE, my.config, line 2"}
    assert not Path("ran").exists()
