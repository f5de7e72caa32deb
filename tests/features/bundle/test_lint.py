"""Which nodes of a BUNDLE run alone, as the checker says."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.features.bundle import commands
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.lint.findings import Finding
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import PaperWorld

SUBMIT = "executable = plain\narguments = 1\nqueue\n"


def told(dag: str, submit: str = SUBMIT) -> list[str]:
    files = {"t.dag": f"{dag}BUNDLE b ALL_NODES\n", "a.sub": submit, "/place/plain": ""}
    found = lint(["t.dag"], PaperWorld(files), BuildOptions()).kept
    return [one.message for one in found if one.code == "DAG423"]


def test_nothing_is_told_of_nodes_that_go_together() -> None:
    assert not told("JOB A a.sub\nJOB B a.sub\nTIMEOUT B RUNNING 60\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("JOB C a.sub NOOP", "it is a NOOP node"),
        ('JOB "C D" a.sub', "its name has a blank, or is too long"),
        ("JOB C a.sub\nSHARED_LIMIT tape NODES C", "it has a SHARED_LIMIT"),
        ("JOB C a.sub\nTIMEOUT C QUEUED 60", "it has a TIMEOUT QUEUED or TOTAL"),
        ("JOB C a.sub\nTIMEOUT C TOTAL 60", "it has a TIMEOUT QUEUED or TOTAL"),
    ],
)
def test_nodes_that_run_alone_whatever_their_description_says(line: str, why: str) -> None:
    (message,) = told(f"JOB A a.sub\nJOB B a.sub\n{line}\n")
    assert "C" in message.split(" can't")[0]
    assert message.endswith(f"can't be bundled: {why}")


def test_one_reason_is_told_once() -> None:
    found = told("JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n", f"periodic_hold = x\n{SUBMIT}")
    assert len(found) == 1
    assert found[0].startswith("node A and 2 other nodes can't be bundled: ")


def test_files_that_are_missing_are_told_of_nodes_that_start_first() -> None:
    text = f"should_transfer_files = yes\ntransfer_input_files = no, plain\n{SUBMIT}"
    (message,) = told("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n", text)
    assert message.startswith("node A can't be bundled: it transfers a file that is not there")
    assert message.endswith("/no")
    assert not told("JOB A a.sub\nSCRIPT PRE A plain\n", text)


def findings(dag: str, *asked: Any, most: int | None = None, **files: str) -> list[Finding]:
    """What is found of BUNDLE lines, of a DAG all nodes of which can be bundled."""
    world = PaperWorld({"t.dag": dag, "a.sub": SUBMIT, "/place/plain": "", **files})
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


def test_the_option_bundle_is_checked_as_a_line() -> None:
    world = PaperWorld({"t.dag": f"{ABC}JOB D a.sub NOOP\n", "a.sub": SUBMIT, "/place/plain": ""})
    assert "DAG423" not in [one.code for one in lint(["t.dag"], world, BuildOptions()).kept]
    found = lint(["t.dag"], world, BuildOptions(), (commands,)).kept
    assert "node D can't be bundled: it is a NOOP node" in [one.message for one in found]


def test_a_limit_counts_that_names_a_node_of_no_bundle_first() -> None:
    text = f"{ABC}SHARED_LIMIT tape NODES A B\nBUNDLE b NODES B C\n"
    assert of_code(text, "DAG423") == ["node B can't be bundled: it has a SHARED_LIMIT"]


# CHAINS.

AB = "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n"


def of_code(dag: str, code: str = "DAG426") -> list[str]:
    world = PaperWorld({"t.dag": dag, "a.sub": SUBMIT, "/place/plain": ""})
    return [one.message for one in lint(["t.dag"], world, BuildOptions()).kept if one.code == code]


CANT = "can't run behind others in a bundle: "


def test_nodes_that_can_run_behind_others_are_no_finding() -> None:
    for code in ("DAG425", "DAG426"):
        assert not of_code(f"{AB}BUNDLE b CHAINS ALL_NODES\n", code)
        assert not of_code(f"{AB}SCRIPT PRE B plain\nBUNDLE b ALL_NODES\n", code)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("SCRIPT PRE B plain", "it has a PRE script"),
        ("SCRIPT POST A plain", "a node before it has a POST script"),
        ("PUBLISH A FILE y", "a node before it has a PUBLISH"),
    ],
)
def test_why_nodes_cannot_run_behind_others(line: str, why: str) -> None:
    assert of_code(f"{AB}{line}\nBUNDLE b CHAINS ALL_NODES\n") == [f"node B {CANT}{why}"]


@pytest.mark.parametrize(
    ("lines", "edges", "why"),
    [
        ("request_memory = 1", "A CHILD B", "request_memory of a node before it differs"),
        ("output = x", "A CHILD B", ""),
        (
            "requirements = a\nRequest_CPUs = 2",
            "A CHILD B",
            "request_cpus and requirements of a node before it differ",
        ),
        ("request_memory = 1", "A C CHILD B", ""),  # behind C, when A is done
    ],
)
def test_nodes_whose_jobs_ask_for_something_else(lines: str, edges: str, why: str) -> None:
    dag = f"JOB A a.sub\nJOB B b.sub\nJOB C b.sub\nPARENT {edges}\nBUNDLE b CHAINS ALL_NODES\n"
    files = {"t.dag": dag, "a.sub": SUBMIT, "b.sub": f"{lines}\n{SUBMIT}", "/place/plain": ""}
    found = lint(["t.dag"], PaperWorld(files), BuildOptions()).kept
    told = [one.message for one in found if one.code == "DAG426"]
    assert told == ([f"node B {CANT}{why}"] if why else [])


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
