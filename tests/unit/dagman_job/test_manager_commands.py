"""What condor_submit_dag takes from DAG files for the DAGMan job itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.dagman_job.manager_commands import read_dag_files
from condor_pydagman.dagman_job.options import SubmitOptions
from condor_pydagman.errors import ConfigError, DagFileError, FileError

OPTIONS = SubmitOptions(dag_files=("t.dag",))


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path) -> Path:
    Path("t.dag").write_text("JOB A a.sub\n")
    return work_directory


def test_manager_commands_of_several_files(dag_directory: Path) -> None:
    Path("t.dag").write_text("CONFIG c\nSET_JOB_ATTR a = 3\nENV SET A=1\nENV GET x,y z\nJOB A s\n")
    Path("u.dag").write_text("set_job_attr b = 4\nENV SET B=2\nCONFIG c\n")
    facts = read_dag_files(OPTIONS._replace(dag_files=("t.dag", "u.dag")))
    assert facts.config_file == f"{dag_directory}/c"
    assert facts.job_attributes == ("a = 3", "b = 4")
    assert facts.insert_env == ("A=1", "B=2")
    assert facts.include_env == ("x,y,z",)


def test_config_is_relative_to_the_dag_with_usedagdir(dag_directory: Path) -> None:
    Path("d").mkdir()
    Path("d/t.dag").write_text("CONFIG c\n")
    options = OPTIONS._replace(dag_files=("d/t.dag",))
    assert read_dag_files(options).config_file == f"{dag_directory}/c"
    assert read_dag_files(options._replace(use_dag_dir=True)).config_file == f"{dag_directory}/d/c"


def test_config_files_that_disagree() -> None:
    Path("t.dag").write_text("CONFIG c\n")
    with pytest.raises(
        ConfigError, match=r"ERROR: Conflicting DAGMan config files specified: .*/d"
    ):
        read_dag_files(OPTIONS._replace(config="d"))
    Path("t.dag").write_text("CONFIG c\nCONFIG d\n")
    with pytest.raises(ConfigError, match=r"ERROR: Multiple \(2\) configuration files provided\."):
        read_dag_files(OPTIONS)


def test_config_of_the_command_line_alone(dag_directory: Path) -> None:
    assert read_dag_files(OPTIONS._replace(config="c")).config_file == f"{dag_directory}/c"
    assert read_dag_files(OPTIONS).config_file == ""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nosuch", "ERROR: Provided file path does not exist: nosuch"),
        (".", "ERROR: Provided file path is not a file: ."),
        ("/dev/null", "ERROR: Provided file path is not a file: /dev/null"),
        ("", "ERROR: No file path provided"),
    ],
)
def test_dag_files_that_cannot_be_read(name: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        read_dag_files(OPTIONS._replace(dag_files=("t.dag", name)))
    assert str(caught.value) == message


def test_unknown_command() -> None:
    Path("t.dag").write_text("JOB A s\nFOO-BAR x\n")
    with pytest.raises(
        DagFileError, match=r"^ERROR: t\.dag:2 'FOO_BAR' is not a valid DAG command"
    ):
        read_dag_files(OPTIONS)
