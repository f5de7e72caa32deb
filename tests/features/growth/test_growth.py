"""A DAG that grows while it runs, and lets go of what is done, live and replayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.feeder.commands import Feeder, FeederOfDag
from condor_pydagman.features.feeder.run import Fed
from condor_pydagman.features.growth.commands import (
    Extend,
    GrownPiece,
    GrowthOfDag,
    LetGo,
    Piece,
    growth_of,
)
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import (
    PieceOffered,
    PieceRead,
    PieceRefused,
    ReadPiece,
)
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from condor_pydagman.features.shared_limits.commands import limit_uses_of
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import (
    NO_NODE,
    RETURN_GROWTH_FAILED,
    DagStatus,
    EventKind,
    NodeStatus,
)
from tests import make
from tests.unit.engine.growing import FedDag, Growing


def piece_of(dag: Dag, text: str, node: str = "", children: str = "", digest: str = "d1") -> Piece:
    given = PieceText(
        "p", {"p": text}, BuildOptions(), "", "", node, tuple(children.split()), bool(node)
    )
    return at_once(read_piece(dag, given, digest=digest))


def growing(text: str, node: str = "A", **how: object) -> Growing:
    dag = make.dag(text)
    GrowthOfDag.put(dag).extensions[dag.ids[node]] = Extend(0, "", "p")
    return Growing(dag, **how)  # type: ignore[arg-type]


def submits(actions: Iterable[do.Action], dag: Dag) -> list[str]:
    return [dag.names[one.node] for one in actions if isinstance(one, do.SubmitNode)]


def test_a_node_that_ends_well_adds_a_piece_before_its_children_start() -> None:
    it = growing("A -> B")
    it.begin()
    it.run("A")
    assert it.state("A") == "GROWING"
    assert [one for one in it.asked if isinstance(one, ReadPiece)] == [ReadPiece(0)]
    it.take(piece_of(it.dag, "JOB X x\nJOB Y x\n", "A", "B"))
    assert (it.state("A"), it.state("B")) == ("DONE", "WAITING")
    for name in ("X", "Y"):
        assert it.state("B") == "WAITING"
        it.run(name)
    it.run("B")
    assert isinstance(it.asked[-1], do.Exit)
    assert it.asked[-1].code == 0


def test_nothing_starts_while_a_piece_is_on_its_way_into_the_log() -> None:
    it = growing("A -> B; C -> D")
    it.begin()
    it.run("A")
    piece = piece_of(it.dag, "JOB X x\nPARENT X CHILD D\n", "A", "B")
    it.pieces["d1"] = piece
    it.feed(PieceRead(0, piece))
    it.run("C")
    assert it.state("D") == "READY"
    assert "D" not in submits(it.asked, it.dag)
    it.read_back(it.records("GROWN")[-1])
    assert it.state("D") == "WAITING"
    it.run("X")
    assert it.state("D") == "SUBMITTING"


def test_a_record_that_is_not_read_back_is_written_again() -> None:
    it = growing("A -> B")
    it.begin()
    it.run("A")
    piece = piece_of(it.dag, "JOB X x\n", "A", "B")
    it.pieces["d1"] = piece
    it.feed(PieceRead(0, piece))
    due = it.engine.next_deadline()
    assert due is not None
    it.now = due
    it.feed(inputs.Wake())
    first, second = it.records("GROWN")
    assert first == second
    it.read_back(first)
    it.read_back(second)
    assert it.dag.names == ["A", "B", "X"]


def test_a_piece_that_is_refused_fails_its_node_and_retries_apply() -> None:
    dag = make.dag("A -> B\nRETRY A 1")
    GrowthOfDag.put(dag).extensions[0] = Extend(0, "", "p")
    it = Growing(dag)
    it.begin()
    for attempt in range(2):
        it.run("A")
        it.feed(PieceRefused(0, "ERROR: p:1 is wrong\n  at length"))
        record = it.records("GROWTH_FAILED")[-1]
        assert (record.retry, record.text) == (attempt, "ERROR: p:1 is wrong")
        it.read_back(record)
    assert it.state("A") == "FAILED"
    assert it.state("B") == "FUTILE"
    assert it.engine.run.nodes.values[0] == RETURN_GROWTH_FAILED


def test_a_node_whose_piece_is_refused_has_published_nothing() -> None:
    it = growing("A -> B\nPUBLISH A ATTRIBUTES n")
    it.begin()
    it.run("A")
    end = int(EventKind.JOB_TERMINATED)
    it.feed(inputs.LogEvent(EventKind.JOB_AD_INFORMATION, 1, 0, 0, value=end, text="n=2"))
    assert it.engine.run.features["publish"].values == {0: {"n": "2"}}
    assert it.state("A") == "GROWING"
    it.feed(PieceRefused(0, "ERROR: wrong"))
    it.read_back(it.records("GROWTH_FAILED")[-1])
    assert it.state("A") == "FAILED"
    assert not it.engine.run.features["publish"].values


def test_a_piece_that_fits_no_more_when_it_comes_is_refused() -> None:
    it = growing("A -> B; C")
    it.begin()
    it.run("A")
    piece = piece_of(it.dag, "JOB X x\nPARENT X CHILD C\n", "A", "B")
    it.feed(PieceRead(0, piece))
    (record,) = it.records("GROWTH_FAILED")
    assert record.text == "node C has begun: it can't get another parent"


def test_a_dag_that_grows_too_large_is_refused() -> None:
    it = growing("A -> B", max_grown_nodes=3)
    it.begin()
    it.run("A")
    it.feed(PieceRead(0, piece_of(it.dag, "JOB X x\nJOB Y x\n", "A", "B")))
    (record,) = it.records("GROWTH_FAILED")
    assert "PYDAGMAN_MAX_GROWN_NODES" in record.text


def test_a_person_adds_a_piece() -> None:
    it = Growing(make.dag("A -> B"))
    it.begin()
    piece = piece_of(it.dag, "JOB X x\nPARENT A CHILD X\nPARENT X CHILD B\nJOB Y x\n")
    it.pieces["d1"] = piece
    it.feed(PieceOffered(7, piece, "jane"))
    told = it.read_back(it.records("GROWN")[0])
    assert do.Grown(7, 2, "") in told
    it.run("A")
    assert (it.state("X"), it.state("B")) == ("READY", "WAITING")
    assert it.feed(PieceOffered(8, piece, "jane"))[0] == do.Grown(8, 0, "there is a node X already")


def test_new_nodes_behind_a_failed_one_are_futile() -> None:
    it = Growing(make.dag("A -> B; C"))
    it.begin()
    it.run("A", 1)
    text = "JOB X x\nJOB Y x\nJOB Z x\nPARENT A CHILD X\nPARENT B CHILD Y\nWEAK PARENT A CHILD Z\n"
    piece = piece_of(it.dag, text)
    it.pieces["d1"] = piece
    it.feed(PieceOffered(1, piece, "jane"))
    it.read_back(it.records("GROWN")[0])
    assert [it.state(name) for name in "XY"] == ["FUTILE", "FUTILE"]
    assert it.state("Z") != "WAITING"


def test_nodes_that_are_done_in_a_piece() -> None:
    it = growing("A -> B")
    it.begin()
    it.run("A")
    it.take(piece_of(it.dag, "JOB X x DONE\nJOB Y x\nPARENT X CHILD Y\n", "A", "B"))
    assert (it.state("X"), it.state("Y")) == ("DONE", "SUBMITTING")


def test_many_new_nodes_are_started_some_at_a_time() -> None:
    it = growing("A -> B")
    it.begin()
    it.run("A")
    text = "".join(f"JOB N{number} x\n" for number in range(5000))
    it.take(piece_of(it.dag, text, "A"))
    counts = it.engine.run.nodes.counts
    assert counts[State.WAITING] >= 3000
    while counts[State.WAITING]:
        assert it.engine.next_deadline() is not None
        it.feed(inputs.Wake())
    assert counts[State.READY] + counts[State.SUBMITTING] >= 5000


def test_a_replay_grows_as_the_run_has() -> None:
    it = growing("A -> B")
    it.begin()
    it.run("A")
    record = it.take(piece_of(it.dag, "JOB X x\n", "A", "B"))
    it.run("X")
    after = make.dag("A -> B")
    GrowthOfDag.put(after).extensions[0] = Extend(0, "", "p")
    again = Growing(after, pieces={"d1": piece_of(after, "JOB X x\n", "A", "B")})
    again.begin(recovering=True)
    again.run("A")
    again.read_back(record)
    again.run("X")
    assert [again.state(name) for name in "ABX"] == ["DONE", "READY", "DONE"]


def test_a_node_in_retry_waits_for_its_new_parent_after_a_restart() -> None:
    def started(pieces: dict[str, Piece], *, recovering: bool) -> Growing:
        it = Growing(make.dag("A B\nRETRY B 1 DELAY 100"), pieces=pieces)
        it.begin(recovering=recovering)
        it.run("B", 1)
        assert it.state("B") == "RETRY_WAIT"
        return it

    it = started({}, recovering=False)
    it.engine.run.limits = Throttles(jobs=1)  # A has the place
    it.now += 200
    it.feed(inputs.Wake())
    assert it.state("B") == "READY"
    it.pieces["d1"] = piece_of(it.dag, "JOB X x\nPARENT X CHILD B\n")
    it.feed(PieceOffered(7, it.pieces["d1"], "jane"))
    (record,) = it.records("GROWN")
    it.read_back(record)
    again = started(it.pieces, recovering=True)
    again.read_back(record)
    again.now += 200
    again.feed(inputs.LogCaughtUp(), inputs.QueueListed([]), inputs.Wake())
    assert it.state("B") == again.state("B") == "WAITING"
    assert list(it.engine.run.nodes.retries) == list(again.engine.run.nodes.retries)


def test_a_replay_without_the_piece_leaves_all_as_it_is() -> None:
    it = growing("A -> B")
    it.begin(recovering=True)
    it.run("A")
    it.read_back(do.AppendJournalRecord("GROWN", 0, 0, 1, text="d9"))
    assert it.asked[-1] == do.Exit(1, keep_lock=True, concluded=False)
    assert any("piece 1" in one.text for one in it.asked if isinstance(one, do.Say))


def test_a_node_whose_piece_is_in_force_adds_it_once() -> None:
    dag = make.dag("A -> B")
    GrowthOfDag.put(dag).extensions[0] = Extend(0, "", "p")
    GrowthOfDag.put(dag).pieces.append(GrownPiece(1, "d", "A"))
    it = Growing(dag)
    it.begin()
    it.run("A")
    assert it.state("A") == "DONE"


@pytest.mark.parametrize("state", ["GROWING", "DONE"])
def test_a_dag_that_ends_reads_no_piece(state: str) -> None:
    it = growing("A -> B; C", node="A")
    it.begin()
    if state == "GROWING":
        it.run("A")
    it.feed(inputs.DagRemoved())
    before = len(it.records("GROWTH_FAILED"))
    it.feed(PieceRefused(0, "late"))
    assert len(it.records("GROWTH_FAILED")) == before


def test_a_person_adds_to_a_dag_without_nodes() -> None:
    dag = Dag(["t.dag"])
    dag.finish()
    FeederOfDag.put(dag).feeder = Feeder(0, 1, 0, 60, 0, "feed")
    it = Growing(dag)
    it.begin()
    piece = piece_of(it.dag, "JOB X x\n")
    it.pieces["d1"] = piece
    it.feed(PieceOffered(7, piece, "ann"))
    it.read_back(it.records("GROWN")[-1])
    assert do.Grown(7, 1, "") in it.asked
    assert it.state("X") == "SUBMITTING"


# A DAG that is fed for ever lets go of what is done, live and replayed.


class Endless(FedDag):
    """An engine with a FEEDER that keeps a few done nodes."""

    def __init__(self, text: str = "", kept: int = 2, **how: Any) -> None:
        super().__init__(text, begin=False, below=how.pop("below", 1))
        self.kept = kept
        run = self.engine.run
        run.config = Config(kept_grown_nodes=kept, **how)
        self.log: list[inputs.LogEvent] = []

    def feed(self, *given: inputs.Input) -> list[do.Action]:
        self.log += [one for one in given if isinstance(one, inputs.LogEvent)]
        return super().feed(*given)

    def feed_and_run(self, first: int, count: int, names: str = "N{}") -> None:
        """Feedings with a node each, which runs."""
        for number in range(first, first + count):
            self.give(f"JOB {names.format(number)} x\n")
            self.let_go()
            self.run(names.format(number))

    def let_go(self) -> list[do.AppendJournalRecord]:
        """The records, each read back once."""
        records = self.records("LET_GO")
        read = sum(event.record == "LET_GO" for event in self.log)
        for record in records[read:]:
            self.read_back(record)
        return records

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.dag.named()]


def test_the_first_pieces_are_let_go_when_there_are_more_than_are_kept() -> None:
    it = Endless()
    it.begin()
    it.feed_and_run(1, 3)
    assert it.records("LET_GO") == []
    it.give("JOB N4 x\n")
    record = it.records("LET_GO")[0]
    assert (record.node, record.text) == (-1, "1")
    assert it.names == ["N1", "N2", "N3", "N4"]
    it.let_go()
    assert it.names == ["N2", "N3", "N4"]
    report = it.engine.report()
    assert (report.total, report.done) == (4, 3)
    assert growth_of(it.dag).let_go_of == LetGo(0, 1, 1, 1, 1)
    it.run("N4")
    it.give("", last=True)
    assert it.exit_code() == 0


def test_numbers_of_nodes_are_used_again_and_nothing_is_left_of_the_old_ones() -> None:
    it = Endless("A -> B")
    it.begin()
    it.run("A")
    it.run("B")
    for number in range(1, 30):
        it.give(f"JOB N{number} x\nJOB M{number} x\nPARENT N{number} CHILD M{number}\n")
        it.let_go()
        it.run(f"N{number}")
        it.run(f"M{number}")
    assert len(it.dag) <= 12
    report = it.engine.report()
    assert (report.total, report.done) == (60, 60)
    assert [one.name for one in it.engine.node_reports()] == it.names


def test_nodes_of_the_dag_files_are_not_counted_among_those_kept() -> None:
    it = Endless("A -> B -> C -> D")
    it.begin()
    for name in "ABCD":
        it.run(name)
    it.feed_and_run(1, 2)
    it.give("JOB N3 x\n")
    assert it.records("LET_GO") == []
    assert "N1" in it.names


def test_nodes_on_which_something_depends_are_kept() -> None:
    it = Endless(kept=1)
    it.begin()
    it.give("JOB A x\nJOB B x\n")
    it.run("A")
    it.run("B")
    it.give("JOB D x\nJOB E x\nPARENT A CHILD D\nPARENT D CHILD E\n")
    it.run("D")
    it.feed(inputs.Wake())
    assert it.records("LET_GO") == []
    it.run("E")
    it.give("JOB F x\n")
    assert [one.text for one in it.let_go()] == ["1 2"]
    assert it.names == ["F"]


def test_what_has_failed_is_kept_and_told() -> None:
    it = Endless(kept=1)
    it.begin()
    it.give("JOB A x\n")
    it.run("A", 1)
    it.feed_and_run(2, 3)
    it.give("JOB N5 x\n")
    it.let_go()
    assert sorted(it.names) == ["A", "N4", "N5"]
    assert it.state("A") == "FAILED"
    assert it.engine.report().dag_status is DagStatus.NODE_FAILED


def test_a_let_go_record_that_is_not_read_back_is_written_again() -> None:
    it = Endless(kept=1)
    it.begin()
    it.feed_and_run(1, 2)
    it.give("JOB N3 x\n")
    due = it.engine.next_deadline()
    assert due is not None
    it.now = due
    it.feed(inputs.Wake())
    first, second = it.records("LET_GO")
    assert first == second
    it.read_back(first)
    it.read_back(second)
    assert it.names == ["N2", "N3"]


def test_a_person_can_do_nothing_to_a_node_that_leaves() -> None:
    it = Endless(kept=1)
    it.begin()
    it.feed_and_run(1, 2)
    it.give("JOB N3 x\n")
    wanted = NodesSteered(1, NodeCommand.RERUN, (it.dag.ids["N1"],), "ann")
    it.feed(wanted)
    (answer,) = [one for one in it.asked if isinstance(one, do.Steered)]
    assert answer.refused == ((0, "it is done and leaves the DAG, with others that were added"),)
    it.let_go()
    assert it.names == ["N2", "N3"]


def test_a_node_that_a_person_has_just_run_anew_is_kept() -> None:
    it = Endless(kept=1)
    it.begin()
    it.feed_and_run(1, 2)
    it.feed(NodesSteered(1, NodeCommand.RERUN, (it.dag.ids["N1"],), "ann"))
    it.give("JOB N3 x\n")
    assert it.records("LET_GO") == []
    it.read_back(it.records("STEERED")[0])
    record = do.AppendJournalRecord("LET_GO", -1, 0, 0, text="1 7")
    it.read_back(record)  # it does not fit, whoever has written it
    assert "N1" in it.names


def test_a_piece_that_was_checked_before_is_checked_anew() -> None:
    it = Endless(kept=1, below=2)
    it.begin()
    it.feed_and_run(1, 2)
    it.give("JOB N3 x\n")
    record = it.records("LET_GO")[0]
    late = it.piece("JOB N4 x\nPARENT N1 CHILD N4\n")
    it.read_back(record)
    before = it.runs()
    it.feed(Fed(before[-1], late))
    assert it.runs() == [*before, before[-1]]
    assert it.names == ["N2", "N3"]


def test_a_name_can_be_used_again() -> None:
    it = Endless(kept=1)
    it.begin()
    it.give("JOB A x\nRETRY A 1\n")
    it.run("A", 7)
    it.run("A")
    it.feed_and_run(2, 3)
    it.give("JOB A x\n")
    it.run("A", 3)
    report = next(one for one in it.engine.node_reports() if one.name == "A")
    assert (report.retries_done, report.return_value) == (0, 3)
    assert report.status is NodeStatus.ERROR


def test_a_replay_comes_to_the_same() -> None:
    it = Endless()
    it.begin()
    for number in range(1, 9):
        it.give(f"JOB N{number} x\nJOB M{number} x\nPARENT N{number} CHILD M{number}\n")
        it.let_go()
        it.run(f"N{number}")
        it.run(f"M{number}", number == 5)
    live = it.engine.report()
    replay = Endless()
    replay.pieces.update(it.pieces)
    replay.begin(recovering=True)
    for event in it.log:
        replay.feed(event)
    assert sorted(replay.names) == sorted(it.names)
    again = replay.engine.report()
    assert (again.total, again.done, again.failed) == (live.total, live.done, live.failed)
    assert growth_of(replay.dag).let_go_of == growth_of(it.dag).let_go_of
    assert {name: replay.state(name) for name in replay.names} == {
        name: it.state(name) for name in it.names
    }


def test_a_rescue_dag_goes_on_counting() -> None:
    dag = Dag(["t.dag"])
    dag.finish()
    GrowthOfDag.put(dag).let_go_of = LetGo(0, 7, 30, 5, 20)
    it = Growing(dag)
    assert (it.engine.report().total, it.engine.report().done) == (30, 30)
    it.begin()
    piece = Piece("d", make.dag("A"), base=it.dag.changes)
    assert it.engine.feature("growth").journal(NO_NODE, piece) == 8


def _held(found: object, seen: set[int]) -> Iterator[tuple[str, Iterable[object]]]:
    """All dictionaries and sets in what is known of a run, with the names of attributes."""
    if id(found) in seen:
        return
    seen.add(id(found))
    slots = [slot for kind in type(found).__mro__ for slot in getattr(kind, "__slots__", ())]
    for name in (*slots, *getattr(found, "__dict__", ())):
        value = getattr(found, name, None)
        if isinstance(value, (dict, set)):
            yield f"{type(found).__name__}.{name}", value
            if name == "features":
                for one in value.values():
                    yield from _held(one, seen)
        elif type(value).__module__.startswith("condor_pydagman"):
            yield from _held(value, seen)


_BY_OTHER_NUMBERS = {
    "Growing.requests",
    "GrowthOfDag.contents",
    "Steering.requests",
    "NoopIds.nodes",
    "JobTable.by_cluster",
    "JobTable.shared",
    "JobTable._ended",
    "Rows._void",
}


def test_nothing_that_is_kept_by_node_knows_a_node_that_has_gone() -> None:
    it = Endless("A", kept=1)
    it.begin()
    it.run("A")
    text = "JOB N{0} x\nJOB M{0} x\nPARENT N{0} CHILD M{0}\nRETRY N{0} 2\nCATEGORY N{0} c\n"
    text += 'MAXJOBS c 5\nVARS N{0} a="{0}"\nPRIORITY M{0} 3\nSCRIPT PRE M{0} p\n'
    for number in range(1, 4):
        it.give(text.format(number))
        it.let_go()
        node = it.dag.ids[f"M{number}"]
        it.feed(NodesSteered(number, NodeCommand.SKIP, (node,), "ann"))
        it.read_back(it.records("STEERED")[-1])
        it.run(f"N{number}", 4)
        it.run(f"N{number}")
    it.give("JOB Z x\n")
    it.let_go()
    free = set(it.dag.free)
    assert free
    for name, value in _held(it.engine.run, set()):
        if name in _BY_OTHER_NUMBERS:
            continue
        keys = {one[0] if isinstance(one, tuple) and one else one for one in value}
        found = {one for one in keys if isinstance(one, int) and not isinstance(one, State)} & free
        assert not found, (name, found)


def test_a_node_that_others_decide_by_is_kept_until_they_go_and_numbers_decide_anew() -> None:
    it = Endless(kept=1)
    it.begin()
    it.give("JOB A x\nJOB A2 x\n")
    it.run("A")
    it.run("A2")
    it.give("JOB X x\nPARENT A CHILD X\nRUN_IF X Done == 1\n")
    node = it.dag.ids["X"]
    (wanted,) = next(one.wanted for one in it.asked if isinstance(one, EvaluateConditions))
    it.feed(ConditionsEvaluated([ConditionResult(node, wanted.number, 1, "")]))
    it.read_back(it.records("CONDITION")[-1])
    it.run("X")
    gated, gone = it.engine.run.nodes.gated, set[str]()
    for number in range(8):  # numbers of nodes are used again, for nodes without a condition
        it.give(f"JOB N{number} x\n")
        it.let_go()
        gone |= {"A", "X"} - set(it.names)
        assert "X" in gone or "A" not in gone
        it.run(f"N{number}")
    assert gone == {"A", "X"}
    assert not (gated.parents or gated.watched or gated.unfinished or it.dag.decided)


def test_a_piece_with_enough_parents_is_kept() -> None:
    it = Endless(kept=1)
    it.begin()
    it.give("JOB A x\nJOB X x\nPARENT A CHILD X\nENOUGH PARENTS X 1\n")
    it.run("A")
    it.read_back(it.records("ENOUGH")[-1])
    it.run("X")
    it.feed_and_run(1, 6)
    assert {"A", "X"} <= set(it.names)


def test_limits_go_with_their_nodes() -> None:
    it = Endless(kept=1)
    it.begin()
    for number in range(6):
        it.give(f"JOB N{number} x\nSHARED_LIMIT a{number % 2} ALL_NODES\n")
        it.let_go()
        places, node = it.engine.run.features["shared_limits"].places, it.dag.ids[f"N{number}"]
        assert places.names[places.class_of[node]] == (f"a{number % 2}",)
        it.run(f"N{number}")
    assert len(limit_uses_of(it.dag)) < 4


def test_a_node_that_a_rescue_dag_decides_anew_is_kept() -> None:
    it = Endless("F", kept=1)
    it.begin()
    it.run("F", 1)
    it.give("JOB S x\nJOB T x\nPARENT F CHILD S\nPARENT S CHILD T\nRUN_IF S Failed == 0\n")
    (wanted,) = next(one.wanted for one in it.asked if isinstance(one, EvaluateConditions))
    it.feed(ConditionsEvaluated([ConditionResult(wanted.node, wanted.number, 0, "")]))
    it.read_back(it.records("CONDITION")[-1])
    assert (it.state("S"), it.state("T")) == ("DONE", "DONE")
    it.feed_and_run(1, 6)
    assert {"S", "T"} <= set(it.names)


def test_a_damaged_record_lets_go_of_what_can_be_read() -> None:
    it = Endless(kept=9)
    it.begin()
    it.feed_and_run(1, 2)
    text = f"x 2 1_0 \u0663 -1 {'9' * 5000}"
    it.read_back(do.AppendJournalRecord("LET_GO", -1, 0, 0, text=text))
    assert it.names == ["N1"]


def test_a_record_that_was_written_twice_is_not_taken_for_the_next_one() -> None:
    it = Endless(kept=1)
    it.begin()
    it.feed_and_run(1, 2)
    it.give("JOB N3 x\n")
    (first,) = it.let_go()
    it.run("N3")
    it.give("JOB N4 x\n")
    assert len(it.records("LET_GO")) == 2
    it.read_back(first)
    growth = it.engine.run.features["growth"].letting_go
    assert growth.leaving
    it.read_back(it.records("LET_GO")[-1])
    assert not growth.leaving
