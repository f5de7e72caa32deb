"""condor_pydagman flatten."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters.files import DagFiles
from condor_pydagman.cli.pydagman import main
from condor_pydagman.graph.build import BuildOptions, build

DAG = "JOB A a.sub\nSPLICE S s.dag DIR d\nJOB Z z.sub\nPARENT A CHILD S\nPARENT S CHILD Z\n"
SPLICE = 'JOB X x.sub\nJOB Y y.sub\nVARS ALL_NODES a="1"\nRETRY X 2\n'


@pytest.fixture
def dag(work_directory: Path) -> Path:
    (work_directory / "d").mkdir()
    (work_directory / "d/s.dag").write_text(SPLICE)
    (work_directory / "x.dag").write_text(DAG)
    return work_directory


def test_one_file_means_the_same(dag: Path) -> None:
    assert main(["flatten", "x.dag", "-o", "flat.dag"]) == 0
    knobs = BuildOptions(allow_any_node_name_characters=True, use_join_nodes=False)
    flat = build(["flat.dag"], DagFiles().read, knobs)
    whole = build(["x.dag"], DagFiles().read, BuildOptions())
    assert flat.names == whole.names
    assert flat.directories == whole.directories
    assert flat.retries == whole.retries
    assert [list(flat.children(n)) for n in range(4)] == [list(whole.children(n)) for n in range(4)]


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        ("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n", []),
        (DAG, ["DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS"]),
        (
            "".join(f"JOB {n} a.sub\n" for n in "ABCDEF") + "PARENT A B C CHILD D E F\n",
            ["DAGMAN_USE_JOIN_NODES"],
        ),
    ],
)
def test_the_head_names_the_knobs_that_are_needed(
    dag: Path, capsys: pytest.CaptureFixture[str], text: str, knobs: list[str]
) -> None:
    (dag / "x.dag").write_text(text)
    assert main(["flatten", "x.dag"]) == 0
    out = capsys.readouterr().out
    every = ("DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS", "DAGMAN_USE_JOIN_NODES")
    assert [knob for knob in every if knob in out] == knobs


def test_what_condor_submit_dag_applies_is_there_too(
    dag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["CONFIG my.config", 'SET_JOB_ATTR Purpose = "x"', "ENV SET A=1;B=2", "ENV GET HOME"]
    (dag / "x.dag").write_text("".join(f"{line}\n" for line in lines) + DAG)
    assert main(["flatten", "x.dag"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line for line in out if line.split()[0] in ("CONFIG", "SET_JOB_ATTR", "ENV")] == lines


def test_a_config_file_is_named_from_where_its_dag_is_run(
    dag: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (dag / "d/y.dag").write_text("CONFIG my.config\nJOB A a.sub\n")
    assert main(["flatten", "--usedagdir", "d/y.dag"]) == 0
    assert f"\nCONFIG {dag / 'd'}/my.config\n" in capsys.readouterr().out


def test_to_standard_output(dag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flatten", "x.dag"]) == 0
    assert "\nJOB S+X x.sub DIR d\n" in capsys.readouterr().out


def test_a_wrong_dag_writes_nothing(dag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dag / "x.dag").write_text("FOO\n")
    assert main(["flatten", "x.dag", "-o", "flat.dag"]) == 1
    assert "x.dag:1 'FOO' is not a valid DAG command" in capsys.readouterr().err
    assert not (dag / "flat.dag").exists()


def test_bundles_can_be_left_out(dag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The stock program runs a DAG without them, and nothing else of it changes."""
    assert main(["flatten", "x.dag"]) == 0
    without = capsys.readouterr().out.splitlines()
    text = (dag / "x.dag").read_text()
    (dag / "x.dag").write_text(f"BUNDLE b SIZE 4 ALL_NODES\n{text}BUNDLE c NODES A\n")
    assert main(["flatten", "x.dag"]) == 0
    assert "\nBUNDLE b SIZE 4 ALL_NODES\n" in capsys.readouterr().out
    assert main(["flatten", "--without-bundles", "x.dag"]) == 0
    out = capsys.readouterr().out.splitlines()
    note = "# BUNDLE is left out: each node has a job of its own."
    assert note in out
    assert [line for line in out if line != note] == without
