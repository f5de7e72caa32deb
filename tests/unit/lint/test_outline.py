"""DAG files as stock condor_dag_checker reads them; texts and numbers are stock's."""

from __future__ import annotations

import pytest

from condor_pydagman.graph import build
from condor_pydagman.graph.statistics import count_arcs, shape
from condor_pydagman.language import commands
from condor_pydagman.language.keywords import WORDS
from condor_pydagman.language.syntax import of_word
from condor_pydagman.lint.external import OutlineOptions
from condor_pydagman.lint.outline import Outline, is_late, read_outline, word_of
from condor_pydagman.vocabulary import NodeKind
from tests.unit.lint.paper import PaperWorld

TWO = "JOB X a\nJOB Y b\n"
DIAMOND = "JOB A a\nJOB B b\nJOB C c\nJOB D d\nPARENT A CHILD B C\nPARENT B C CHILD D\n"
PAPER = {
    "two.dag": TWO,
    "diamond.dag": DIAMOND,
    "inner.dag": "JOB W w\nSPLICE E two.dag\nSPLICE D diamond.dag\nPARENT W CHILD D\n",
    "self.dag": "JOB A a\nSPLICE S self.dag\n",
    "bad.dag": "JOB A a\nRETRY nope 1\nFOO\nRETRY nope2 1\n",
    "good.sub": "",
    "bad.sub": "bad",
    "d/": "",
}


def read(text: str, files: dict[str, str] | None = None, **options: bool) -> Outline:
    world = PaperWorld({**PAPER, **(files or {}), "t.dag": text})
    return read_outline("t.dag", world, OutlineOptions(**options))


def issues(text: str, files: dict[str, str] | None = None, **options: bool) -> list[str]:
    return [
        f"{issue.file}:{issue.line} {issue.command}: {issue.message}"
        for issue in read(text, files, **options).issues
    ]


def test_errors_of_syntax_come_after_those_of_definitions_and_before_those_of_names() -> None:
    text = "JOB A a\nRETRY Z 1\nJOB B\nPARENT A Y CHILD Z\nJOB A a\nFOO\n"
    assert issues(text) == [
        "t.dag:5 JOB: Node A is already defined in the DAG",
        "t.dag:3 JOB: No submit description provided",
        "t.dag:6 : 'FOO' is not a valid DAG command",
        "t.dag:4 PARENT: References to undefined nodes: Parents [Y] Children [Z]",
        "t.dag:2 RETRY: References undefined node Z",
    ]


def test_commands_that_name_nodes_are_applied_by_kind_then_by_line() -> None:
    text = "DONE A\nRETRY A 1\nCATEGORY A c\nTIMEOUT A TOTAL 1\nRETRY B 1\nPARENT A CHILD B\n"
    assert [one.partition(":")[2].partition(":")[0] for one in issues(text)] == [
        "3 CATEGORY",
        "6 PARENT",
        "2 RETRY",
        "5 RETRY",
        "4 TIMEOUT",
        "1 DONE",
    ]


def test_every_command_that_names_a_node_is_applied_when_all_nodes_are_known() -> None:
    known = {row.command for row in map(of_word, WORDS) if row is not None}
    naming = {command for command in known if "node" in command._fields}
    ignored = {commands.Pin, commands.SavePointFile}  # by the stock checker, too
    assert {command for command in naming if not is_late(command)} == ignored


def test_words() -> None:
    assert word_of(commands.Job(1, "A", "x")) == "JOB"
    assert word_of(commands.Job(1, "A", "x", kind=NodeKind.FINAL)) == "FINAL"
    assert word_of(commands.PreSkip(1, "A", 1)) == "PRE_SKIP"
    assert word_of(commands.ParentChild(1, ("A",), ("B",), weak=True)) == "PARENT"
    assert word_of(commands.Dot(1, "x")) == "DOT"


def test_the_stock_tool_counts_splices_anew_at_the_end_of_each_include() -> None:
    assert read("INCLUDE inner.dag\nSPLICE A two.dag\nSPLICE B two.dag\n").splices == 6
    assert read("SPLICE Z inner.dag\n").splices == 3
    assert read("SPLICE Z gone.dag\n").splices == 1


