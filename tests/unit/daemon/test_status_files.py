"""Names and contents of DOT files and of the node status file; what is told of those that fail."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.daemon import status_files
from condor_pydagman.daemon.status_files import DotWriter, FileOutput, StatusFiles
from tests import make


def test_numbers_are_taken_from_existing_dot_files(work_directory: Path) -> None:
    for name in ("t.dot.0", "t.dot.12", "t.dot.\u00b2", "t.dot.x", "t.dot", "u.dot.3"):
        Path(name).touch()
    assert sorted(status_files._numbers("t.dot")) == [0, 12]


def test_an_error_is_reported_once_until_it_is_over(tmp_path: Path) -> None:
    said: list[str] = []
    output = FileOutput(said.append)
    place = tmp_path / "later"
    for number in range(3):
        output.replace("DOT file", f"{place}/dot.{number}", ["x"])
    output.replace("node status file", f"{place}/status", ["x"])
    assert [line.split(": ", 1)[1] for line in said] == [
        f"can't write {place}/dot.0: No such file or directory"
        " (DOT file; the DAG goes on without it)",
        f"can't write {place}/status: No such file or directory"
        " (node status file; the DAG goes on without it)",
    ]
    place.mkdir()
    output.replace("DOT file", f"{place}/dot.3", ["x"])
    output.replace("DOT file", f"{place}/dot.3", ["y"])
    assert said[2:] == [f"{place}/dot.3 can be written again (DOT file)"]
    assert (place / "dot.3").read_text() == "y"


def test_a_different_error_is_reported_again(tmp_path: Path) -> None:
    said: list[str] = []
    output = FileOutput(said.append)
    place = tmp_path / "later"
    output.replace("status", f"{place}/status", ["x"])
    place.mkdir()
    (place / "status").mkdir()
    output.replace("status", f"{place}/status", ["x"])
    assert len(said) == 2
    assert "Is a directory" in said[1]


@pytest.mark.parametrize(
    "word, names", [("OVERWRITE", ["t.dot"]), ("DONT-OVERWRITE", ["t.dot.0", "t.dot.1"])]
)
@pytest.mark.parametrize("text, shown", [("x", "x\n"), ("x\n", "x\n"), ("", "")])
def test_a_dot_file_includes_another(
    word: str, names: list[str], text: str, shown: str, work_directory: Path
) -> None:
    Path("head").write_text(text)
    writer = DotWriter(make.dag(f"A\nDOT t.dot {word} INCLUDE head"), make_out([]))
    writer.write([])
    writer.write([])
    assert sorted(path.name for path in work_directory.glob("t.dot*")) == names
    (included,) = re.findall(
        "// Beginning of .* head.\n(.*)// End", Path(names[-1]).read_text(), re.S
    )
    assert included == shown


def test_a_file_to_include_that_is_not_there_is_told_once(work_directory: Path) -> None:
    said: list[tuple[str, int]] = []
    writer = DotWriter(make.dag("A\nDOT t.dot INCLUDE head"), make_out(said))
    writer.write([])
    writer.write([])
    assert len(said) == 1
    assert "can't read DOT INCLUDE file head" in said[0][0]


def make_out(said: list[tuple[str, int]]) -> Any:
    return SimpleNamespace(say=lambda text, level=3: said.append((text, level)))


@pytest.mark.parametrize(
    "last, outcome, following",
    [(False, "", "1060"), (True, "held", "1060"), (True, "failed", "0")],
)
def test_the_node_status_file_says_when_the_next_one_comes(
    last: bool, outcome: str, following: str, work_directory: Path
) -> None:
    harness = make.EngineHarness("A\nNODE_STATUS_FILE status 60").begin()
    said: list[tuple[str, int]] = []
    clock = SimpleNamespace(time=lambda: 1000.0)
    run: Any = SimpleNamespace(
        dag=harness.dag, engine=harness.engine, clock=clock, files=files, out=make_out(said)
    )
    StatusFiles(run).write_status_file(final=last, outcome=outcome)
    text = Path("status").read_text()
    assert re.findall(r"NextUpdate = (\d+);", text) == [following]
    Path("status").unlink()
    Path("status").mkdir()
    StatusFiles(run).write_status_file(final=last, outcome=outcome)
    assert [level for _, level in said] == [0]
