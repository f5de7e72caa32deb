"""What the gate runs of the tests on a real HTCondor, and what only these can prove.

The gate has all tests of the other tiers as well, but for those marked `long`.  What is not here
runs with `sh tests/run.sh --all`.
"""

from __future__ import annotations

import pytest

POOL = "tests/pool/"
# Test, below POOL: what only a real pool can show.
SCENES: dict[str, str] = {
    # A DAG, as its user and other programs see it.
    "test_diamond.py::test_a_diamond_runs": "submission, jobs, scripts and end of a whole DAG",
    "test_diamond.py::test_every_job_ad_tells_of_its_dag": "job ads, as the schedd keeps them",
    "test_clients.py::test_the_job_ad_is_correct_while_the_dag_runs": "DAG status in DAGMan's ad",
    "test_clients.py::test_condor_q_shows_the_nodes_below_their_dag": "condor_q -dag",
    "test_clients.py::test_htcondor_dag_status": "htcondor dag status",
    "test_clients.py::test_what_a_dag_does[maxjobs]": "throttles hold with a schedd's real pace",
    "test_clients.py::test_what_a_dag_does[the_lines_that_monitors_parse]": "lines for monitors",
    "test_clients.py::test_submit_from_dag_runs_our_dagman[options]": "Submit.from_dag starts ours",
    "test_submit_dag.py::test_a_dag_that_runs_is_not_submitted_again": "the lock of a running DAG",
    "test_python_interface.py::test_the_example_submits_and_tells": "submission from Python",
    # What people do to a DAG that runs.
    "test_control.py::test_control[halt_and_resume]": "HTCondor's client, encrypted, to DAGMan",
    "test_control.py::test_control[throttle]": "throttles by command, kept across a kill",
    "test_live.py::test_live[max_jobs_goes_up_as_far_as_the_administrator_lets_it]": "condor_qedit",
    "test_removal_and_hold.py::test_removal_and_hold[condor_rm_while_all_kinds_of_things_go_on]": (
        "condor_rm: what the schedd removes, and what FINAL may still do"
    ),
    "test_removal_and_hold.py::test_removal_and_hold[held_while_the_final_node_runs]": (
        "condor_hold and condor_release of DAGMan"
    ),
    "test_removal_and_hold.py::test_removal_and_hold[a_node_job_that_is_held_and_released]": (
        "events of a held job, and HOLD scripts"
    ),
    "test_steering.py::test_steering[a_failed_node_runs_again]": "steer rerun and the schedd",
    # Crashes: what the schedd and the nodes log know of what DAGMan has forgotten.
    "test_restarts.py::test_a_kill_changes_nothing[a job is being submitted]": "killed in a submit",
    "test_restarts.py::test_a_kill_changes_nothing[a sub-DAG runs]": "killed above a sub-DAG",
    "test_survival.py::test_survival[dagman_killed_many_times_runs_nothing_twice]": "many kills",
    "test_survival.py::test_survival"
    "[what_a_log_has_lost_is_learned_from_the_queue_and_the_history]": "queue and history, asked",
    "test_survival.py::test_survival[a_job_that_the_schedd_has_lost_counts_as_failed]": "lost jobs",
    "test_survival.py::test_survival[a_removed_dag_leaves_a_rescue_file_and_goes_on_from_it]": (
        "condor_rm, rescue file, resubmission"
    ),
    "test_dagman_exits.py::test_exits_are_those_of_stock_or_better[sigterm]": (
        "what the schedd makes of an exit code"
    ),
    # Beside the stock program's recording.
    "test_compare.py::test_same[final/after-removal]": "removals in every state, and FINAL",
    "test_compare.py::test_same[halt/while-running]": "halt file, ad, scripts that wait",
    "test_compare.py::test_same[hold/script-releases-the-job]": "HOLD script and release",
    "test_compare.py::test_same[subdag/inner-failure-retried]": "DAGMan jobs inside, rescue files",
    "test_compare.py::test_same[factory/failure-with-post]": "late materialization",
    # The adapter that the simulator's schedd stands for.
    "test_schedd_contract.py::TestRealSchedd::test_every_proc_has_its_events[process]": (
        "events of a real schedd"
    ),
    "test_schedd_contract.py::TestRealSchedd::test_the_queue_lists_procs_with_node_and_retry"
    "[process]": "queries of a real schedd",
    "test_schedd_contract.py::TestRealSchedd::test_a_removed_job_ends_with_an_aborted_event"
    "[process]": "removal by a real schedd",
    # Abilities beyond the stock program, one scene each.
    "test_together.py::test_scenes[dagman_is_killed_while_they_run]": "nodes that share a cluster",
    "test_own_language.py::test_own_language[a_job_that_never_matches]": "TIMEOUT of an idle job",
    "test_decisions.py::test_decisions[attributes_of_a_job_decide]": "RUN_IF by a real job's ad",
    "test_enough.py::test_enough[a_search_stops_when_enough_is_found]": "ENOUGH removes real jobs",
    "test_brakes.py::test_brakes[jobs_in_the_queue_are_held_and_released]": "BRAKE holds real jobs",
    "test_growth.py::test_growth[a_split_finds_its_parts_at_run_time]": "SCATTER by a job's file",
    "test_feeder.py::test_feeder[the_example_of_a_feeder]": "FEEDER's program, as documented",
    "test_caching.py::test_caching[the_example_runs]": "CACHE, as documented",
    "test_limits.py::test_limits[three_dags_share_a_limit_and_one_is_killed]": "SHARED_LIMIT",
    "test_sites.py::test_sites[groups_run_at_their_sites]": "ads of sites in a real collector",
    "test_data_nodes.py::test_stage_in_compute_stage_out": "DATA nodes as jobs of the schedd",
}


def of(items: list[pytest.Item]) -> list[pytest.Item]:
    """Those of all tests that the gate runs.

    Raises:
        pytest.UsageError: SCENES has a test that is not there.
    """
    scenes = {item for item in items if _name(item) in SCENES}
    missing = SCENES.keys() - {_name(item) for item in scenes}
    if missing:
        raise pytest.UsageError(f"tests/gate.py: these tests are not there: {sorted(missing)}")
    return [item for item in items if item in scenes or not (_on_pool(item) or _is_long(item))]


def _name(item: pytest.Item) -> str:
    return item.nodeid[len(POOL) :] if _on_pool(item) else ""


def _on_pool(item: pytest.Item) -> bool:
    return item.nodeid.startswith(POOL)


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None
