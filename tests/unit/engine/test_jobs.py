"""The job table: what is known of clusters and their procs, whoever speaks first."""

from __future__ import annotations

from condor_pydagman.engine.jobs import JobTable, run_key


def test_reply_first_then_the_log() -> None:
    table = JobTable()
    jobs = table.open(4, 77)
    table.expect(jobs, range(2))
    assert (table.submitted, table.idle, jobs.live()) == (2, 2, [0, 1])
    assert table.submit_seen(jobs, 0)
    assert not table.submit_seen(jobs, 0)
    assert table.submitted == 2


def test_log_first_then_the_reply() -> None:
    table = JobTable()
    jobs = table.open(4, 77)
    assert table.submit_seen(jobs, 1)
    table.expect(jobs, range(2))
    assert table.submit_seen(jobs, 0)
    assert (table.submitted, jobs.job(jobs.last_proc)) == (2, "77.0.0")


def test_lower_procs_of_a_log_that_has_lost_their_submit_events_are_expected() -> None:
    """The schedd numbers them without a gap; a number out of all reason is not believed."""
    table = JobTable()
    jobs = table.open(4, 77)
    assert table.submit_seen(jobs, 2)
    assert jobs.live() == [0, 1, 2]
    assert table.submit_seen(jobs, 0)
    assert not table.submit_seen(jobs, 0)
    assert table.submit_seen(jobs, 1_000_000_000)
    assert len(jobs.live()) == 4


def test_first_failure_decides_the_value() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.expect(jobs, range(4))
    assert table.end(jobs, 0, 0, 0)
    assert table.end(jobs, 1, 3, 3)
    assert table.end(jobs, 2, None, -1002)
    assert not jobs.all_ended
    assert table.end(jobs, 3, -9, -9)
    assert jobs.all_ended
    assert (jobs.value, jobs.failed, table.completed) == (3, 3, 4)
    assert jobs.codes == {0: 0, 1: 3, 2: None, 3: -9}


def test_a_second_end_changes_nothing() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.submit_seen(jobs, 0)
    assert table.end(jobs, 0, 0, 0)
    assert not table.end(jobs, 0, 1, 1)
    table.set_idle(jobs, 0, True)
    table.set_held(jobs, 0, True)
    assert (table.idle, table.held, jobs.value, table.completed) == (0, 0, 0, 1)


def test_idle_and_held_are_counted_once() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.submit_seen(jobs, 0)
    table.set_idle(jobs, 0, False)
    table.set_idle(jobs, 0, False)
    assert table.idle == 0
    for _ in range(2):
        table.set_idle(jobs, 0, True)
        table.set_held(jobs, 0, True)
    assert (table.idle, table.held) == (1, 1)
    table.end(jobs, 0, None, -1002)
    assert (table.idle, table.held) == (0, 0)


def test_a_proc_whose_submit_event_is_missing_is_added() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.set_idle(jobs, 2, False)
    assert (table.submitted, table.idle) == (1, 0)


def test_close_makes_events_nobodys_and_forget_drops_the_rest() -> None:
    table = JobTable()
    table.open(3, 5)
    assert table.by_cluster == {5: 3}
    table.close(3)
    assert table.by_cluster == {}
    assert 3 in table.by_node
    table.forget(3)
    table.forget(3)
    assert table.by_node == {}


def test_a_noop_has_no_cluster() -> None:
    table = JobTable()
    table.open(3, 0)
    assert table.by_cluster == {}


def test_a_proc_that_runs_is_not_on_hold() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.submit_seen(jobs, 0)
    table.set_held(jobs, 0, True)
    table.set_idle(jobs, 0, False)
    assert (table.idle, table.held) == (0, 0)


def test_run_keys_tell_runs_of_a_noop_node_apart() -> None:
    assert run_key(5, 0) == 5
    assert run_key(0, 1) != run_key(0, 2)


def test_the_procs_of_a_cluster_that_are_on_hold_are_counted() -> None:
    table = JobTable()
    one, other = table.open(0, 5), table.open(1, 6)
    for proc in range(3):
        table.set_held(one, proc, True)
    table.set_held(other, 0, True)
    table.set_held(one, 0, True)
    assert (one.held, other.held, table.held) == (3, 1, 4)
    table.set_held(one, 0, False)
    table.set_held(one, 0, False)
    table.set_idle(one, 1, False)
    table.end(one, 2, None, -1002)
    table.set_held(one, 2, True)
    assert (one.held, other.held, table.held) == (0, 1, 1)
