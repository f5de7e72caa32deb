"""DAG files to Dag: what stock DAGMan said to the same lines, several files, whole-DAG rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import Dag

# Lines that follow three JOB lines (A, B, C), and what stock condor_dagman 25.14 logged of them.
STOCK = json.loads((Path(__file__).parent / "stock_reactions.json").read_text())
JOBS = "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n"
SHOWN = ("ERROR", "Error", "       Example", "Processing error", "DAG marked")


def build_files(texts: Mapping[str, str], **options: object) -> Dag:
    def read_text(file: str) -> str:
        try:
            return texts[file]
        except KeyError:
            raise FileNotFoundError(file) from None

    return build(list(texts), read_text, BuildOptions(**options))  # type: ignore[arg-type]


def build_text(text: str, **options: object) -> Dag:
    return build_files({"x.dag": text}, **options)


def problems(text: str, **options: object) -> DagFileErrors:
    with pytest.raises(DagFileErrors) as caught:
        build_text(text, **options)
    return caught.value


def reaction(text: str) -> list[str]:
    try:
        dag = build_files({"t.dag": text})
    except DagFileErrors as error:
        detail = error.errors[0].detail().split("\n")
        said = [line for line in detail if line.startswith(SHOWN)]
        warnings = error.warnings
    else:
        said = [f"Dag contains {len(dag)} total nodes"]
        warnings = dag.warnings
    return [line for warning in warnings for line in warning.split("\n")] + said


@pytest.mark.parametrize("case", STOCK, ids=lambda case: case["dag"][:40])
def test_reacts_as_stock_does(case: dict[str, object]) -> None:
    assert reaction(f"{JOBS}{case['dag']}\n") == case["stock"]


@pytest.mark.parametrize(
    "line",
    [
        "RETRY Z 1",
        "SCRIPT PRE Z x",
        "VARS Z x=1",
        "PRIORITY Z 1",
        "PRE_SKIP Z 1",
        "ABORT-DAG-ON Z 1",
        "CATEGORY Z c",
        "DONE Z",
    ],
)
def test_an_unknown_node_is_an_error_with_its_place(line: str) -> None:
    caught = problems(JOBS + line)
    assert str(caught) == "ERROR: Unknown node Z referenced"
    assert caught.errors[0].detail().split("\n")[1:3] == [
        "Processing error at x.dag:4",
        f"    {line}",
    ]


def test_a_misspelt_node_is_guessed() -> None:
    caught = problems("JOB analyse x\nJOB B x\nPARENT B CHILD analyze")
    assert caught.errors[0].hint == "did you mean analyse?"


@pytest.mark.parametrize("line", ["RETRY ALL_NODES 3", "VARS ALL_NODES x=1"])
def test_all_nodes_of_none(line: str) -> None:
    assert str(problems(line)) == "ERROR: Unknown node ALL_NODES referenced."


def test_nodes_may_be_defined_after_their_use() -> None:
    dag = build_text("PARENT A CHILD B\nRETRY B 2\nJOB A x\nJOB B x\n")
    assert list(dag.children(dag.ids["A"])) == [dag.ids["B"]]


def test_all_errors_are_reported_in_the_order_of_the_two_passes() -> None:
    caught = problems("RETRY A x\nJOB A a\nFOO\nJOB A b\nPARENT A CHILD Z\nDONE\n")
    assert [(error.line, type(error).__name__) for error in caught.errors] == [
        (3, "DagFileError"),
        (4, "ProcessingError"),
        (1, "DagFileError"),
        (6, "DagFileError"),
    ]
    assert str(caught) == "ERROR: x.dag:3 'FOO' is not a valid DAG command"
    assert "Node A already exists" in caught.detail()


def test_many_errors_are_counted() -> None:
    detail = problems("FOO\n" * 30).detail()
    assert detail.endswith("and 10 more")


def test_errors_of_several_files_are_all_reported() -> None:
    with pytest.raises(DagFileErrors) as caught:
        build_files({"a.dag": "FOO\n", "b.dag": "JOB\n"})
    assert [error.file for error in caught.value.errors] == ["a.dag", "b.dag"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError(), "Provided file path does not exist"),
        (IsADirectoryError(), "Provided file path is not a file"),
        (PermissionError(13, "denied"), "Failed to open file ([Errno 13] denied)"),
        (FileError("no"), "Failed to open file (no)"),
    ],
)
def test_a_file_that_cannot_be_read(error: Exception, reason: str) -> None:
    def read_text(file: str) -> str:
        raise error

    with pytest.raises(DagFileErrors) as caught:
        build(["no.dag"], read_text, BuildOptions())
    assert str(caught.value) == f"ERROR: Failed to open no.dag: {reason}"


def test_an_empty_dag_is_legal() -> None:
    dag = build_text("# nothing\n")
    assert len(dag) == 0
    assert dag.vertex_count == 0


def test_several_files_get_numbered_names() -> None:
    text = "JOB A x\nJOB B x\nPARENT A CHILD B\nSUBMIT-DESCRIPTION d {\n}\nMAXJOBS c 1\n"
    dag = build_files({"one.dag": text, "d/two.dag": text})
    assert dag.names == ["0.A", "0.B", "1.A", "1.B"]
    assert list(dag.parents(3)) == [2]
    assert dag.files == ["one.dag", "d/two.dag"]
    assert set(dag.descriptions) == {"d"}
    assert set(dag.category_limits) == {"c"}


def test_several_files_without_numbers_share_their_names() -> None:
    one, two = "JOB A x\n", "JOB B x\nPARENT A CHILD B\n"
    dag = build_files({"one.dag": one, "two.dag": two}, munge_node_names=False)
    assert dag.names == ["A", "B"]
    with pytest.raises(DagFileErrors, match="Node A already exists in DAG"):
        build_files({"one.dag": one, "two.dag": one}, munge_node_names=False)


def test_one_file_is_not_numbered_and_another_file_is_out_of_reach() -> None:
    assert build_text("JOB A x").names == ["A"]
    with pytest.raises(DagFileErrors, match=r"Unknown node 1\.0\.A referenced"):
        build_files({"one.dag": "JOB A x\n", "two.dag": "RETRY 0.A 1\n"})


def test_all_nodes_are_those_of_earlier_files_too() -> None:
    dag = build_files({"a": "JOB A x\n", "b": "JOB B x\nRETRY ALL_NODES 2\n", "c": "JOB C x\n"})
    assert sorted(dag.retries) == [0, 1]


def test_use_dag_dir() -> None:
    texts = {"d/one.dag": "JOB A x\n", "two.dag": "JOB A x\n"}
    assert build_files(texts, use_dag_dir=True).directories == {0: "d"}
    assert build_files(texts, use_dag_dir=True, cwd="/top").directories == {0: "/top/d"}
    with pytest.raises(DagFileErrors) as caught:
        build_files({"d/one.dag": "JOB A x DIR e\n"}, use_dag_dir=True)
    assert caught.value.errors[0].detail().split("\n")[:2] == [
        "ERROR: Node DIR <directory> sub-command can not be used with -UseDagDir",
        "Processing error at one.dag:1",
    ]


def test_priority_is_added_to_every_node() -> None:
    dag = build_text("JOB A x\nJOB B x\nPRIORITY A 2\n", priority=10)
    assert dag.priorities == {0: 12, 1: 10}


def test_plus_in_names() -> None:
    assert "illegal charater" in str(problems("JOB a+b x"))
    assert build_text("JOB a+b x", allow_any_node_name_characters=True).names == ["a+b"]


@pytest.mark.parametrize(
    ("lines", "level"),
    [
        ("PRIORITY A 1\nPRIORITY A 2", 2),
        ("CATEGORY A c", 2),
        ("MAXJOBS c 1", 2),
        ("VARS A x=1\nVARS A x=2", 3),
        ("PRE_SKIP A 1\nPRE_SKIP A 2", 3),
        ("JOBSTATE_LOG a\nJOBSTATE_LOG b", 3),
        ("NODE_STATUS_FILE a\nNODE_STATUS_FILE b", 3),
        ("CATEGORY A c\nMAXJOBS c 1\nMAXJOBS c 2", 3),
    ],
)
def test_strictness_makes_warnings_fatal(lines: str, level: int) -> None:
    dag = build_text(JOBS + lines, strict=level - 1)
    assert len(dag.warnings) == 1
    caught = problems(JOBS + lines, strict=level)
    assert str(caught) == "ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting"
    assert caught.warnings == dag.warnings


def test_warnings_are_limited() -> None:
    jobs = "".join(f"JOB n{i} x\n" for i in range(1100))
    dag = build_text(jobs + "PRIORITY ALL_NODES 1\nPRIORITY ALL_NODES 2\n")
    assert len(dag.warnings) == 1001
    assert dag.warnings[-1] == "Warning: 100 more warnings not shown"


def test_config_lines_are_none_of_our_business() -> None:
    assert build_text("CONFIG\nENV\nSET_JOB_ATTR\n").warnings == []


def test_a_later_version_s_command_is_one_clear_error() -> None:
    caught = problems("JOB A x\nFINAL F {\nexecutable = x\n}\nRETRY A 1\n")
    assert [str(error) for error in caught.errors] == [
        "ERROR: x.dag:2 FINAL is not supported by this version yet"
    ]
