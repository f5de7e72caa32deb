"""What the gate runs of the tests on a real HTCondor, and what only these can prove.

The gate has all tests of the other tiers as well, but for those marked `long`.  What is not here
runs with `sh tests/run.sh --all`.
"""

from __future__ import annotations

import pytest

POOL = "tests/pool/"
# Test, below POOL: what only a real pool can show.
ON_THE_POOL: dict[str, str] = {
    # A DAG, as its user and other programs see it.
    "test_core.py::test_core[a_crash_a_hold_and_a_rescue_file]": (
        "a whole DAG by the core alone: submission, jobs, scripts, end; a crash, a rescue file"
    ),
    "test_node_ads.py::test_ads_of[KID]": "job ads are stock's, in a real queue",
    "test_stock_clients.py::test_the_job_ad_is_correct_while_the_dag_runs": (
        "DAG status in DAGMan's ad"
    ),
    "test_stock_clients.py::test_condor_q[options0]": "condor_q -dag reads our ads and nodes",
    "test_marked_scenes.py::test_scene[submission_MaxJobs_counts_nodes_not_procs]": (
        "throttles hold at a schedd's own pace"
    ),
    "test_stock_clients.py::test_submit_from_dag_runs_our_dagman[options]": (
        "Submit.from_dag starts ours"
    ),
    "test_python_interface.py::test_the_example_submits_and_tells": "submission from Python",
    # What people do to a DAG that runs.
    "test_control.py::test_control[halt_and_resume]": "halt by htcondor dag",
    "test_control.py::test_control[throttle]": "throttles by htcondor dag, kept over a crash",
    "test_control.py::test_control[clients_that_insist_and_clients_that_do_not_negotiate]": (
        "HTCondor's security against our socket"
    ),
    "test_control.py::test_control[a_secret_reaches_no_file_and_no_ad]": (
        "the schedd's session key, in DAGMan's environment"
    ),
    "test_marked_scenes.py::test_scene[halt_PRE_scripts_wait_POST_scripts_do_not]": (
        "a halt file, published in the ad"
    ),
    "test_live.py::test_live[max_jobs_goes_down]": "throttles by condor_qedit, over a crash",
    "test_marked_scenes.py::test_scene[run_end_condor_rm_while_all_kinds_of_things_go_on]": (
        "condor_rm: what the schedd removes"
    ),
    "test_marked_scenes.py::test_scene[final_after_condor_rm_1_F_ends]": "condor_rm with FINAL",
    "test_marked_scenes.py::test_scene[hold_scripts_it_runs_once_for_each_hold]": (
        "events of a held job, and HOLD scripts"
    ),
    "test_removal_and_hold.py::test_removal_and_hold[jobs_that_failed_do_not_count_as_removed]": (
        "what the schedd keeps of a cluster of several procs"
    ),
    "test_steering.py::test_steering[settings_are_in_the_next_submission]": (
        "steering reaches real job ads"
    ),
    # Crashes: what the schedd and the nodes log know of what DAGMan has forgotten.
    "test_restarts.py::test_a_kill_changes_nothing[three times]": (
        "crash and recovery of a DAG that has everything in it"
    ),
    "test_restarts.py::test_a_kill_changes_nothing[a job is being submitted]": "killed in a submit",
    "test_survival.py::test_survival[a_held_dag_goes_on_after_its_release]": (
        "condor_hold, condor_release; a job ends without DAGMan"
    ),
    "test_marked_scenes.py::test_scene[run_end_the_rescue_DAG_goes_on_after_condor_rm]": (
        "condor_rm, rescue file, next run"
    ),
    "test_survival.py::test_survival[a_log_that_has_lost_everything_is_learned_anew]": (
        "real queue and history"
    ),
    "test_survival.py::test_survival[a_second_dagman_of_a_running_dag_goes_away]": (
        "the lock file, with real processes"
    ),
    "test_own_language.py::test_own_language[a_job_that_vanishes_without_any_event]": (
        "a lost job, seen while the DAG runs"
    ),
    "test_dagman_exits.py::test_exits_are_those_of_stock_or_better"
    "[sigsegv_takes_it_out_of_the_queue]": "what the schedd makes of DAGMan's end",
    "test_second_user.py::test_second_user[jobs_of_a_stranger_are_not_adopted]": (
        "recovery among jobs that another user has forged"
    ),
    # Beside the stock program's recording.
    "test_compare.py::test_same[final/after-removal]": "removals in every state, and FINAL",
    "test_compare.py::test_same[halt/while-running]": "halt file, ad, scripts that wait",
    "test_compare.py::test_same[hold/script-releases-the-job]": "HOLD script and release",
    "test_compare.py::test_same[subdag/inner-failure-retried]": "DAGMan jobs inside, rescue files",
    "test_compare.py::test_same[factory/failure-with-post]": "late materialization",
    # The adapter that the simulator's schedd stands for.
    "test_schedd_contract.py::TestRealSchedd::test_a_held_job_runs_again_when_it_is_released"
    "[process]": "events of hold and release",
    "test_schedd_contract.py::TestRealSchedd::test_a_removal_leaves_out_what_has_ended[process]": (
        "removal by a constraint"
    ),
    # Abilities beyond the stock program, one scene each.
    "test_together.py::test_scenes[dagman_is_killed_while_they_run]": "nodes that share a cluster",
    "test_own_language.py::test_own_language[a_job_that_runs_for_too_long]": (
        "TIMEOUT removes a real job"
    ),
    "test_decisions.py::test_decisions[attributes_of_a_job_decide]": (
        "RUN_IF by attributes of a job that has left the queue"
    ),
    "test_decisions.py::test_decisions[a_search_stops_when_enough_is_found]": (
        "ENOUGH removes real jobs"
    ),
    "test_decisions.py::test_decisions[a_brake_holds_jobs_in_the_queue_until_it_is_released]": (
        "BRAKE holds real jobs"
    ),
    "test_growth.py::test_growth[a_person_adds_nodes]": "adding by the socket, and real jobs",
    "test_growth.py::test_growth[the_feeder_is_killed_with_the_dag]": "condor_rm ends the feeder",
    "test_limits.py::test_limits[three_dags_share_a_limit_and_one_is_killed]": (
        "three real DAGMans that share a limit"
    ),
    "test_notify.py::test_notify[a_dagman_that_is_killed]": (
        "the notifier outlives the processes that the schedd ends"
    ),
    "test_data_nodes.py::test_it_is_killed_held_and_removed": "signals of the starter to workers",
    "test_sites.py::test_sites[groups_run_at_their_sites]": "ads of sites in a real collector",
}


def of(items: list[pytest.Item], *, complete: bool = True) -> list[pytest.Item]:
    """Those of all tests that the gate runs.

    Args:
        complete: whether all files with tests have been read.

    Raises:
        pytest.UsageError: ON_THE_POOL has a test that is not there.
    """
    scenes = {item for item in items if _name(item) in ON_THE_POOL}
    missing = ON_THE_POOL.keys() - {_name(item) for item in scenes}
    if missing and complete:
        raise pytest.UsageError(f"tests/gate.py: these tests are not there: {sorted(missing)}")
    return [item for item in items if item in scenes or not (_on_pool(item) or _is_long(item))]


def _name(item: pytest.Item) -> str:
    return item.nodeid[len(POOL) :] if _on_pool(item) else ""


def _on_pool(item: pytest.Item) -> bool:
    return item.nodeid.startswith(POOL)


def _is_long(item: pytest.Item) -> bool:
    return item.get_closest_marker("long") is not None
