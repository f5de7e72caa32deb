"""Whether a node with a CACHE command is to run, by its files and its last run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.adapters.lookup import Found, Question, look_up, outputs_of
from condor_pydagman.features.cache.facts import CachedNode
from condor_pydagman.features.cache.store import Record

FILES = CachedFiles()


class Place:
    """A directory with a node, which has been done."""

    def __init__(self, directory: Path, **more: object) -> None:
        self.directory = directory
        for name, text in {
            "a.sub": "executable = e\nqueue\n",
            "e": "#!",
            "x": "1",
            "y": "2",
        }.items():
            self.write(name, text)
        self.node = CachedNode(
            "A",
            str(directory),
            "a.sub",
            None,
            inputs=["x"],
            outputs=["y"],
            **more,  # type: ignore[arg-type]
        )
        first = self.look(None)
        assert (first.hit, first.why) == (False, "it has never been done")
        self.record = Record(first.result, first.facts, outputs_of(self.node, FILES)[0])

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text)
        os.utime(self.directory / name, ns=(7, 7))

    def look(self, record: Record | None, parents: str = "p", *, anew: bool = False) -> Found:
        return look_up(Question(self.node, parents, "its parent X has run", anew), record, FILES)

    def why(self, parents: str = "p") -> str:
        found = self.look(self.record, parents)
        assert found.hit == (not found.why)
        assert (found.result == self.record.result) == found.hit
        return found.why


@pytest.fixture
def node_files(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_nothing_has_changed(node_files: Place) -> None:
    assert node_files.why() == ""


def test_what_has_changed_is_told(node_files: Place) -> None:
    os.utime(node_files.directory / "x", ns=(7, 8))
    assert node_files.why() == "its input x has changed"
    node_files.write("e", "#!x")
    assert node_files.why() == "its executable has changed"
    node_files.write("a.sub", "executable = e\nqueue 2\n")
    assert node_files.why() == "its submit description has changed"


@pytest.mark.parametrize(("checksum", "how"), [(False, "on"), (True, "off")])
def test_other_facts_of_files_are_no_change_of_them(
    tmp_path: Path, checksum: bool, how: str
) -> None:
    place = Place(tmp_path, checksum=checksum)
    place.node = place.node._replace(checksum=not checksum)
    assert place.why() == f"CHECKSUM was switched {how}"
    place.write("a.sub", "queue\n")
    assert place.why() == "its submit description has changed"


def test_outputs_that_have_changed(node_files: Place) -> None:
    node_files.write("y", "22")
    assert node_files.why() == "its output y has changed"
    (node_files.directory / "y").unlink()
    assert node_files.why() == "its output y is not there"
    assert outputs_of(node_files.node, FILES) == ({}, "its output y is not there")
    node_files.node = node_files.node._replace(outputs=["z"])
    assert node_files.why() == "other OUTPUTS are named"


def test_parents(node_files: Place) -> None:
    assert node_files.why(parents="q") == "its parent X has run"
    unknown = node_files.look(node_files.record, "")
    assert (unknown.hit, unknown.facts) == (False, {})


def test_what_is_wrong_with_files_is_equal_to_nothing(node_files: Place) -> None:
    (node_files.directory / "x").unlink()
    found = node_files.look(node_files.record)
    assert (found.hit, found.why, found.facts) == (False, "its input x is not there", {})
    node_files.record = Record("r", found.facts, {})
    node_files.write("x", "1")
    assert node_files.why() == "it is not known with what it was last done"
    (node_files.directory / "a.sub").unlink()
    assert node_files.why() == "its submit description can't be read: No such file or directory"


def test_an_executable_may_be_where_jobs_run(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "e").unlink()
    found = place.look(place.record)
    assert found.why == "its executable has changed"
    place.record = Record("r", found.facts, place.record.outputs)
    assert place.why() == ""


def test_a_run_that_did_not_end_well_and_one_that_is_wanted(node_files: Place) -> None:
    assert node_files.look(node_files.record, anew=True).why == "it is to run anew"
    assert node_files.look(node_files.record, anew=True).facts == node_files.record.facts
    node_files.record = node_files.record._replace(outputs=None)
    assert node_files.why() == "it did not end well when it last ran"


def test_checksums_do_not_care_for_times(tmp_path: Path) -> None:
    place = Place(tmp_path, checksum=True)
    for name in "xye":
        os.utime(tmp_path / name, ns=(9, 9))
    assert place.why() == ""
    place.write("x", "3")
    assert place.why() == "its input x has changed"