@pytest.mark.parametrize("line", ["SPLICE {0} {1}", "INCLUDE {1}", "SUBDAG EXTERNAL {0} {1}"])
def test_files_that_multiply(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "MAX_FILES", 50)
    files = {str(n): "\n".join(line.format(f"{one}{n}", n + 1) for one in "ab") for n in range(60)}
    found = read_outline("0", PaperWorld(files), OutlineOptions(check_subdags=True))
    assert "More than 50 files to be read" in found.issues[0].message


def test_a_deep_nest_of_includes() -> None:
    files = {f"{n}.dag": f"JOB N{n} x\nINCLUDE {n + 1}.dag\n" for n in range(3000)}
    files["3000.dag"] = ""
    outline = read_outline("0.dag", PaperWorld(files), OutlineOptions())
    assert outline.issues == []
    assert len(outline.dag) == 3000


def test_simple_lines_by_the_hundred_are_read_as_single_ones_are() -> None:
    jobs = "".join(f"JOB n{n} x\n" for n in range(100))
    edges = "".join(f"PARENT n{n} CHILD n{n + 1}\n" for n in range(99))
    assert count_arcs(read(jobs + edges).dag) == 99
    assert count_arcs(read(edges + jobs).dag) == 99
    assert issues(jobs + "JOB n5 x\n" + jobs.replace("n", "m") + "RETRY z 1\n") == [
        "t.dag:101 JOB: Node n5 is already defined in the DAG",
        "t.dag:202 RETRY: References undefined node z",
    ]
    outline = read(jobs + edges + "PARENT n99 CHILD n1\n")
    assert shape(outline.dag).cycle.endswith("n98 -> n99 -> n1")


def test_one_wrong_name_among_simple_lines_by_the_hundred() -> None:
    jobs = "".join(f"JOB n{n} x\n" for n in range(100)) + "FINAL é x\n"
    edges = "".join(f"PARENT n{n} CHILD n{n + 1} n{n + 2}\n" for n in range(90))
    edges += "PARENT n99 CHILD n98 n98\nPARENT é CHILD n1\nPARENT n1 CHILD é q\n"
    outline = read(jobs + edges)
    assert count_arcs(outline.dag) == 181
    expected = [
        (192 + 1, "FINAL node é can not have dependencies"),
        (192 + 2, "FINAL node é can not have dependencies"),
        (192 + 2, "References to undefined nodes: Children [q]"),
    ]
    assert [(one.line, one.message) for one in outline.issues] == expected
    first = read(edges + jobs)
    assert count_arcs(first.dag) == 181
    assert [(one.line + 101, one.message) for one in first.issues] == expected


def test_simple_lines_that_name_a_splice() -> None:
    jobs = "".join(f"JOB n{n} x\n" for n in range(20))
    edges = "".join(f"PARENT n{n} CHILD S\n" for n in range(20))
    outline = read(f'SPLICE S two.dag\n{jobs}{edges}VARS S a="1"\n')
    assert [one.message for one in outline.issues] == ["Cannot be applied to splice S"]
    assert count_arcs(outline.dag) == 40


def test_sub_dags_are_read_to_their_first_error() -> None:
    text = "SUBDAG EXTERNAL S bad.dag\nSUBDAG EXTERNAL T t.dag\nSUBDAG EXTERNAL U gone.dag\n"
    assert issues(text) == []
    assert issues(text, check_subdags=True) == [
        "t.dag:1 SUBDAG: bad.dag:3>'FOO' is not a valid DAG command",
        "t.dag:1 SUBDAG: bad.dag:2>References undefined node nope",
        "t.dag:2 SUBDAG: Recursive sub-DAG detected",
    ]
    assert issues(text, check_subdags=True, strict=True)[-1] == (
        "t.dag:3 SUBDAG: gone.dag does not exist"
    )


def test_feeders() -> None:
    line = "FEEDER BELOW 1 PROGRAM feed x\n"
    assert issues(line) == []
    assert issues(line + line) == ["t.dag:2 FEEDER: The DAG has a FEEDER already"]
    assert issues("SPLICE S f.dag\n", {"f.dag": line}) == [
        "f.dag:1 FEEDER: FEEDER can't be used in a splice"
    ]
    missing = "t.dag:1 FEEDER: FEEDER program feed does not exist"
    assert issues(line, check_scripts=True) == [missing]
    plain = "FEEDER BELOW 1 PROGRAM plain\n"
    assert issues(plain, {"plain": ""}, check_scripts=True) == [
        "t.dag:1 FEEDER: FEEDER plain can't be executed"
    ]
