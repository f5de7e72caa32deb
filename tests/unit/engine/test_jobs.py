"""The job book: what is known of clusters and their procs, whoever speaks first."""

from __future__ import annotations

from condor_pydagman.engine.jobs import JobBook, run_key


def test_reply_first_then_the_log() -> None:
    book = JobBook()
    jobs = book.open(4, 77)
    book.expect(jobs, range(2))
    assert (book.submitted, book.idle, jobs.live()) == (2, 2, [0, 1])
    assert book.submit_seen(jobs, 0)
    assert not book.submit_seen(jobs, 0)
    assert book.submitted == 2


def test_log_first_then_the_reply() -> None:
    book = JobBook()
    jobs = book.open(4, 77)
    assert book.submit_seen(jobs, 1)
    book.expect(jobs, range(2))
    assert book.submit_seen(jobs, 0)
    assert (book.submitted, jobs.job(jobs.last_proc)) == (2, "77.0.0")


def test_lower_procs_of_a_log_that_has_lost_their_submit_events_are_expected() -> None:
    """The schedd numbers them without a gap; a number out of all reason is not believed."""
    book = JobBook()
    jobs = book.open(4, 77)
    assert book.submit_seen(jobs, 2)
    assert jobs.live() == [0, 1, 2]
    assert book.submit_seen(jobs, 0)
    assert not book.submit_seen(jobs, 0)
    assert book.submit_seen(jobs, 1_000_000_000)
    assert len(jobs.live()) == 4


def test_first_failure_decides_the_value() -> None:
    book = JobBook()
    jobs = book.open(0, 5)
    book.expect(jobs, range(4))
    assert book.end(jobs, 0, 0, 0)
    assert book.end(jobs, 1, 3, 3)
    assert book.end(jobs, 2, None, -1002)
    assert not jobs.all_ended
    assert book.end(jobs, 3, -9, -9)
    assert jobs.all_ended
    assert (jobs.value, jobs.failed, book.completed) == (3, 3, 4)
    assert jobs.codes == {0: 0, 1: 3, 2: None, 3: -9}


def test_a_second_end_changes_nothing() -> None:
    book = JobBook()
    jobs = book.open(0, 5)
    book.submit_seen(jobs, 0)
    assert book.end(jobs, 0, 0, 0)
    assert not book.end(jobs, 0, 1, 1)
    book.set_idle(jobs, 0, True)
    book.set_held(jobs, 0, True)
    assert (book.idle, book.held, jobs.value, book.completed) == (0, 0, 0, 1)


def test_idle_and_held_are_counted_once() -> None:
    book = JobBook()
    jobs = book.open(0, 5)
    book.submit_seen(jobs, 0)
    book.set_idle(jobs, 0, False)
    book.set_idle(jobs, 0, False)
    assert book.idle == 0
    for _ in range(2):
        book.set_idle(jobs, 0, True)
        book.set_held(jobs, 0, True)
    assert (book.idle, book.held) == (1, 1)
    book.end(jobs, 0, None, -1002)
    assert (book.idle, book.held) == (0, 0)


def test_a_proc_whose_submit_event_is_missing_is_added() -> None:
    book = JobBook()
    jobs = book.open(0, 5)
    book.set_idle(jobs, 2, False)
    assert (book.submitted, book.idle) == (1, 0)


def test_close_makes_events_nobodys_and_forget_drops_the_rest() -> None:
    book = JobBook()
    book.open(3, 5)
    assert book.by_cluster == {5: 3}
    book.close(3)
    assert book.by_cluster == {}
    assert 3 in book.by_node
    book.forget(3)
    book.forget(3)
    assert book.by_node == {}


def test_a_noop_has_no_cluster() -> None:
    book = JobBook()
    book.open(3, 0)
    assert book.by_cluster == {}


def test_a_proc_that_runs_is_not_on_hold() -> None:
    book = JobBook()
    jobs = book.open(0, 5)
    book.submit_seen(jobs, 0)
    book.set_held(jobs, 0, True)
    book.set_idle(jobs, 0, False)
    assert (book.idle, book.held) == (0, 0)


def test_run_keys_tell_runs_of_a_noop_node_apart() -> None:
    assert run_key(5, 0) == 5
    assert run_key(0, 1) != run_key(0, 2)


def test_the_procs_of_a_cluster_that_are_on_hold_are_counted() -> None:
    book = JobBook()
    one, other = book.open(0, 5), book.open(1, 6)
    for proc in range(3):
        book.set_held(one, proc, True)
    book.set_held(other, 0, True)
    book.set_held(one, 0, True)
    assert (one.held, other.held, book.held) == (3, 1, 4)
    book.set_held(one, 0, False)
    book.set_held(one, 0, False)
    book.set_idle(one, 1, False)
    book.end(one, 2, None, -1002)
    book.set_held(one, 2, True)
    assert (one.held, other.held, book.held) == (0, 1, 1)
