"""Which nodes of a BUNDLE run alone, as the checker says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.features.bundle import commands
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.lint.findings import Finding
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import PaperWorld

pytestmark = pytest.mark.usefixtures("work_directory")

SUBMIT = "executable = plain\narguments = 1\nqueue\n"


def world_of(files: dict[str, str]) -> PaperWorld:
    """A world whose files are on the disk as well."""
    files = {"plain": "", "a.sub": SUBMIT, **files}
    for name, text in files.items():
        Path(name).write_text(text)
    return PaperWorld(files)


def findings(dag: str, *asked: Any, most: int | None = None, **files: str) -> list[Finding]:
    """What is found of BUNDLE lines, of a DAG all nodes of which can be bundled."""
    world = world_of({"t.dag": dag, **files})
    world.knob_values = None if most is None else Config(max_bundle_size=most)
    found = lint(["t.dag"], world, BuildOptions(), asked).kept
    return [one for one in found if one.code in ("DAG207", "DAG424", "DAG425")]


ABC = "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("NODES A B|NODES B C", "node B belongs to BUNDLE a, not to BUNDLE b, which names it"),
        (
            "NODES A B|NODES A B C",
            "node A and 1 other node belong to BUNDLE a, not to BUNDLE b, which names them",
        ),
        ("ALL_NODES|NODES A", "BUNDLE b has no effect: its nodes belong to BUNDLE a"),
        ("NODES A B C|ALL_NODES", "BUNDLE b has no effect: its nodes belong to BUNDLE a"),
        ("CATEGORY x|CATEGORY x", "BUNDLE b has no effect: its nodes belong to BUNDLE a"),
    ],
)
def test_lines_that_earlier_ones_have_taken_nodes_from(lines: str, message: str) -> None:
    first, second = lines.split("|")
    text = f"{ABC}CATEGORY A x\nMAXJOBS x 1\nBUNDLE a {first}\nBUNDLE b {second}\n"
    (found,) = findings(text)
    assert (found.code, found.line) == ("DAG424", 7)
    assert found.message.startswith(message)


def test_lines_that_mean_what_others_have_left() -> None:
    assert not findings(
        f"{ABC}CATEGORY A x\nMAXJOBS x 1\nBUNDLE a CATEGORY x\nBUNDLE b ALL_NODES\n"
    )
    text = f"{ABC}BUNDLE a NODES A\nBUNDLE b ALL_NODES\n"
    assert not findings("SPLICE S s.dag\nBUNDLE b ALL_NODES\nJOB D a.sub\n", **{"s.dag": text})
    assert not findings(f"{ABC}BUNDLE b ALL_NODES\n", commands)


def test_a_line_of_a_splice_is_found_in_its_file() -> None:
    text = f"{ABC}BUNDLE a NODES A\nBUNDLE b NODES A B\n"
    (found,) = findings("SPLICE S s.dag\nJOB D a.sub\nBUNDLE b NODES D\n", **{"s.dag": text})
    assert (found.file, found.line) == ("s.dag", 5)
    assert "to BUNDLE S+a, not to BUNDLE S+b" in found.message


@pytest.mark.parametrize(
    ("options", "maxjobs", "message"),
    [
        ("SIZE 2 PARALLEL 4", 4, "SIZE 2 is less than PARALLEL 4"),
        ("PARALLEL 4", 3, "MAXJOBS x 3 is less than PARALLEL 4"),
        ("PARALLEL 4", 6, "MAXJOBS x 6 is no multiple of PARALLEL 4: bundles leave 2 places"),
        ("PARALLEL 4", 8, ""),
        ("PARALLEL 4", 0, ""),
        ("SIZE 4 PARALLEL 4", 4, ""),
    ],
)
def test_fewer_side_by_side_than_the_line_says(options: str, maxjobs: int, message: str) -> None:
    text = f"{ABC}CATEGORY A x\nMAXJOBS x {maxjobs}\nBUNDLE b {options} ALL_NODES\n"
    found = findings(text)
    assert bool(found) is bool(message)
    for one in found:
        assert (one.code, one.line) == ("DAG425", 6)
        assert one.message.startswith(f"BUNDLE b: {message}")


@pytest.mark.parametrize(
    ("size", "most", "message"),
    [
        ("SIZE 20", 10, "SIZE 20 is cut, because PYDAGMAN_MAX_BUNDLE_SIZE is 10"),
        ("", 0, "no bundles are made, because PYDAGMAN_MAX_BUNDLE_SIZE is 0"),
        ("SIZE 10", 10, ""),
        ("SIZE 10000", None, ""),
    ],
)
def test_sizes_that_the_knob_does_not_allow(size: str, most: int | None, message: str) -> None:
    found = findings(f"{ABC}BUNDLE b {size} ALL_NODES\n", most=most)
    assert [one.message for one in found] == [f"BUNDLE b: {message}"] * bool(message)


def test_a_limit_counts_that_names_a_node_of_no_bundle_first() -> None:
    text = f"{ABC}SHARED_LIMIT tape NODES A B\nBUNDLE b NODES B C\n"
    assert of_code(text, "DAG423") == ["node B can't be bundled: it has a SHARED_LIMIT"]


# CHAINS.

AB = "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n"


def of_code(dag: str, code: str = "DAG426") -> list[str]:
    world = world_of({"t.dag": dag})
    return [one.message for one in lint(["t.dag"], world, BuildOptions()).kept if one.code == code]


CANT = "can't run behind others in a bundle: "


def test_of_a_node_that_may_go_with_another_one_before_it_nothing_is_told() -> None:
    Path("b.sub").write_text(f"request_memory = 1\n{SUBMIT}")
    dag = "JOB A a.sub\nJOB B b.sub\nJOB C b.sub\nPARENT {} CHILD B\nBUNDLE b CHAINS ALL_NODES\n"
    assert not of_code(dag.format("A C"))
    assert of_code(dag.format("A")) == [f"node B {CANT}request_memory of a node before it differs"]


def test_the_same_in_many_chains_is_told_once() -> None:
    chains = f"{AB}JOB C a.sub\nJOB D a.sub\nPARENT C CHILD D\n"
    scripts = "SCRIPT POST A plain\nSCRIPT POST C plain\n"
    (found,) = of_code(f"{chains}{scripts}BUNDLE b CHAINS ALL_NODES\n")
    assert found == f"node B and 1 other node {CANT}a node before it has a POST script"


def test_of_nodes_that_run_alone_no_more_is_told() -> None:
    text = f"{AB}SHARED_LIMIT tape NODES B\nSCRIPT PRE B plain\nBUNDLE b CHAINS ALL_NODES\n"
    assert not of_code(text)


@pytest.mark.parametrize(
    "lines", ["BUNDLE b CHAINS NODES A", "BUNDLE a NODES A|BUNDLE b CHAINS ALL_NODES"]
)
def test_chains_of_nodes_none_of_which_waits_for_another(lines: str) -> None:
    text = f"{AB}SCRIPT PRE B plain\n{lines}\n".replace("|", "\n")
    assert not of_code(text)
    none = "none of its nodes waits for another of them"
    assert of_code(text, "DAG425") == [f"CHAINS of BUNDLE b has no effect: {none}"]


def test_of_chains_of_a_line_without_nodes_no_more_is_told() -> None:
    assert not of_code(f"{AB}BUNDLE a ALL_NODES\nBUNDLE b CHAINS ALL_NODES\n", "DAG425")
