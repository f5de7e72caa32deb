"""SHARED_LIMIT: what a DAG asks for, what it starts in which order, what it gives back."""

from __future__ import annotations

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
from condor_pydagman.features.shared_limits.fair_shares import Outcome, decide
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims, Part, PlacesClaim
from condor_pydagman.features.shared_limits.messages import (
    PlacesGiven,
    PlacesUnknown,
    PlacesWanted,
    TakePlaces,
)
from condor_pydagman.features.shared_limits.queues import LimitedReadyQueue, LimitedScriptQueue
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.make import QUIET, quiet
from tests.pieces import Pieces, piece_of


class Sharing(make.EngineHarness):
    """A DAG, and the limits as others leave them.

    Attributes:
        limits: by name.
        others: what others hold and want.
        own: what its file says.
        texts: of pieces, by digest.
    """

    texts: dict[str, PieceText]
    limits: dict[str, Limit]
    others: list[LimitClaims]
    own: LimitClaims

    def answer(self) -> Outcome:
        """Answer its request."""
        assert shared(self).asked
        request = self.ever(TakePlaces)[-1]
        outcome = decide(self.own, self.others, self.limits, request.demands, self.now)
        self.own = outcome.claims
        self.tell(PlacesGiven(outcome.grants, outcome.contested, outcome.again_s))
        return outcome

    def other(self, limit: str, held: int, wanted: int, kind: Kind = Kind.JOBS) -> None:
        """Another DAG has so many places."""
        since = self.now if wanted > held else 0.0
        claim = PlacesClaim(held, held, wanted, since, held)
        self.others = [LimitClaims("o", "o", {limit: Part({kind: claim})}, "o")]

    def holds(self, limit: str = "a", kind: Kind = Kind.JOBS) -> int:
        return self.own.claim(limit, kind).held


def shared(harness: make.EngineHarness) -> shared_limits.SharedLimits:
    """What the engine knows of shared limits."""
    found: shared_limits.SharedLimits = harness.engine.run.features["shared_limits"]
    return found


def sharing(
    text: str,
    limits: str,
    uses: str = "SHARED_LIMIT a ALL_NODES",
    config: Config = QUIET,
    *,
    recovering: bool = False,
) -> Sharing:
    """A DAG with these SHARED_LIMIT commands, which knows these `limits`."""
    dag = make.dag(f"{text}\n{uses}")
    harness = Sharing(dag, config)
    harness.texts = {}
    harness.engine.run.given = {"growth": Pieces(dag, harness.texts)}
    harness.limits = {limit.key: limit for limit in parse(limits, "test")}
    harness.others, harness.own = [], LimitClaims("t.dag", "t", {})
    harness.begin(recovering=recovering)
    return harness


def test_nothing_starts_before_there_are_places() -> None:
    harness = sharing("A; B; C", "a = JOBS 2")
    assert harness.submits() == [] and harness.asked(TakePlaces)
    harness.answer()
    assert harness.submits() == ["A"]
    harness.take("A", 1)
    assert harness.submits() == ["B"]
    harness.take("B", 2)
    assert harness.submits() == []
    assert harness.said("Nodes wait for shared limit a: JOBS is used up")
    harness.wait(1)
    assert not harness.asked(TakePlaces)


def add(harness: Sharing, lines: str) -> None:
    """A person adds nodes, and the record is read back."""
    digest = f"{len(harness.texts):032x}"
    harness.texts[digest] = PieceText("p", {"p": lines}, BuildOptions())
    piece = piece_of(harness.dag, harness.texts[digest], digest)
    harness.tell(PieceOffered(len(harness.texts), piece, "ann"))
    harness.read_back()


def test_a_dag_without_limits_gets_nodes_that_keep_to_one() -> None:
    harness = sharing("A; B; C", "a = JOBS 1; b = PRE 1", uses="")
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


def test_a_place_is_used_again_without_a_request() -> None:
    harness = sharing("A; B; C", "a = JOBS 1")
    harness.answer()
    harness.run_node("A", 1)
    assert harness.submits() == ["B"]
    harness.run_node("B", 2)
    assert harness.submits() == ["C"] and len(harness.ever(TakePlaces)) == 1


def test_places_without_use_are_given_back_after_a_while() -> None:
    harness = sharing("A; B; C -> D", "a = JOBS 9")
    harness.answer()
    assert harness.holds() == 7  # some ahead
    for number, name in enumerate("ABC", 1):
        harness.take(name, number)
    harness.now += 1
    harness.tell(make.terminated(1), make.terminated(2))
    assert not harness.asked(TakePlaces)
    harness.wait(shared_limits.LINGER_S)
    harness.answer()
    assert harness.holds() == 5


def test_who_is_woken_by_others_gives_back_at_once() -> None:
    harness = sharing("A; B -> C", "a = JOBS 9")
    harness.answer()
    harness.other("a", 0, 9)
    harness.wait(1)
    harness.tell(PlacesWanted())
    harness.answer()
    assert harness.holds() == 2  # one runs, one is on its way
    harness.take("A", 1)
    harness.take("B", 2)
    harness.now += 1
    harness.tell(make.terminated(1))
    harness.answer()
    assert harness.holds() == 1


def test_who_has_more_than_its_share_starts_nothing_more() -> None:
    harness = sharing("A; B; C; D; E; F", "a = JOBS 4")
    harness.answer()
    for number, name in enumerate("ABCD", 1):
        harness.take(name, number)
    harness.other("a", 0, 9)
    harness.wait(1)
    harness.tell(PlacesWanted())
    harness.answer()
    assert harness.holds() == 4
    harness.wait(1)
    harness.tell(make.terminated(1))
    assert harness.submits() == []
    harness.answer()
    assert harness.holds() == 3
    harness.tell(make.terminated(2), make.terminated(3))
    assert harness.submits() == ["E"]


