"""The file beside a DAG that keeps what has been added to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.adapters.kept_pieces import GrownFile, read_whole
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.stepwise import at_once


def text(name: str) -> PieceText:
    return PieceText(name, {name: f"JOB {name} x.sub\n"}, BuildOptions())


def test_texts_are_there_again(tmp_path: Path) -> None:
    path = str(tmp_path / "t.dag.grown")
    file = GrownFile(path)
    digests = [at_once(file.keep(text(name))) for name in ("a", "b", "a")]
    assert digests[0] == digests[2]
    assert GrownFile(path).text(digests[1]) == text("b")
    assert file.text(digests[0]) == text("a")
    assert file.text("0" * 32) is None


def test_a_text_that_comes_again_and_again_is_not_looked_for_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "t.dag.grown")
    digests = [at_once(GrownFile(path).keep(text(name))) for name in "ab"]
    heads: list[bytes] = []
    read = kept_pieces.read_head
    monkeypatch.setattr(kept_pieces, "read_head", lambda head: heads.append(head) or read(head))
    file = GrownFile(path)
    assert [file.text(digests[0]) for _ in range(9)] == [text("a")] * 9
    assert len(heads) <= 2 * 3


@pytest.mark.parametrize("cut", [1, 10, 20, 60])
def test_a_section_that_was_cut_short_is_passed_over(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.dag.grown"
    file = GrownFile(str(path))
    first, second = at_once(file.keep(text("a"))), at_once(file.keep(text("b")))
    path.write_bytes(path.read_bytes()[:-cut])
    again = GrownFile(str(path))
    assert again.text(second) is None
    third = at_once(again.keep(text("c")))
    assert [GrownFile(str(path)).text(one) for one in (first, third)] == [text("a"), text("c")]


@pytest.mark.parametrize("tail", [b"my notes\n", b"PIECE of cake\n", bytes(range(1, 256)) * 20])
def test_what_is_somebody_elses_is_left_alone(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "t.dag.grown"
    digest = at_once(GrownFile(str(path)).keep(text("a")))
    with path.open("ab") as file:
        file.write(tail)
    before = path.read_bytes()
    with pytest.raises(FileError, match="left as it is") as caught:
        at_once(GrownFile(str(path)).keep(text("b")))
    assert not caught.value.transient
    assert path.read_bytes() == before
    assert GrownFile(str(path)).text(digest) == text("a")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "t.dag.grown").symlink_to(tmp_path / "other")
    with pytest.raises(FileError, match="can't write"):
        at_once(GrownFile(str(tmp_path / "t.dag.grown")).keep(text("a")))


def test_files_of_jobs(tmp_path: Path) -> None:
    path = tmp_path / "m.dag"
    path.write_bytes(b"JOB \xff x\n")
    assert read_whole(str(path), 100) == "JOB \udcff x\n"
    with pytest.raises(FileError, match="larger than 5 bytes"):
        read_whole(str(path), 5)
    path.write_bytes(b"JOB\0")
    with pytest.raises(FileError, match="byte 0"):
        read_whole(str(path), 100)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(FileError, match="not a regular file"):
        read_whole(str(tmp_path / "fifo"), 5)
    with pytest.raises(IsADirectoryError):
        read_whole(str(tmp_path), 5)
