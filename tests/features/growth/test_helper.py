"""What nodes and people add: read a step at a time, checked, and kept before the engine is told."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.daemon import helpers
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.commands import (
    Extend,
    GrowthOfDag,
    Piece,
    Scatter,
    add_piece,
)
from condor_pydagman.features.growth.helper import RETRY_S, GrowthHelper
from condor_pydagman.features.growth.run import PieceRead, PieceRefused, ReadOffer, ReadPiece
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.names import DagPaths
from tests import make


class Bench:
    """A helper for `A -> B`."""

    def __init__(self, directory: Path, **how: Any) -> None:
        self.directory = directory
        self.dag = make.dag("A -> B")
        self.begun: set[int] = set()
        self.why = ""
        self.paths = DagPaths(str(directory / "t.dag"))
        self.now = time.monotonic()
        self.told: list[Any] = []
        self.said: list[str] = []
        self.pieces = kept_pieces.of(self.dag, self.paths)
        self.growing = SimpleNamespace(
            is_growing=False,
            has_begun=self.begun.__contains__,
            obstacle=lambda piece: self.why,
        )
        self.run: Any = SimpleNamespace(
            dag=self.dag,
            config=Config(**how),
            clock=SimpleNamespace(monotonic=self.monotonic),
            out=SimpleNamespace(say=self.said.append),
            engine=SimpleNamespace(feature=lambda _: self.growing),
            helpers=helpers.Helpers(None, None, Config(), {}),  # type: ignore[arg-type]
        )
        self.helper = GrowthHelper(self.run, self.pieces, BuildOptions())

    def monotonic(self) -> float:
        """Each look at the clock takes a millisecond."""
        self.now += 0.001
        return self.now

    def work(self, now: float = 0.0) -> None:
        """All that is due."""
        self.now = now or self.now
        self.helper.work(self.now)
        while self.helper.next_deadline() == 0.0:
            self.helper.work(self.now)

    def read(self, text: str | bytes, extension: Extend | Scatter | None = None) -> Any:
        """What the engine is told when A has written this."""
        path = self.directory / "m.dag"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        how = (extension or Extend(0, "", "", trusted=True))._replace(file=str(path))
        GrowthOfDag.put(self.dag).extensions[0] = how
        self.helper.ask(ReadPiece(0), self.told.append)
        self.work()
        return self.told.pop()

    def offer(self, text: str | None, name: str = "p", *, dry: bool = False) -> Any:
        self.helper.ask(ReadOffer(name, text, dry), self.told.append)
        self.work()
        return self.told.pop()

    def error(self, text: str | bytes, extension: Extend | Scatter | None = None) -> str:
        told = self.read(text, extension)
        assert isinstance(told, PieceRefused)
        return told.error


def test_a_piece_of_a_node_is_kept_and_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    told = bench.read("JOB X x.sub\n")
    assert isinstance(told, PieceRead)
    assert told.piece.node == "A"
    assert bench.pieces[told.piece.digest] is told.piece
    (tmp_path / "m.dag").unlink()
    again: Piece = kept_pieces.of(bench.dag, bench.paths)[told.piece.digest]
    add_piece(bench.dag, again, 1)
    assert list(bench.dag.children(0)) == [1, 2]
    assert list(bench.dag.children(2)) == [1]


def test_a_list_is_read_as_nodes(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    told = bench.read("one\ntwo\n", Scatter(0, "", "", "n-{item}", "x.sub"))
    assert isinstance(told, PieceRead)
    assert told.piece.dag.names[:2] == ["n-one", "n-two"]


def test_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_piece_mb=1)
    assert "byte 0" in bench.error(b"JOB X\0 x\n")
    assert "larger than" in bench.error("#" * 1_000_001)
    assert "m.dag:2" in bench.error("JOB X x\nJOB A x\n")
    assert "cycle" in bench.error("JOB X x\nJOB Y x\nPARENT X CHILD Y\nPARENT Y CHILD X\n")
    assert "Failed to open gone.dag" in bench.error("INCLUDE gone.dag\n")
    listed = Scatter(0, "", "", "n-{item}", "x")
    assert "can't be the name of a node" in bench.error("a b\n", listed)
    assert "RUN_IF of node X: 1 ; 2" in bench.error("JOB X x\nRUN_IF X 1 ; 2\n")
    assert "SHARED_LIMIT licence: no limit is defined" in bench.error(
        "JOB X x\nSHARED_LIMIT licence ALL_NODES\n"
    )
    bench.why = "the DAG is ending"
    assert bench.error("JOB X x\n") == "ERROR: the DAG is ending"
    assert not Path(bench.paths.grown).exists()


def test_what_a_job_writes_names_what_the_dag_names(tmp_path: Path) -> None:
    """As long as nobody else has added more; recorded, it is the same piece again."""
    bench = Bench(tmp_path)
    job = Extend(0, "", "")
    assert "names no submit description new.sub" in bench.error("JOB X new.sub\n", job)
    bench.offer("JOB P new.sub\n")
    assert "names no submit description new.sub" in bench.error("JOB X new.sub\n", job)
    bench.dag.add_node("P", "new.sub")
    bench.offer("JOB Q new.sub\n", dry=True)
    told = bench.read('JOB X new.sub\nVARS X v="$ENV(HOME)"\n', job)
    assert isinstance(told, PieceRead)
    again: Piece = kept_pieces.of(bench.dag, bench.paths)[told.piece.digest]
    for one in (told.piece, again):
        assert one.dag.variables[0][0].value == "$(DAGMAN_DOLLAR)ENV(HOME)"


def test_no_word_of_an_included_file_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("JOB ok x.sub\nsecret words\n")
    told = Bench(tmp_path).error(f"INCLUDE {tmp_path}/private\n")
    assert f"{tmp_path}/private:2" in told
    assert "secret" not in told


def test_a_full_disk_fails_no_node_but_refuses_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        assert "No space left" in bench.offer("JOB P p.sub\n")[1]
        GrowthOfDag.put(bench.dag).extensions[0] = Extend(
            0, "", str(tmp_path / "m.dag"), trusted=True
        )
        (tmp_path / "m.dag").write_text("JOB X x.sub\n")
        bench.helper.ask(ReadPiece(0), bench.told.append)
        bench.work()
        bench.work(bench.now + RETRY_S)
    assert (bench.told, len(bench.said)) == ([], 1)
    due = bench.helper.next_deadline()
    assert due is not None
    bench.work(due - 0.1)
    assert bench.told == []
    bench.work(due)
    assert isinstance(bench.told.pop(), PieceRead)
    assert bench.helper.next_deadline() is None


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    file = str(tmp_path / "no")
    for how in (Extend(0, "", file), Scatter(0, "", file, "n-{item}", "x")):
        GrowthOfDag.put(bench.dag).extensions[0] = how
        bench.helper.ask(ReadPiece(0), bench.told.append)
        bench.work()
        assert "No such file" in bench.told.pop().error or isinstance(how, Extend)


def test_included_files_are_kept_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "i.dag").write_text("JOB I i.sub\n")
    told = bench.read(f"INCLUDE {tmp_path}/i.dag\n")
    assert isinstance(told, PieceRead)
    (tmp_path / "i.dag").unlink()
    assert kept_pieces.of(bench.dag, bench.paths)[told.piece.digest].size == 1


def test_what_a_person_sends(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.offer("JOB X x\n", dry=True)[0].size == 1
    assert not Path(bench.paths.grown).exists()
    piece, error = bench.offer("JOB X x\nPARENT B CHILD X\n")
    assert (piece.size, piece.node, error) == (1, "", "")
    piece, error = bench.offer("JOB X\n")
    assert piece is None
    assert "p:1" in error


def test_a_large_piece_is_read_in_steps(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    text = "".join(f"JOB N{number} x.sub\n" for number in range(60_000))
    bench.helper.ask(ReadOffer("p", text, True), bench.told.append)
    steps = 0
    while bench.helper.next_deadline() == 0.0:
        bench.helper.work(bench.now)
        steps += 1
    assert steps > 2
    assert bench.told[0][0].size == 60_000