def test_a_request_that_fails_is_made_again_and_told_once() -> None:
    harness = sharing("A", "a = JOBS 4")
    harness.tell(PlacesUnknown("the disk is full"))
    assert harness.said("can't ask for places of shared limits: the disk is full")
    assert harness.submits() == []
    assert [one.answer for one in harness.engine.report().shown] == ["the disk is full"]
    deadline = harness.engine.next_deadline()
    assert deadline == harness.now + shared_limits.RETRY_S
    harness.wait(shared_limits.RETRY_S)
    assert harness.asked(TakePlaces)
    harness.answer()
    assert harness.engine.report().shown == ()
    assert harness.submits() == ["A"]


def test_who_waits_looks_from_time_to_time() -> None:
    harness = sharing("A", "a = JOBS 4")
    harness.other("a", 4, 4)
    harness.answer()
    harness.wait(shared_limits.LOOK_S - 1)
    assert not harness.asked(TakePlaces)
    harness.wait(1)
    assert harness.asked(TakePlaces)
    harness.others = []
    harness.answer()
    assert harness.submits() == ["A"]


def test_a_restart_claims_what_its_nodes_have() -> None:
    harness = sharing("A; B; C", "a = JOBS 2")
    harness.answer()
    harness.take("A", 1)
    harness.take("B", 2)
    other = sharing("A; B; C", "a = JOBS 2", recovering=True)
    other.tell(*harness.log)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(TakePlaces)
    other.tell(inputs.QueueListed(harness.queue()))
    (request,) = other.asked(TakePlaces)
    assert request.demands[0].used[Kind.JOBS] == request.demands[0].kept[Kind.JOBS] == 2
    other.answer()
    assert other.holds() == 2 and other.submits() == []


def test_nodes_of_other_kinds_keep_to_no_limit() -> None:
    harness = sharing("A\nSUBDAG EXTERNAL B b.dag", "a = JOBS 1")
    assert harness.submits() == ["B"]


def test_a_category_alone_keeps_to_a_limit() -> None:
    harness = sharing("A; B\nCATEGORY A big", "a = JOBS 1", "SHARED_LIMIT a CATEGORY big")
    assert harness.submits() == ["B"]
    harness.take("B", 1)
    harness.answer()
    assert harness.submits() == ["A"]


def test_scripts_keep_to_the_limit_as_well() -> None:
    harness = sharing("A; B\nSCRIPT PRE ALL_NODES p\nSCRIPT POST A q", "a = PRE 1 POST 1")
    assert not harness.ever(do.RunScript)
    harness.answer()
    assert [one.kind for one in harness.ever(do.RunScript)] == [ScriptKind.PRE]
    harness.pre_ends("A")
    assert harness.submits() == [] or harness.submits() == ["A"]
    assert len(harness.ever(do.RunScript)) == 2
    harness.run_node("A", 1)
    assert harness.state("A").name == "POST_RUN"


def test_a_halted_dag_wants_nothing() -> None:
    harness = sharing("A; B", "a = JOBS 1")
    harness.answer()
    harness.take("A", 1)
    harness.now += 1
    harness.tell(inputs.Halt("x", file=True))
    harness.other("a", 0, 1)
    harness.tell(PlacesWanted(), make.terminated(1))
    harness.answer()
    harness.wait(shared_limits.PAUSE_S)
    harness.answer()
    assert harness.holds() == 0


def test_the_dags_own_throttles_bound_what_it_asks_for() -> None:
    harness = sharing("A; B; C; D; E; F; G; H", "a = JOBS 9", config=quiet())
    harness.tell(inputs.LimitsWanted(jobs=1))
    harness.answer()
    harness.wait(shared_limits.LINGER_S)
    harness.wait(shared_limits.LINGER_S)
    if shared(harness).asked:
        harness.answer()
    assert harness.holds() <= 5


def test_starts_are_counted() -> None:
    harness = sharing("A; B", "a = STARTS-PER-MINUTE 60")
    harness.answer()
    assert harness.submits() == ["A"]
    harness.take("A", 1)
    assert harness.submits() == []
    harness.wait(1)
    assert harness.asked(TakePlaces)
    harness.answer()
    assert harness.submits() == ["B"]


def test_pre_scripts_of_all_dags_start_at_one_pace_after_a_restart() -> None:
    names = "ABCDEFGH"
    config = quiet(all_restart_pre_rate=2)
    dag = make.dag(f"{'; '.join(names)}\nSCRIPT PRE ALL_NODES p")
    harness = Sharing(dag, config)
    harness.limits = {"*restart*": Limit("*restart*", {Kind.STARTS: 120})}
    harness.others, harness.own = [], LimitClaims("t.dag", "t", {})
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


def test_while_a_class_waits_no_other_keeps_places_for_what_follows() -> None:
    uses = "SHARED_LIMIT a NODES A B\nSHARED_LIMIT b NODES C"
    harness = sharing("A; B; C", "a = JOBS 1; b = JOBS 9", uses)
    assert [one.ahead for one in harness.ever(TakePlaces)[-1].demands] == [4, 4]
    harness.answer()
    harness.take("A", 1)
    harness.take("C", 2)
    harness.wait(shared_limits.LINGER_S)
    harness.wait(shared_limits.LINGER_S)
    assert [one.ahead for one in harness.ever(TakePlaces)[-1].demands] == [0, 0]
    harness.answer()
    assert harness.holds("b") == 1


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
