"""SHARED_LIMIT: the pace after a restart, and the queues of nodes that wait.  What a DAG asks for,
and what it gives back, is in `shared_limits.scene`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.queues import ReadyQueue, ScriptQueue
from condor_pydagman.features.shared_limits.definitions import Kind, Limit
from condor_pydagman.features.shared_limits.fair_shares import NO_LIMIT, Grant
from condor_pydagman.features.shared_limits.messages import PlacesGiven, PlacesUnknown, TakePlaces
from condor_pydagman.features.shared_limits.queues import LimitedReadyQueue, LimitedScriptQueue
from condor_pydagman.features.shared_limits.run import LOOK_S, RETRY_S
from condor_pydagman.records import own_ad, progress_ad
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.features.shared_limits.scenes import Shared
from tests.make import quiet


def test_pre_scripts_of_all_dags_start_at_one_pace_after_a_restart() -> None:
    config = quiet(all_restart_pre_rate=2)
    harness = make.EngineHarness("A; B; C; D; E; F; G; H\nSCRIPT PRE ALL_NODES p", config)
    shared = Shared()
    shared.limits = {"*restart*": Limit("*restart*", {Kind.STARTS: 120})}
    harness.begin(recovering=True)
    assert not harness.engine.run.features
    harness.tell(inputs.LogCaughtUp())
    harness.tell(inputs.QueueListed([]))
    harness.tell(PlacesGiven([Grant((NO_LIMIT,) * 4, starts=0)]))
    assert not harness.ever(do.RunScript)
    harness.wait(LOOK_S)
    for started in (2, 4, 6, 8):
        harness.tell(shared.give(harness.ever(TakePlaces)[-1], harness.now))
        assert len(harness.ever(do.RunScript)) == started
        harness.wait(1)
    assert not harness.engine.run.features["shared_limits"].pace_left


def published(harness: make.EngineHarness) -> tuple[str, str]:
    """What the job ad says that the DAG waits for."""
    found = own_ad.attributes(harness.engine.report(), harness.now)
    return found[progress_ad.WAITS_FOR], found[progress_ad.WAITS_FOR_COUNT]


def test_the_job_ad_names_the_limits_that_are_full() -> None:
    limits = ("tape NODES A B", "disk NODES C", "net NODES D")
    harness = make.EngineHarness("\nSHARED_LIMIT ".join(["A; B; C; D; E", *limits]))
    harness.begin()
    full = [Grant((0, 0, 0, 0), starts=0, full=(name, Kind.JOBS)) for name in ("tape", "disk")]
    free = Grant((NO_LIMIT,) * 4, starts=NO_LIMIT)
    before = len(harness.ever(do.Publish))
    harness.tell(PlacesGiven([*full, full[0]]))
    assert published(harness) == ('"limit.full disk, tape"', "4")
    assert len(harness.ever(do.Publish)) > before
    harness.take("E", 5)
    harness.tell(make.of_job(EventKind.JOB_HELD, 5))
    assert published(harness) == ('"job.held"', "1")
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 5))
    assert published(harness) == ('"limit.full disk, tape"', "4")
    harness.wait(LOOK_S)
    before = len(harness.ever(do.Publish))
    harness.tell(PlacesUnknown("the disk is full"))
    assert published(harness) == ('"limit.trouble"', "4")
    assert len(harness.ever(do.Publish)) > before
    harness.wait(RETRY_S)
    harness.tell(PlacesGiven([free] * 3))
    assert "limit" not in published(harness)[0]


# Queues of nodes that keep to shared limits: the order is that of the usual ones, where there is
# room.


CLASS_OF = [node % 3 for node in range(30)]


def test_a_class_without_room_is_passed_over_and_is_not_lost() -> None:
    full = {1}
    queue = LimitedReadyQueue(CLASS_OF, 3, lambda number: number not in full)
    for node in (1, 4, 2, 0):
        queue.add(node, 5 if node == 4 else 0)
    assert queue.waiting(1) == 2 and len(queue) == 4
    assert [queue.pop(), queue.pop(), queue.pop()] == [2, 0, None]
    full.clear()
    assert [queue.pop(), queue.pop(), queue.pop()] == [4, 1, None]


def test_a_script_without_room_waits_and_one_put_off_comes_back() -> None:
    full = {1}
    queue = LimitedScriptQueue(CLASS_OF, 3, lambda number: number not in full)
    for node in (1, 2):
        queue.add(node)
    queue.defer(4, 10.0)
    assert (queue.pop(0.0), queue.pop(11.0)) == (2, None)
    assert queue.waiting(1) == 2 and queue
    full.clear()
    assert [queue.pop(11.0), queue.pop(11.0), queue.pop(11.0)] == [1, 4, None]
    assert not queue


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add-first", "discard", "pop", "clear"]), st.integers(0, 29)),
    max_size=60,
)


@given(STEPS)
def test_with_room_for_all_it_is_the_usual_ready_queue(steps: list[tuple[str, int]]) -> None:
    usual, limited = ReadyQueue(), LimitedReadyQueue(CLASS_OF, 3, lambda number: True)
    for what, node in steps:
        for queue in (usual, limited):
            if what.startswith("add") and node not in queue:
                queue.add(node, node % 4, first=what == "add-first")
            elif what == "discard":
                queue.discard(node)
            elif what == "clear" and node > 25:
                queue.clear()
        if what == "pop":
            assert usual.pop() == limited.pop()
        assert len(usual) == len(limited) == sum(map(limited.waiting, range(3)))
        assert usual.first() == limited.first()


@given(STEPS)
def test_with_room_for_all_it_is_the_usual_script_queue(steps: list[tuple[str, int]]) -> None:
    usual, limited = ScriptQueue(), LimitedScriptQueue(CLASS_OF, 3, lambda number: True)
    queued: set[int] = set()
    for now, (what, node) in enumerate(steps):
        if what == "pop":
            first = usual.pop(now)
            assert first == limited.pop(now)
            queued.discard(-1 if first is None else first)
            continue
        for queue in (usual, limited):
            if what == "add" and node not in queued:
                queue.add(node)
            elif what == "add-first" and node not in queued:
                queue.defer(node, now + node)
            elif what == "discard":
                queue.discard(node)
            elif what == "clear" and node > 25:
                queue.clear()
        if what.startswith("add"):
            queued.add(node)
        elif what == "discard":
            queued.discard(node)
        elif what == "clear" and node > 25:
            queued.clear()
        assert bool(usual) == bool(limited) and len(usual) == len(limited)


@given(STEPS, STEPS)
def test_what_another_ready_queue_has_is_taken_over_in_its_order(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    usual, others = ReadyQueue(), ReadyQueue()
    for queue in (usual, others):
        for what, node in before:
            _change(queue, what, node)
    limited = LimitedReadyQueue(CLASS_OF, 1, lambda number: True)
    limited.grow(3)
    limited.take_over(others)
    for what, node in after:
        for one in (usual, limited):
            _change(one, what, node)
        assert len(usual) == len(limited) == sum(map(limited.waiting, range(3)))
        assert usual.first() == limited.first()


def _change(queue: ReadyQueue, what: str, node: int) -> None:
    if what.startswith("add") and node not in queue:
        queue.add(node, node % 4, first=what == "add-first")
    elif what == "discard":
        queue.discard(node)
    elif what == "pop":
        queue.pop()


def test_what_another_script_queue_has_is_taken_over_in_its_order() -> None:
    usual = ScriptQueue()
    for node in (5, 1, 4, 3):
        usual.add(node)
    usual.discard(1)
    usual.defer(7, 10.0)
    full = {1}
    limited = LimitedScriptQueue(CLASS_OF, 1, lambda number: number not in full)
    limited.grow(3)
    limited.take_over(usual)
    assert (len(limited), limited.waiting(1), limited.next_time()) == (3, 1, 10.0)
    assert [limited.pop(0.0), limited.pop(0.0), limited.pop(11.0)] == [5, 3, None]
    full.clear()
    assert [limited.pop(11.0), limited.pop(11.0), limited.pop(11.0)] == [4, 7, None]
    assert not limited
