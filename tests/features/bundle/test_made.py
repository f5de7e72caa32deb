"""Inputs of tasks that other tasks of the same bundle make, and what is left out of its list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from condor_pydagman.features.bundle.adapters.look import Looker, LookOrder
from condor_pydagman.features.bundle.adapters.prepared import Job, PrepareOrder, prepare
from condor_pydagman.features.bundle.messages import Prepare
from condor_pydagman.features.bundle.tasks import NodeOrder


class Chains:
    """A bundle of nodes with descriptions of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = "executable = /bin/true\ntransfer_executable = false\n"

    def prepare(
        self,
        *texts: str,
        after: Sequence[Sequence[int]] | None = None,
        chain_s: float = 0.0,
        in_files: bool = False,
    ) -> Job:
        """Without `after`, each runs after the one before it.  `in_files`: the descriptions are not
        in the DAG file, but in files `d0`, `d1` and so on."""
        if after is None:
            after = [[], *([number] for number in range(1, len(texts)))]
        named = {f"d{number}": f"{self.head}{text}\nqueue\n" for number, text in enumerate(texts)}
        nodes = [
            NodeOrder(number, f"N{number + 1}", 0, str(self.path), text, [], [], [0])
            for number, text in enumerate(named)
        ]
        for name, text in named.items() if in_files else ():
            (self.path / name).write_text(text)
        look, limits = LookOrder(nodes, {} if in_files else named), [0] * len(nodes)
        directory = str(self.path / "bundles")
        asked = Prepare(3, (), 1, tuple(limits), 7.5, tuple(map(tuple, after)), chain_s)
        order = PrepareOrder(asked, directory, look, "", "")
        return prepare(order, Looker())

    def lines(self) -> list[dict[str, Any]]:
        """The list of tasks."""
        text = (self.path / "bundles/3/tasks").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def inputs(self, *texts: str, **how: Any) -> Any:
        """Where the inputs of the last of the nodes are; None if that is not in the list."""
        job = self.prepare(*texts, **how)
        if len(texts) in job.without:
            return None
        return [source for source, _ in self.lines()[-1]["inputs"]]

    def linked(self) -> dict[str, str]:
        """What is transferred to the job."""
        links = (self.path / "bundles/3/in").iterdir()
        return {link.name: str(link.readlink().relative_to(self.path)) for link in links}


@pytest.fixture
def dag(tmp_path: Path) -> Chains:
    return Chains(tmp_path)


def wants(names: str) -> str:
    return f"transfer_input_files = {names}"


def test_the_list_says_what_runs_after_what(dag: Chains) -> None:
    assert not dag.prepare("", "", "", after=[[], [], [1, 2]], chain_s=30.0).without
    head, first, second, third = dag.lines()
    assert head["chain"] == 30.0
    assert ("after" in first, "after" in second, third["after"]) == (False, False, [1, 2])


@pytest.mark.parametrize("after", [(), [[], []]])
def test_a_list_without_an_order_is_as_before(dag: Chains, after: Any) -> None:
    dag.prepare("", "", after=after, chain_s=30.0)
    head, first, second = dag.lines()
    assert "chain" not in head
    assert ("after" in first, "after" in second) == (False, False)


def test_what_a_task_prints(dag: Chains) -> None:
    makes = "output = o\nerror = sub/../e"
    assert dag.inputs(makes, wants("o, ./e")) == [["out/1/_stdout"], ["out/1/_stderr"]]
    assert dag.inputs("output = o\nerror = ./o", wants("o")) == [["out/1/_stdout"]]
    assert dag.inputs("output = o", "input = o") == [["out/1/_stdout"]]
    assert dag.linked() == {}


def test_outputs_that_are_named(dag: Chains) -> None:
    makes = "transfer_output_files = a, b\ntransfer_output_remaps = b = sub/c"
    assert dag.inputs(makes, wants(f"{dag.path}/a, sub/c")) == [["out/1/a"], ["out/1/b"]]
    assert dag.inputs(makes, wants("b")) is None
    assert dag.inputs(f"{makes}\ninitialdir = at", wants("at/a, at/sub/c")) == [
        ["out/1/a"],
        ["out/1/b"],
    ]
    assert dag.inputs(f"{makes}\ninitialdir = at", wants("a")) is None


def test_a_file_in_a_directory_that_is_named(dag: Chains) -> None:
    makes = "transfer_output_files = d"
    assert dag.inputs(makes, wants("d, d/e/x")) == [["out/1/d"], ["out/1/d/e/x"]]
    (dag.path / "d").mkdir()
    (dag.path / "d/x").touch()
    assert dag.inputs(makes, wants("d/x")) == [["out/1/d/x", "i1"]]


def test_outputs_that_are_not_named(dag: Chains) -> None:
    """All new files come home; those that are there may be changed."""
    (dag.path / "x").touch()
    assert dag.inputs("", wants("x, y")) == [["out/1/x", "i1"], ["out/1/y"]]
    assert dag.inputs("initialdir = at", wants("at/y")) == [["out/1/y"]]
    assert dag.inputs("initialdir = at", wants("x")) == ["i1"]
    assert dag.inputs("", wants("sub/y")) is None
    remapped = "transfer_output_remaps = z = sub/y"
    assert dag.inputs(remapped, wants("sub/y, z2")) == [["out/1/z"], ["out/1/z2"]]
    assert dag.inputs(remapped, wants("z")) is None


