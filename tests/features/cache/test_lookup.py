"""Whether a node with a CACHE command is to run, by its files and its last run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.adapters.lookup import Found, Question, look_up, outputs_of
from condor_pydagman.features.cache.facts import CachedNode, by_reason
from condor_pydagman.features.cache.store import Record

FILES = CachedFiles()
LOOKUP = "condor_pydagman.features.cache.adapters.lookup"


class Place:
    """A directory with a node, which has been done."""

    def __init__(
        self, directory: Path, text: str = "executable = e\nqueue\n", **more: object
    ) -> None:
        self.directory = directory
        for name, inside in {"a.sub": text, "e": "#!", "x": "1", "y": "2"}.items():
            self.write(name, inside)
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
    assert node_files.why() == "queue in its submit description has changed"


def test_what_is_only_written_differently_is_no_change(node_files: Place) -> None:
    node_files.write("a.sub", "# why\nrequest_memory = 2G\n\nExecutable  = $(x)\nx = e\nqueue 1\n")
    assert node_files.why() == ""
    node_files.node = node_files.node._replace(variables=[("x", "f", False)])
    assert node_files.why() == ""  # the file sets it again
    node_files.node = node_files.node._replace(variables=[("x", "f", True)])
    assert node_files.why() == "executable in its submit description has changed"


def test_equal_texts_are_not_read_again(node_files: Place, mocker: MockerFixture) -> None:
    mocker.patch(f"{LOOKUP}.ask", side_effect=AssertionError)
    assert node_files.why() == ""
    os.utime(node_files.directory / "e", ns=(7, 8))
    assert node_files.why() == "its executable has changed"


def test_files_that_a_description_includes_count(tmp_path: Path) -> None:
    (tmp_path / "a.inc").write_text("arguments = 1\n")
    (tmp_path / "items").write_text("1\n2\n")
    place = Place(tmp_path, text="executable = e\ninclude : a.inc\nqueue x from items\n")
    (tmp_path / "a.inc").write_text("# why\narguments = 1\n")
    assert place.why() == ""
    (tmp_path / "a.inc").write_text("arguments = 2\n")
    assert place.why() == "arguments in its submit description has changed: its word 1 is 2 now"
    (tmp_path / "items").write_text("1\n3\n")
    assert place.why() == (
        "arguments and queue in its submit description have changed: its word 1 is 2 now"
    )


def test_files_whose_names_have_macros_count_by_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "v1.inc").write_text("arguments = 1\n")
    (tmp_path / "A.items").write_text("1\n2\n")
    text = "executable = e\ninc = $(v).inc\ninclude : $(inc)\nqueue x from $(which)\n"
    variables = [("v", "v1", False), ("which", "$(JOB).items", True)]
    place = Place(tmp_path, text=text, variables=variables)
    assert place.why() == ""
    (tmp_path / "A.items").write_text("1\n3\n")
    assert place.why() == "queue in its submit description has changed"
    (tmp_path / "A.items").write_text("1\n2\n")
    (tmp_path / "v1.inc").write_text("arguments = 2\n")
    assert place.why() == "arguments in its submit description has changed: its word 1 is 2 now"


@pytest.mark.parametrize(
    "lines",
    [
        "queue x from $(RETRY).items",
        "include : $ENV(HOME)/x.inc",
        "queue x from $(SPOOL)/items",
        "queue x matching $(unknown)*",
        "x = a\nif version > 1.0\nx = b\nendif\nqueue y from $(x)",
        "use feature : x\nx = a\nqueue y from $(x)",
        "include : none\nqueue y from $(x)",
        "x = $(x)b\nqueue y from $(x)",
    ],
)
def test_a_node_runs_if_it_is_not_known_which_files_its_description_names(
    node_files: Place, lines: str
) -> None:
    node_files.node = node_files.node._replace(variables=[("x", "a", False)])
    node_files.write("a.sub", f"executable = e\n{lines}\n")
    why = node_files.why()
    assert why.startswith("its submit description can't be read: $")
    assert why.endswith(" is not read: its name has macros")


def test_files_that_are_not_read_count_by_size_and_time(tmp_path: Path) -> None:
    """A link is not followed, since it may be others'; but the file must not change unnoticed."""
    (tmp_path / "real").write_text("1\n2\n")
    (tmp_path / "items").symlink_to("real")
    place = Place(tmp_path, text="executable = e\nqueue x from items\n")
    assert place.why() == ""
    (tmp_path / "real").write_text("1\n3\n4\n")
    assert place.why().startswith("its submit description, compared as it is written, has changed")
    (tmp_path / "real").unlink()
    assert place.why() == (
        "its submit description can't be read: items is not read: it is not a regular file"
    )


