"""Findings get their places, in splices, includes and several files too."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.lint.findings import Finding, Findings
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import SUBMIT, PaperWorld, codes, found


def findings(*names: str, **files: str) -> list[Finding]:
    paper = {f"{name}.dag": text for name, text in files.items()}
    world = PaperWorld({"a.sub": SUBMIT, **paper})
    return lint([f"{name}.dag" for name in names], world, BuildOptions(strict=0)).kept


def test_a_command_that_the_end_of_the_file_cuts_off() -> None:
    (finding,) = found("JOB A a.sub\nRETRY A 3 \\\n")
    assert (finding.code, finding.line, finding.text) == ("DAG105", 2, "RETRY A 3 \\")


def test_a_command_over_several_lines_is_shown_where_its_name_stands() -> None:
    first, second = found("JOB A a.sub\nRETRY A 3 \\\n \\\n BACKOFF 5\n")
    for one in (first, second):
        assert (one.line, one.column, one.text) == (2, 7, "RETRY A 3 \\")


def test_places_of_options_that_only_this_program_has() -> None:
    scripts = "SCRIPT PRE A /bin/true\nSCRIPT DEFER 4 30 FOR 2h POST A /bin/true\n"
    (one,) = found(f"JOB A a.sub\nTIMEOUT A RUNNING 1h\n{scripts}")[1:]
    assert (one.code, one.line, one.text[one.column - 1 :]) == ("DAG411", 4, "A /bin/true")


def test_places_in_splices() -> None:
    inner = "JOB X a.sub\nRETRY X 0\n"
    (finding,) = findings("t", t="SPLICE S s.dag\n", s=inner)
    assert (finding.file, finding.line, finding.node) == ("s.dag", 2, "S+X")
    assert finding.text[finding.column - 1 :] == "X 0"


def test_places_in_includes_and_several_files() -> None:
    one, two = findings("t", "u", t="INCLUDE i.dag\n", u="JOB A a.sub\nRETRY A 0\n",
                        i="JOB A a.sub\n\nRETRY A 0\n")  # fmt: skip
    assert (one.file, one.line, one.node) == ("i.dag", 3, "0.A")
    assert (two.file, two.line, two.node) == ("u.dag", 2, "1.A")


def test_a_line_for_all_nodes_is_the_place_of_each() -> None:
    found_ones = findings("t", t="JOB A a.sub\nJOB B a.sub\nRETRY ALL_NODES 0\n")
    assert [(one.node, one.line) for one in found_ones] == [("A", 3), ("B", 3)]


def test_a_submit_file_in_the_place_of_a_dag_is_told_once() -> None:
    submit = "universe = vanilla\nexecutable = /bin/true\npriority = 5\nerror = e\nqueue 2\n"
    (finding,) = found(submit)
    assert (finding.code, finding.line) == ("DAG102", 1)
    assert finding.hint.startswith("t.dag is a submit description, no DAG file: ")
    spliced = linted_with({"s.sub": submit}, "JOB A a.sub\nSPLICE S s.sub\nPARENT A CHILD S\n")
    assert [one.hint[:27] for one in spliced.kept] == ["s.sub is a submit descripti"]
    assert len(found(f"JOB A a.sub\n{submit}")) > 1, "it has a node: each line is told"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("digraph snakemake_dag {\n  node[shape=box];\n  1 -> 0\n}\n", "a graph for Graphviz"),
        ("# x\n<serial>\njobsub -n x\njobsub -n y\n</serial>\n", "a workflow of jobsub"),
        ('rule all:\n    input: "a"\n', "a Snakefile"),
        ("cwlVersion: v1\nclass: Workflow\n", "YAML"),
        ("import os\nos.getcwd()\n", "a Python program"),
        ("process x {\n  script:\n}\n", "a program of Nextflow"),
    ],
)
def test_what_other_programs_read_is_told_once(text: str, kind: str) -> None:
    (finding,) = found(text)
    assert finding.hint.startswith(f"t.dag is {kind}, no DAG file: ")
    assert len(found(f"JOB A a.sub\n{text}")) > 1


def test_submit_lines_beside_nodes_are_told_each() -> None:
    assert codes("JOB A a.sub\nexecutable = x\nqueue\n") == ["DAG102"] * 2


def linted_with(more: dict[str, str], dag: str) -> Findings:
    world = PaperWorld({"t.dag": dag, "a.sub": SUBMIT, **more})
    return lint(["t.dag"], world, BuildOptions(strict=0))
