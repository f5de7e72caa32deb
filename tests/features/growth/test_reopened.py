"""A DAG as it has grown, from its files, its nodes log and the kept texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.errors import FileError
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.adapters.reopened import reopen
from condor_pydagman.features.growth.commands import Extend, GrowthOfDag, growth_of
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.names import DagPaths
from condor_pydagman.records import own_events
from tests import make
from tests.unit.picture import dot


def dag() -> Dag:
    made = make.dag("A -> B")
    GrowthOfDag.put(made).extensions[0] = Extend(0, "", "p")
    return made


def written(directory: Path, *, forged: bool = False, times: int = 1) -> tuple[DagPaths, str]:
    """A run in which A has added X."""
    paths, log = DagPaths(str(directory / "t.dag")), directory / "t.dag.nodes.log"
    text = PieceText("p", {"p": "JOB X x.sub\n"}, BuildOptions(), "", "", "A", ("B",), True)
    file = kept_pieces.of(dag(), paths)._file
    record = AppendJournalRecord("GROWN", 0, 0, 1, text=at_once(file.keep(text)))
    event = own_events.record_event("2026-11-25 02:00:00", "A", record) * times
    log.write_text(event.replace("(-01.-01.-01)", "(012.000.000)") if forged else event)
    return paths, str(log)


@pytest.mark.parametrize("times", [1, 2])
def test_what_was_added_is_there(tmp_path: Path, times: int) -> None:
    paths, log = written(tmp_path, times=times)
    grown = dag()
    reopen(grown, paths, log)
    assert grown.names == ["A", "B", "X"]
    assert list(grown.children(2)) == [1]
    assert not growth_of(grown).extensions


@pytest.mark.parametrize("command", ["flatten", "draw"])
def test_commands_that_show_it(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "draw":
        dot()
    written(tmp_path)
    file, output = tmp_path / "t.dag", tmp_path / "out.svg"
    file.write_text("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\nEXTEND A p\n")
    for words, shown in ([], False), (["--grown"], True):
        assert pydagman.main([command, *words, "-o", str(output), str(file)]) == 0
        assert ("x.sub" in output.read_text()) is shown


def test_a_piece_of_the_feeder(tmp_path: Path) -> None:
    paths, log = written(tmp_path)
    text = Path(log).read_text()
    Path(log).write_text(
        text.replace('" ]', ' FEEDING 1 LAST" ]').replace('Node = "A"', 'Node = ""')
    )
    grown = dag()
    reopen(grown, paths, log)
    assert grown.names == ["A", "B", "X"]


def test_what_a_job_has_written_does_not_count(tmp_path: Path) -> None:
    grown = dag()
    reopen(grown, *written(tmp_path, forged=True))
    assert grown.names == ["A", "B"]


def test_what_can_not_be_added_again_is_told(tmp_path: Path) -> None:
    paths, log = written(tmp_path)
    again = "what was added to the DAG can't be added again"
    with pytest.raises(FileError, match=f"{again}: Node X already exists in DAG. Take what was"):
        reopen(make.dag("A -> B; X"), paths, log)
    Path(paths.grown).write_bytes(b"")
    with pytest.raises(FileError, match=rf"{again}: .*t.dag.grown does not have it"):
        reopen(dag(), paths, log)


def test_a_dag_that_has_not_grown(tmp_path: Path) -> None:
    same = dag()
    reopen(same, DagPaths(str(tmp_path / "t.dag")), str(tmp_path / "no.log"))
    assert same.names == ["A", "B"]
