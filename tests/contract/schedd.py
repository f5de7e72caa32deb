"""The contract of a schedd: what becomes of submitted jobs, in its queue and in the nodes log."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import pytest

from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.vocabulary import EventKind


class Wish(NamedTuple):
    """A node's jobs to submit.

    `fault` is '', 'refused' (for good, for what it says), 'forbidden' (by the schedd) or 'no
    schedd'.
    """

    node: str = "A"
    retry: int = 0
    procs: int = 1
    code: int = 0
    lasting: bool = False
    fault: str = ""


class Answer(NamedTuple):
    """Reply to a submit: `cluster` 0 if it failed."""

    cluster: int
    procs: int = 0
    permanent: bool = False
    unknown: bool = False


class Side(Protocol):
    """One of the two."""

    def submit(self, wish: Wish) -> Answer: ...

    def remove(self, cluster: int, ended: int = -1, *, force: bool = False) -> None:
        """Remove a cluster, or (0) all, but for a proc that DAGMan knows has ended."""

    def hold(self, cluster: int, *, release: bool = False) -> None:
        """Put a cluster on hold, or release it."""

    def jobs(self) -> list[QueuedJob]: ...

    def until_ended(self, cluster: int) -> list[LogEvent]:
        """Let time pass until the cluster is gone; all events of the log so far."""

    def until_running(self, cluster: int) -> list[LogEvent]:
        """Let time pass until a proc runs; all events of the log so far."""

    def until_told(self, cluster: int, kind: EventKind) -> list[LogEvent]:
        """Let time pass until the log has such an event; all events of the log so far."""


def of(cluster: int, events: list[LogEvent]) -> list[LogEvent]:
    return [event for event in events if event.cluster == cluster]


def kinds(events: list[LogEvent]) -> list[int]:
    return [event.kind for event in events]


class ScheddContract:
    """Give it a fixture `side`."""

    def test_the_submit_event_names_the_node(self, side: Side) -> None:
        answer = side.submit(Wish("B"))
        first = of(answer.cluster, side.until_ended(answer.cluster))[0]
        assert (first.kind, first.proc, first.node) == (EventKind.SUBMIT, 0, "B")
        assert answer.procs == 1

    def test_a_job_is_submitted_started_and_ended_once(self, side: Side) -> None:
        answer = side.submit(Wish(code=3))
        events = of(answer.cluster, side.until_ended(answer.cluster))
        wanted = [EventKind.SUBMIT, EventKind.EXECUTE, EventKind.JOB_TERMINATED]
        assert [kind for kind in kinds(events) if kind in wanted] == wanted
        assert events[-1].value == 3

    def test_every_proc_has_its_events(self, side: Side) -> None:
        answer = side.submit(Wish(procs=3))
        assert answer.procs == 3
        events = of(answer.cluster, side.until_ended(answer.cluster))
        for kind in (EventKind.SUBMIT, EventKind.JOB_TERMINATED):
            assert sorted(e.proc for e in events if e.kind == kind) == [0, 1, 2]

    def test_the_queue_lists_procs_with_node_and_retry(self, side: Side) -> None:
        answer = side.submit(Wish("C", retry=2, procs=2, lasting=True))
        listed = sorted(job for job in side.jobs() if job.cluster == answer.cluster)
        assert listed == [QueuedJob(answer.cluster, proc, "C", 2) for proc in (0, 1)]
        side.remove(answer.cluster)
        side.until_ended(answer.cluster)

    def test_a_removed_job_ends_with_an_aborted_event(self, side: Side) -> None:
        answer = side.submit(Wish(procs=2, lasting=True))
        side.until_running(answer.cluster)
        side.remove(answer.cluster)
        events = of(answer.cluster, side.until_ended(answer.cluster))
        ends = [e for e in events if e.kind in (EventKind.JOB_ABORTED, EventKind.JOB_TERMINATED)]
        assert sorted((e.kind, e.proc) for e in ends) == [(9, 0), (9, 1)]

    def test_a_held_job_runs_again_when_it_is_released(self, side: Side) -> None:
        answer = side.submit(Wish(lasting=True))
        side.until_running(answer.cluster)
        side.hold(answer.cluster)
        side.hold(answer.cluster)  # it is so already
        side.until_told(answer.cluster, EventKind.JOB_HELD)
        side.hold(answer.cluster, release=True)
        side.until_told(answer.cluster, EventKind.JOB_RELEASED)
        side.remove(answer.cluster)
        events = kinds(of(answer.cluster, side.until_ended(answer.cluster)))
        wanted = [EventKind.JOB_HELD, EventKind.JOB_RELEASED, EventKind.JOB_ABORTED]
        assert [kind for kind in events if kind in wanted] == wanted

    def test_removing_one_cluster_leaves_the_others(self, side: Side) -> None:
        gone, stays = side.submit(Wish("A", lasting=True)), side.submit(Wish("B", lasting=True))
        side.remove(gone.cluster)
        side.until_ended(gone.cluster)
        assert [job.cluster for job in side.jobs()] == [stays.cluster]
        side.remove(0)
        side.until_ended(stays.cluster)
        assert side.jobs() == []

    def test_a_removal_leaves_out_what_has_ended(self, side: Side) -> None:
        answer = side.submit(Wish(procs=3, lasting=True))
        side.until_running(answer.cluster)
        for cluster in (answer.cluster, 0):
            side.remove(cluster, ended=0)
            listed = [job.proc for job in side.jobs() if not job.leaving]
            assert listed == [0]
        side.remove(answer.cluster)
        side.until_ended(answer.cluster)

    def test_force_is_for_what_is_being_removed(self, side: Side) -> None:
        answer = side.submit(Wish(lasting=True))
        side.until_running(answer.cluster)
        side.remove(answer.cluster, force=True)
        assert [job.cluster for job in side.jobs() if not job.leaving] == [answer.cluster]
        side.remove(answer.cluster)
        side.remove(answer.cluster, force=True)
        events = of(answer.cluster, side.until_ended(answer.cluster))
        assert kinds(events).count(EventKind.JOB_ABORTED) == 1

    def test_a_proc_that_left_the_queue_has_its_end_in_the_log(self, side: Side) -> None:
        answer = side.submit(Wish())
        events = side.until_ended(answer.cluster)
        assert not [job for job in side.jobs() if job.cluster == answer.cluster]
        assert EventKind.JOB_TERMINATED in kinds(of(answer.cluster, events))

    @pytest.mark.parametrize("fault", ["refused", "forbidden"])
    def test_a_submit_that_is_refused_for_good_leaves_nothing(self, side: Side, fault: str) -> None:
        answer = side.submit(Wish(fault=fault))
        assert (answer.cluster, answer.permanent, answer.unknown) == (0, True, False)
        assert side.jobs() == []

    def test_a_schedd_that_cannot_be_reached_took_nothing(self, side: Side) -> None:
        answer = side.submit(Wish(fault="no schedd"))
        assert (answer.cluster, answer.permanent, answer.unknown) == (0, False, False)
