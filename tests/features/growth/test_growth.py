"""A DAG that grows, as far as scenes can't say it (`growth.scene`): very many nodes, missing texts,
pieces that an earlier run has added."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import Mode
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.commands import GrownPiece, GrowthOfDag
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import EXIT_RESTART
from tests import make
from tests.pieces import Pieces, piece_of

TEXT = "A -> B\nEXTEND A more.dag"


def test_many_new_nodes_are_started_some_at_a_time() -> None:
    harness = make.harness_of("A")
    lines = "".join(f"JOB N{number} x\n" for number in range(5000))
    text = PieceText("p", {"p": lines}, BuildOptions())
    harness.engine.run.given = {"growth": Pieces(harness.dag, {"d": text})}
    harness.tell(PieceOffered(1, piece_of(harness.dag, text, "d"), "ann"))
    harness.read_back()
    counts = harness.engine.run.nodes.counts
    assert counts[State.WAITING] >= 3000
    while counts[State.WAITING]:
        assert harness.engine.next_deadline() is not None
        harness.wait(0)
    assert counts[State.READY] + counts[State.SUBMITTING] >= 5000


def without_piece(directory: Path, mode: Mode) -> make.EngineHarness:
    """A replay of a log with a piece whose text is missing."""
    harness = make.EngineHarness(TEXT)
    run = harness.engine.run
    run.mode = mode
    run.given = {"growth": kept_pieces.of(harness.dag, DagPaths(str(directory / "t.dag")))}
    harness.begin(recovering=True)
    harness.tell(make.submit("A", 1), make.terminated(1))
    grown = do.AppendJournalRecord("GROWN", 0, 0, 1, text="d9")
    harness.tell(*make.appended(harness.dag, grown))
    return harness


def test_who_follows_the_log_can_do_without_a_piece(tmp_path: Path) -> None:
    assert without_piece(tmp_path, Mode.FOLLOW).state("A") is State.DONE


def test_a_replay_without_the_piece_leaves_all_as_it_is_on_hold(tmp_path: Path) -> None:
    *_, hold, end = without_piece(tmp_path, Mode.RUN).last
    assert end == do.Exit(EXIT_RESTART, keep_lock=True, concluded=False)
    assert isinstance(hold, do.HoldJobs) and hold.cluster == 0
    assert "t.dag.grown does not have it, or is damaged. Put it back, then" in hold.reason


def test_a_node_whose_piece_is_in_force_adds_it_once() -> None:
    dag = make.dag(TEXT)
    GrowthOfDag.put(dag).pieces.append(GrownPiece(1, "d", "A"))
    harness = make.EngineHarness(dag).begin()
    harness.run_node("A", 1)
    assert harness.state("A") is State.DONE
