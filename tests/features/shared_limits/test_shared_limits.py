"""SHARED_LIMIT: nodes that are added, the pace after a restart, and the queues of nodes that wait.
What a DAG asks for, and what it gives back, is in `shared_limits.scene`."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.queues import ReadyQueue, ScriptQueue
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.features.shared_limits import run as shared_limits
from condor_pydagman.features.shared_limits.definitions import Kind, Limit, parse
from condor_pydagman.features.shared_limits.messages import TakePlaces
from condor_pydagman.features.shared_limits.queues import LimitedReadyQueue, LimitedScriptQueue
from condor_pydagman.graph.building import BuildOptions
from tests import make
from tests.features.shared_limits.scenes import Shared
from tests.make import QUIET, quiet
from tests.pieces import Pieces, piece_of


class Sharing(make.EngineHarness):
    """A DAG that knows these `limits`.

    Attributes:
        texts: of pieces, by digest.
    """

    def __init__(self, text: str, limits: Sequence[Limit], config: Config = QUIET) -> None:
        super().__init__(text, config)
        self.texts: dict[str, PieceText] = {}
        self.engine.run.given = {"growth": Pieces(self.dag, self.texts)}
        self._shared = Shared()
        self._shared.limits = {limit.key: limit for limit in limits}

    def answer(self) -> None:
        """Answer its request."""
        assert shared(self).asked
        self.tell(self._shared.give(self.ever(TakePlaces)[-1], self.now))


def shared(harness: make.EngineHarness) -> shared_limits.SharedLimits:
    """What the engine knows of shared limits."""
    found: shared_limits.SharedLimits = harness.engine.run.features["shared_limits"]
    return found


def add(harness: Sharing, lines: str) -> None:
    """A person adds nodes, and the record is read back."""
    digest = f"{len(harness.texts):032x}"
    harness.texts[digest] = PieceText("p", {"p": lines}, BuildOptions())
    piece = piece_of(harness.dag, harness.texts[digest], digest)
    harness.tell(PieceOffered(len(harness.texts), piece, "ann"))
    harness.read_back()


def test_a_dag_without_limits_gets_nodes_that_keep_to_one() -> None:
    harness = Sharing("A; B; C", parse("a = JOBS 1; b = PRE 1", "test"))
    harness.begin()
    assert harness.submits() == ["A"]
    limits = "SHARED_LIMIT a NODES X\nSHARED_LIMIT b NODES Y\n"
    add(harness, f"JOB X x\nJOB Y y\nSCRIPT PRE Y p\n{limits}")
    run, queues = harness.engine.run, shared(harness).queues
    assert queues is not None and run.ready is queues.ready
    assert [queues.ready.waiting(number) for number in (0, 1)] == [2, 1]
    assert harness.asked(TakePlaces) and not harness.ever(do.RunScript)
    harness.answer()
    assert [harness.dag.names[one.node] for one in harness.ever(do.RunScript)] == ["Y"]
    for number, name in enumerate("ABCX", 1):  # in the order in which they came
        assert harness.ever(do.SubmitNode)[-1].node == harness.dag.ids[name]
        harness.take(name, number)
    add(harness, "JOB Z z\nSHARED_LIMIT a ALL_NODES\nSHARED_LIMIT b ALL_NODES\n")
    harness.wait(1)
    harness.answer()
    assert harness.state("Z").name == "READY"
    places = shared(harness).places
    assert places is not None and (places.used(0)[0], places.used(1)[0]) == (3, 1)


def test_pre_scripts_of_all_dags_start_at_one_pace_after_a_restart() -> None:
    names = "ABCDEFGH"
    config = quiet(all_restart_pre_rate=2)
    limits = [Limit("*restart*", {Kind.STARTS: 120})]
    harness = Sharing(f"{'; '.join(names)}\nSCRIPT PRE ALL_NODES p", limits, config)
    harness.begin(recovering=True)
    assert not harness.engine.run.features
    harness.tell(inputs.LogCaughtUp())
    harness.tell(inputs.QueueListed([]))
    assert not harness.ever(do.RunScript)
    started = []
    for _ in range(5):
        harness.answer()
        started.append(len(harness.ever(do.RunScript)))
        harness.wait(1)
        if len(started) == 4:
            break
    assert started == [2, 4, 6, 8]
    assert not shared(harness).pace_left


def test_a_run_without_shared_limits_asks_for_nothing() -> None:
    harness = make.harness_of("A; B")
    assert not harness.engine.run.features and harness.submits() == ["A"]


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
