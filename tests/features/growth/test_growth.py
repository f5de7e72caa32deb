"""A DAG that grows while it runs, and lets go of what is done, live and replayed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.feeder.commands import Feeder, FeederOfDag
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.commands import (
    Extend,
    GrownPiece,
    GrowthOfDag,
    Piece,
)
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import (
    PieceOffered,
    PieceRead,
    PieceRefused,
    ReadPiece,
)
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import EXIT_RESTART, RETURN_GROWTH_FAILED, EventKind
from tests import make
from tests.unit.engine.growing import Growing


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
    it = growing("A -> B").begin()
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
    it = growing("A -> B; C -> D").begin()
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
    it = growing("A -> B").begin()
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
    it = Growing(dag).begin()
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
    it = growing("A -> B\nPUBLISH A ATTRIBUTES n").begin()
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
    it = growing("A -> B; C").begin()
    it.run("A")
    piece = piece_of(it.dag, "JOB X x\nPARENT X CHILD C\n", "A", "B")
    it.feed(PieceRead(0, piece))
    (record,) = it.records("GROWTH_FAILED")
    assert record.text == "node C has begun: it can't get another parent"


def test_a_dag_that_grows_too_large_is_refused() -> None:
    it = growing("A -> B", max_grown_nodes=3).begin()
    it.run("A")
    it.feed(PieceRead(0, piece_of(it.dag, "JOB X x\nJOB Y x\n", "A", "B")))
    (record,) = it.records("GROWTH_FAILED")
    assert "PYDAGMAN_MAX_GROWN_NODES" in record.text


def test_a_person_adds_a_piece() -> None:
    it = Growing(make.dag("A -> B")).begin()
    piece = piece_of(it.dag, "JOB X x\nPARENT A CHILD X\nPARENT X CHILD B\nJOB Y x\n")
    it.pieces["d1"] = piece
    it.feed(inputs.Halt("wait"), PieceOffered(7, piece, "jane"))
    told = it.read_back(it.records("GROWN")[0])
    assert do.Grown(7, 2, "") in told
    assert (it.state("Y"), submits(told, it.dag)) == ("READY", []), "as in a DAG that has it"
    it.run("A")
    assert (it.state("X"), it.state("B")) == ("READY", "WAITING")
    assert it.feed(PieceOffered(8, piece, "jane"))[0] == do.Grown(8, 0, "there is a node X already")


def test_new_nodes_behind_a_failed_one_are_futile() -> None:
    it = Growing(make.dag("A -> B; C")).begin()
    it.run("A", 1)
    text = "JOB X x\nJOB Y x\nJOB Z x\nPARENT A CHILD X\nPARENT B CHILD Y\nWEAK PARENT A CHILD Z\n"
    piece = piece_of(it.dag, text)
    it.pieces["d1"] = piece
    it.feed(PieceOffered(1, piece, "jane"))
    it.read_back(it.records("GROWN")[0])
    assert [it.state(name) for name in "XY"] == ["FUTILE", "FUTILE"]
    assert it.state("Z") != "WAITING"


def test_nodes_that_are_done_in_a_piece() -> None:
    it = growing("A -> B").begin()
    it.run("A")
    it.take(piece_of(it.dag, "JOB X x DONE\nJOB Y x\nPARENT X CHILD Y\n", "A", "B"))
    assert (it.state("X"), it.state("Y")) == ("DONE", "SUBMITTING")


def test_many_new_nodes_are_started_some_at_a_time() -> None:
    it = growing("A -> B").begin()
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
    it = growing("A -> B").begin()
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


def without_piece(directory: Path, mode: Mode) -> Growing:
    """A replay of a log with a piece whose text is missing."""
    it = growing("A -> B")
    it.engine.run.mode = mode
    it.engine.run.given = {"growth": kept_pieces.of(it.dag, DagPaths(str(directory / "t.dag")))}
    it.begin(recovering=True)
    it.run("A")
    it.read_back(do.AppendJournalRecord("GROWN", 0, 0, 1, text="d9"))
    return it


def test_who_follows_the_log_can_do_without_a_piece(tmp_path: Path) -> None:
    assert without_piece(tmp_path, Mode.FOLLOW).state("A") == "DONE"


def test_a_replay_without_the_piece_leaves_all_as_it_is_on_hold(tmp_path: Path) -> None:
    *_, hold, end = without_piece(tmp_path, Mode.RUN).asked
    assert end == do.Exit(EXIT_RESTART, keep_lock=True, concluded=False)
    assert (type(hold), hold.cluster) == (do.HoldJobs, 0)
    assert "t.dag.grown does not have it, or is damaged. Put it back, then" in hold.reason


def test_a_node_whose_piece_is_in_force_adds_it_once() -> None:
    dag = make.dag("A -> B")
    GrowthOfDag.put(dag).extensions[0] = Extend(0, "", "p")
    GrowthOfDag.put(dag).pieces.append(GrownPiece(1, "d", "A"))
    it = Growing(dag).begin()
    it.run("A")
    assert it.state("A") == "DONE"


@pytest.mark.parametrize("state", ["GROWING", "DONE"])
def test_a_dag_that_ends_reads_no_piece(state: str) -> None:
    it = growing("A -> B; C", node="A").begin()
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
    it = Growing(dag).begin()
    piece = piece_of(it.dag, "JOB X x\n")
    it.pieces["d1"] = piece
    it.feed(PieceOffered(7, piece, "ann"))
    it.read_back(it.records("GROWN")[-1])
    assert do.Grown(7, 1, "") in it.asked
    assert it.state("X") == "SUBMITTING"
