"""The start before the first input: the lock, recovery mode, and DAGs that have ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.daemon import startup
from condor_pydagman.daemon.dag_input import CannotStart
from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.errors import PoolError
from tests.unit.daemon.starts import KNOBS, STARTED, Place, Schedd

LOCK, LOG = Path("t.dag.lock"), Path("t.dag.nodes.log")
AD = {"Owner": "ann", "JobRunCount": 1, "JobBatchId": "7.0", "JobBatchName": "b"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(monkeypatch, tmp_path, Schedd(AD))


def test_a_first_start_takes_the_lock_and_begins_a_log(place: Place) -> None:
    LOG.write_text("old")
    run = place.prepare()
    assert not run.recovering
    assert run.process.started == STARTED
    assert LOG.read_text() == ""
    assert LOCK.exists()
    assert place.schedd.logs == [run.log.path]  # by hand, jobs are known by their log
    assert place.schedd.processes == 1


def test_a_job_takes_its_ids_and_its_batch(place: Place) -> None:
    place.set_job_id(7)
    run = place.prepare()
    assert (run.job.cluster, run.job.proc) == (7, 0)
    assert run.workflow.batch_name == "b"
    assert not place.schedd.logs
    assert not place.schedd.edits


def test_a_batch_without_a_name_gets_one(place: Place) -> None:
    place.set_job_id(7)
    place.schedd.ad = {"JobRunCount": 1}
    run = place.prepare()
    assert run.workflow.batch_name == "t.dag+7"
    assert place.schedd.edits == {"JobBatchId": '"7.0"', "JobBatchName": '"t.dag+7"'}


def test_a_batch_that_can_not_be_named_is_no_obstacle(place: Place, mocker: MockerFixture) -> None:
    place.set_job_id(7)
    place.schedd.ad = {"JobRunCount": 1}
    mocker.patch.object(place.schedd, "publish", side_effect=PoolError("no", transient=True))
    assert place.prepare().workflow.batch_name == "t.dag+7"
    assert "Warning: can't update the DAGMan job's ad: no" in place.said()


def test_a_lock_file_of_a_dead_dagman_makes_a_recovery(place: Place) -> None:
    place.set_job_id(7)
    place.release_lock(place.prepare())
    LOG.write_text("old\n...\n")
    run = place.prepare()
    assert run.recovering
    assert LOG.read_text() == "old\n...\n"
    assert place.schedd.logs == [run.log.path]
    assert "Lock file t.dag.lock detected" in place.said()


@pytest.mark.parametrize(
    "file, text, why",
    [
        ("t.dag.rescue001", f"GROWN 1 {'0' * 32}\n", "t.dag.grown does not have it, or is damaged"),
        ("t.dag", "JOB A a.sub\nFOO\n", "t.dag:2 'FOO' is not"),
    ],
)
def test_a_file_that_is_wrong_now_puts_a_run_that_has_begun_on_hold(
    place: Place, file: str, text: str, why: str
) -> None:
    place.set_job_id(7)
    Path("t.dag.rescue001").write_text("DONE A\n")
    place.release_lock(place.prepare())
    Path(file).write_text(text)
    with pytest.raises(CannotStart, match="; correct that, then release the DAGMan") as raised:
        place.prepare()
    assert (raised.value.code, LOCK.exists()) == (3, True)
    ((*job, reason),) = place.schedd.holds
    assert (job, why in reason) == ([0, 0], True)
    LOCK.unlink()
    with pytest.raises(CannotStart) as raised:
        place.prepare()
    assert (raised.value.code, len(place.schedd.holds)) == (1, 1)


def test_do_recovery_recovers_without_a_lock_file(place: Place) -> None:
    assert place.prepare("-DoRecovery").recovering


def test_throttles_of_the_job_ad_win_over_the_command_line(place: Place) -> None:
    place.set_job_id(7)
    place.schedd.ad = {**AD, "DAGMan_MaxJobs": 3}
    run = place.prepare("-MaxJobs", "5", "-MaxIdle", "4")
    limits = run.engine.report().limits
    assert (limits.jobs, limits.idle) == (3, 4)


def test_an_unanswered_ad_request_is_retried_then_dagman_leaves(place: Place) -> None:
    place.set_job_id(7)
    place.schedd.ad = None
    with pytest.raises(CannotStart, match="does not give the DAGMan job's own ad") as raised:
        place.prepare()
    assert raised.value.code == 3
    assert place.schedd.asked == startup.MAX_OWN_AD_TRIES
    assert not LOCK.exists()


def test_a_dag_that_has_ended_is_not_begun_again(place: Place) -> None:
    """Killed between deleting the lock file and exiting."""
    place.set_job_id(7)
    place.schedd.ad = {**AD, "JobRunCount": 2, "PYDAGMAN_Ended": "1 1", "ExitBySignal": True}
    with pytest.raises(CannotStart, match="unheard by the schedd: nothing to do") as raised:
        place.prepare()
    assert raised.value.code == 1
    assert not LOCK.exists()


def test_the_lock_file_of_a_dag_that_has_ended_is_deleted(place: Place) -> None:
    place.set_job_id(7)
    place.release_lock(place.prepare())
    place.schedd.ad = {**AD, "JobRunCount": 2, "PYDAGMAN_Ended": "0 1", "ExitBySignal": True}
    with pytest.raises(CannotStart):
        place.prepare()
    assert not LOCK.exists()


def test_a_job_restarted_after_its_end_begins_anew(place: Place) -> None:
    place.set_job_id(7)
    ended = {"PYDAGMAN_Ended": "1 1", "ExitBySignal": False, "ExitCode": 1}
    place.schedd.ad = {**AD, "JobRunCount": 2, **ended}
    assert not place.prepare().recovering
    assert place.schedd.edits["PYDAGMAN_Ended"] == "undefined"
    assert "PYDAGMAN_BegunAnew" in place.schedd.edits


def test_a_rescue_file_is_named_in_the_lock_file(place: Place) -> None:
    Path("t.dag.rescue001").write_text("DONE A\n")
    run = place.prepare("-AutoRescue", "1")
    assert run.rescue_number == 1
    place.release_lock(run)
    Path("t.dag.rescue002").write_text("DONE A\nDONE B\n")
    assert place.prepare("-AutoRescue", "1").rescue_number == 1


@pytest.mark.parametrize("words", [["-DryRun"], ["-SetupOnly"]])
def test_a_start_that_submits_nothing_needs_no_process_for_it(
    place: Place, words: list[str]
) -> None:
    place.prepare(*words)
    assert place.schedd.processes == 0


def test_every_node_is_logged_at_high_verbosity(place: Place) -> None:
    out = place.out()
    out.verbosity = startup.NODES_VERBOSITY
    startup.prepare(Settings(place.options(), KNOBS, KNOBS), out, STARTED)
    out.flush()
    assert "Node Name: A" in place.said()


def test_setup_only_reads_an_old_log(place: Place) -> None:
    place.release_lock(place.prepare())
    Path("t.dag.nodes.log").write_text(
        "000 (007.000.000) 2026-11-21 11:56:29 Job submitted from host: <127.0.0.1:9618>\n"
        "    DAG Node: A\n...\n"
    )
    run = place.prepare("-SetupOnly")
    assert run.recovering
    assert startup.set_up(run) == 0
    run.out.flush()
    assert "ULOG_SUBMIT for HTCondor Node A (7.0.0)" in place.said()
    assert Path("t.dag.lock").exists()
