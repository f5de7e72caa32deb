"""condor_pydagman rescue --take: results that a person takes as they are."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.cli import pydagman
from condor_pydagman.errors import FileError
from condor_pydagman.features.cache.adapters import outlook as outlook_module
from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.adapters.lookup import (
    Question,
    cached_node,
    look_up,
    outputs_of,
)
from condor_pydagman.features.cache.adapters.outlook import outlook, take
from condor_pydagman.features.cache.adapters.store_file import CacheFile, read_records
from condor_pydagman.features.cache.commands import Cache, CachedOfDag
from condor_pydagman.features.cache.facts import CachedNode, Facts
from condor_pydagman.features.cache.store import HEAD, began_line, done_line
from tests.features.cache.cached import all_cached

CHANGED = "arguments in its submit description has changed: its word 1 is 2 now"
DAG = "JOB x1 a.sub\nJOB x2 a.sub\nJOB y a.sub\nJOB z a.sub\nCACHE x1\nCACHE x2\nCACHE y\n"


@pytest.fixture(autouse=True)
def done_dag(work_directory: Path) -> Path:
    """A DAG that was done; then an argument of its nodes has changed."""
    (work_directory / "t.dag").write_text(DAG)
    (work_directory / "a.sub").write_text("executable = e\narguments = 1\nqueue\n")
    made, store = all_cached("x1 x2 y"), CacheFile("t.dag.cache")
    made.submits[:] = ["a.sub"] * 3
    for node in range(3):
        found = look_up(Question(cached_node(made, node), f"{0:032x}", ""), None, CachedFiles())
        lines = began_line(made.names[node], found.result, found.facts)
        store.append([lines, done_line(made.names[node], found.result, {})], {}, sync=False)
    (work_directory / "a.sub").write_text("executable = e\narguments = 2\nqueue\n")
    return work_directory


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert pydagman.main(["rescue", "t.dag", *words]) == code
    found = capsys.readouterr()
    return found.out + found.err


def taken() -> set[str]:
    return {name for name, one in read_records("t.dag.cache").items() if one.taken}


def test_nodes_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "--take", "x1", "y") == (
        f"x1: taken as it is, though {CHANGED}\n"
        f"y: taken as it is, though {CHANGED}\n"
        "2 taken, 0 had not changed, 0 not taken\n"
    )
    assert taken() == {"x1", "y"}
    me = pwd.getpwuid(os.geteuid()).pw_name
    assert read_records("t.dag.cache")["x1"].taken.startswith(f"{me} on 20")
    assert said(capsys, "--take", "y").startswith("0 taken, 1 had not changed, 0")


def test_nodes_by_a_pattern_and_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "--take", "--pattern", "x*")
    assert taken() == {"x1", "x2"}
    assert "\n1 taken, 2 had not changed, 0 not" in said(capsys, "--take", "--all")
    assert taken() == {"x1", "x2", "y"}
    made = all_cached("x1 x2 y")
    made.submits[:] = ["a.sub"] * 3
    assert set(outlook(made, "t.dag.cache").values()) == {""}


def test_what_can_not_be_taken(capsys: pytest.CaptureFixture[str]) -> None:
    text = "x1: not taken: it did not end well when it last ran, or runs now\n0 taken, 0"
    CacheFile("t.dag.cache").append([began_line("x1", "new", {"text": "t"})], {}, sync=False)
    assert said(capsys, "--take", "x1", code=1).startswith(text)
    assert "no node X with" in said(capsys, "--take", "X", code=1)
    assert "no node z with CACHE" in said(capsys, "--take", "z", code=1)
    assert "no node q* with" in said(capsys, "--take", "--pattern", "q*", code=1)
    assert not taken()


def test_dagman_adds_lines_meanwhile(work_directory: Path) -> None:
    """Its line that a node has begun must not be lost since the file is written anew."""
    cache = work_directory / "t.dag.cache"
    whole = cache.read_bytes()
    cache.write_bytes(whole + began_line("x1", "new", {"text": "t"})[:30].encode())
    made = all_cached("x1 x2 y")
    for is_live in (True, False):
        take(made, str(cache), [], "ann", is_live=is_live)
        assert (cache.read_bytes() == whole) == (not is_live)


@pytest.mark.parametrize(
    "words", [["--take"], ["--all"], ["--take", "x1", "--all"], ["--pattern", "x*"]]
)
def test_one_choice_is_needed(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        pydagman.main(["rescue", "t.dag", *words])
    assert "--take is for NODE" in capsys.readouterr().err


def test_a_full_disk_takes_no_results_away(work_directory: Path, mocker: MockerFixture) -> None:
    cache, write = work_directory / "t.dag.cache", os.write
    cache.write_text(f"{HEAD}\n{began_line('x1', 'r1', {'text': 't'})}{done_line('x1', 'r1', {})}")
    kept = cache.read_text()
    made = all_cached("x1")
    made.submits[:] = ["a.sub"]

    def full(fd: int, data: bytes) -> int:
        if len(data) < 99:
            raise OSError(28, "No space left on device")
        return write(fd, data[:-9])

    mocker.patch("os.write", side_effect=full)
    with pytest.raises(FileError, match=r"No space left on device; nothing is taken$"):
        take(made, str(cache), [0], "ann", is_live=False)
    assert cache.read_text() == kept


def test_a_node_that_a_run_has_begun_meanwhile_is_not_taken(
    work_directory: Path, mocker: MockerFixture
) -> None:
    """Also one that was not known before."""
    cache = work_directory / "t.dag.cache"
    known = began_line("x1", "r1", {"text": "t"}) + done_line("x1", "r1", {})
    cache.write_text(f"{HEAD}\n{known}")
    made = all_cached("x1 x2 y")
    made.submits[:] = ["a.sub"] * 3
    CachedOfDag.of(made).cached[1] = Cache(0, "", outputs=("a.sub",))

    def late(node: CachedNode, files: CachedFiles) -> tuple[Facts, str]:
        mocker.stopall()
        lines = [began_line(name, "new", {"text": "t"}) for name in ("x1", "x2")]
        CacheFile(str(cache)).append(lines, {}, sync=False)
        return outputs_of(node, files)

    mocker.patch.object(outlook_module, "outputs_of", side_effect=late)
    found = take(made, str(cache), [0, 1], "ann", is_live=True)
    assert {why for _, why in found.values()} == {"a run of the DAG has begun it meanwhile"}
    assert {one.result for one in read_records(str(cache)).values()} == {"new"}