def test_what_can_not_be_read_is_compared_as_it_is_written(tmp_path: Path) -> None:
    text = "executable = $(what:e)\nqueue x from echo 1 |\n"
    place = Place(tmp_path, text=text, variables=[("n", "1", False)])
    assert place.why() == ""
    os.utime(tmp_path / "e", ns=(7, 8))
    assert place.why() == "its executable has changed"
    os.utime(tmp_path / "e", ns=(7, 7))
    place.write("a.sub", f"# why\n{text}")
    assert place.why() == (
        "its submit description, compared as it is written, has changed"
        " (not a valid command, errno=1 : Operation not permitted)"
    )
    place.write("a.sub", "executable = e\nqueue\n")
    assert place.why().startswith("its submit description, compared as it is written, has")


def test_a_result_that_a_person_has_taken_as_it_is(node_files: Place) -> None:
    node_files.record = node_files.record._replace(taken="ann on a day")
    found = node_files.look(node_files.record)
    assert (found.hit, found.why) == (True, "its result was taken as it is by ann on a day")


@pytest.mark.parametrize(("checksum", "how"), [(False, "on"), (True, "off")])
def test_other_facts_of_files_are_no_change_of_them(
    tmp_path: Path, checksum: bool, how: str
) -> None:
    place = Place(tmp_path, checksum=checksum)
    place.node = place.node._replace(checksum=not checksum)
    assert place.why() == f"CHECKSUM was switched {how}"
    place.write("a.sub", "executable = e\narguments = 1\nqueue\n")
    assert place.why() == "arguments in its submit description has changed"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ("a  b=1\td", ""),
        ("a b=2 d", ": its word 2 is b=2 now"),
        ("a d", ": its word 2 is d now"),
        ("a b=1", ": its word 2 is the last one now"),
        ("\"a b=1 'c  d' e\"", ": its word 3 is c  d now"),
        ("\"a 'it''s \"\"x' d\"", ": its word 2 is it's \"x now"),
        ('a say=\\"1\\" d', ': its word 2 is say="1" now'),
        ("a b=1 d " + "x" * 99, f": its word 4 is {'x' * 60} now"),
        ("", ""),
    ],
)
def test_the_word_of_arguments_that_differs(tmp_path: Path, arguments: str, what: str) -> None:
    place = Place(tmp_path, text="executable = e\narguments = a b=1 d\nqueue\n")
    place.write("a.sub", f"executable = e\narguments = {arguments}\nqueue\n")
    is_same = arguments.split() == ["a", "b=1", "d"]
    told = f"arguments in its submit description has changed{what}"
    assert place.why() == ("" if is_same else told)


def test_other_names_that_count_are_told_instead_of_a_word(tmp_path: Path) -> None:
    place = Place(tmp_path, text="executable = e\narguments = $(n)\nn = 1\nqueue\n")
    place.node = place.node._replace(ignores=["n"])
    told = "arguments in its submit description has changed, with other COUNTS or IGNORES"
    assert place.why() == told


def test_many_words_that_differ_are_not_told_each() -> None:
    whys = [(f"N{n}", f"x has changed: its word 2 is {n} now") for n in range(11)]
    assert by_reason(whys) == {"x has changed": [name for name, _ in whys]}
    assert by_reason(whys[:10]) == {why: [name] for name, why in whys[:10]}


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