def test_the_last_that_may_have_made_it_is_looked_for_first(dag: Chains) -> None:
    (dag.path / "s").touch()
    chain = [wants("s")] * 6
    assert dag.inputs(*chain) == [["out/1-5/s", "i1"]]
    chain[2] = "transfer_output_files = s"
    assert dag.inputs(*chain) == [["out/1-5/s"]]
    chain[3] = "transfer_output_files = t\ntransfer_output_remaps = t = s"
    assert dag.inputs(*chain) == [["out/5/s", "out/4/t", "out/1-3/s"]]
    chain[4] = 'transfer_output_files = ""'
    assert dag.inputs(*chain) == [["out/4/t", "out/1-3/s"]]


def test_only_those_count_that_it_runs_after(dag: Chains) -> None:
    (dag.path / "s").touch()
    after = [[], [], [1], [2], [3]]
    assert dag.inputs("", "", "", "", wants("s"), after=after) == [["out/3/s", "out/1/s", "i1"]]


def test_a_file_that_no_other_makes_is_transferred(dag: Chains) -> None:
    (dag.path / "s").touch()
    assert dag.inputs("transfer_output_files = t", wants("s")) == ["i1"]
    assert dag.linked() == {"i1": "s"}


def test_what_lacks_an_input_is_left_out_with_what_is_behind_it(dag: Chains) -> None:
    """The others keep their numbers."""
    texts = ["transfer_output_files = x", wants("none"), wants("x"), "", wants("x")]
    job = dag.prepare(*texts, after=[[], [1], [1], [2], [1, 4]])
    assert job.without == [2, 4, 5]
    assert [line["n"] for line in dag.lines()[1:]] == [1, 3]
    submit = htcondor2.Submit(job.text)
    assert submit["My.DAGManBundleNodes"] == "2"
    assert submit["My.DAGManBundleNames"] == '"N1 N3"'
    assert submit["description"] == "2 nodes: N1 N3"


def test_what_was_to_be_transferred_only_to_what_is_left_out(dag: Chains) -> None:
    (dag.path / "there").touch()
    assert dag.inputs("transfer_output_files = x", wants("there, none")) is None
    assert dag.linked() == {}


def test_a_program_that_another_makes(dag: Chains) -> None:
    dag.head = ""
    (dag.path / "old").touch()
    job = dag.prepare("executable = old", "executable = new", "executable = old")
    assert not job.without
    assert [line["sandboxed"] for line in dag.lines()[1:]] == [
        "i1",
        ["out/1/new"],
        ["out/1-2/old", "i1"],
    ]
    named = "executable = old\ntransfer_output_files = x"
    assert dag.prepare(named, "executable = new").without == [2]


@pytest.mark.parametrize(
    "makes",
    [
        "transfer_output_files = x\ntransfer_output_remaps = x = d/x",
        "output = d/x",
        "initialdir = d",
        "initialdir = d/e",
        "transfer_output_files = d",
    ],
)
def test_a_directory_to_which_others_add(dag: Chains, makes: str) -> None:
    """It would have what was there as well."""
    (dag.path / "d/e").mkdir(parents=True)
    assert dag.inputs(makes, wants("d")) is None
    assert dag.inputs("transfer_output_files = y", wants("d")) == ["i1"]


def test_paths_that_are_the_same_by_links(dag: Chains) -> None:
    (dag.path / "real").mkdir()
    (dag.path / "link").symlink_to("real")
    (dag.path / "latest").symlink_to("real/s")
    (dag.path / "real/s").touch()
    makes = "transfer_output_files = s\ninitialdir = link"
    for name in ("real/s", "link/s", "latest", "link/../real/s"):
        assert dag.inputs(makes, wants(name)) == [["out/1/s"]], name


def test_what_is_written_through_a_link_is_known_by_both_paths(dag: Chains) -> None:
    (dag.path / "link").symlink_to("file")
    for makes in ("output = link", "transfer_output_files = link"):
        name = "_stdout" if makes.startswith("output") else "link"
        assert dag.inputs(makes, wants("file, link")) == [[f"out/1/{name}"]] * 2
    assert dag.inputs("transfer_output_files = file", wants("link")) == [["out/1/file"]]


def test_without_file_transfer_each_file_is_where_it_belongs(dag: Chains) -> None:
    dag.head += "should_transfer_files = NO\n"
    job = dag.prepare("output = o", wants("o, none"))
    assert not job.without
    assert dag.lines()[2]["after"] == [1]


def test_a_long_chain_has_a_short_list(dag: Chains) -> None:
    (dag.path / "s").touch()
    dag.prepare(*[f"{wants('s')}\ntransfer_output_files = s"] * 300)
    assert max(map(len, map(json.dumps, dag.lines()))) < 500


@pytest.mark.parametrize(
    "makes",
    [
        "transfer_output_files = d2",
        "transfer_output_files = x\ntransfer_output_remaps = x = sub/../d2",
        "transfer_output_remaps = x = d2",
        "output = d2",
    ],
)
def test_a_description_that_another_makes(dag: Chains, makes: str) -> None:
    """That of the third, which may be there from an earlier run."""
    assert dag.prepare(makes, "", "", "", in_files=True).without == [3, 4]
    assert not dag.prepare("", makes, "", after=[[], [], [1]], in_files=True).without


def test_the_list_says_by_which_description_a_task_is_run_after_others(dag: Chains) -> None:
    dag.prepare("", "", in_files=True)
    _, first, second = dag.lines()
    info = (dag.path / "d1").stat()
    assert "description" not in first
    assert second["description"] == [str(dag.path / "d1"), info.st_mtime_ns, info.st_size]
    dag.prepare("", "")
    assert dag.lines()[2]["description"] is None
