"""What condor_submit_dag makes of the files that are there before it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import dag_files
from condor_pydagman.cli.dag_files import Voice, make_way, read_dag_files
from condor_pydagman.cli.options import SubmitOptions
from condor_pydagman.config import Config
from condor_pydagman.dagfile.parser import manager_commands
from condor_pydagman.errors import ConfigError, DagFileError, FileError

OPTIONS = SubmitOptions(dag_files=("t.dag",), auto_rescue=1)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.dag").write_text("JOB A a.sub\n")
    return tmp_path


def touch(*names: str) -> None:
    for name in names:
        Path(name).touch()


def way(maximum: int = 100, **changes: Any) -> None:
    options = OPTIONS._replace(**changes)
    voice = Voice(out=print, err=lambda text: print(text, file=sys.stderr))
    make_way(options, options.paths(), Config(max_rescue_num=maximum), voice)


def left() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_manager_commands_of_several_files(directory: Path) -> None:
    Path("t.dag").write_text("CONFIG c\nSET_JOB_ATTR a = 3\nENV SET A=1\nENV GET x,y z\nJOB A s\n")
    Path("u.dag").write_text("set_job_attr b = 4\nENV SET B=2\nCONFIG c\n")
    facts = read_dag_files(OPTIONS._replace(dag_files=("t.dag", "u.dag")))
    assert facts.config_file == f"{directory}/c"
    assert facts.job_attributes == ("a = 3", "b = 4")
    assert facts.insert_env == ("A=1", "B=2")
    assert facts.include_env == ("x,y,z",)


def test_config_is_relative_to_the_dag_with_usedagdir(directory: Path) -> None:
    Path("d").mkdir()
    Path("d/t.dag").write_text("CONFIG c\n")
    options = OPTIONS._replace(dag_files=("d/t.dag",))
    assert read_dag_files(options).config_file == f"{directory}/c"
    assert read_dag_files(options._replace(use_dag_dir=True)).config_file == f"{directory}/d/c"


def test_config_files_that_disagree() -> None:
    Path("t.dag").write_text("CONFIG c\n")
    with pytest.raises(
        ConfigError, match=r"ERROR: Conflicting DAGMan config files specified: .*/d"
    ):
        read_dag_files(OPTIONS._replace(config="d"))
    Path("t.dag").write_text("CONFIG c\nCONFIG d\n")
    with pytest.raises(ConfigError, match=r"ERROR: Multiple \(2\) configuration files provided\."):
        read_dag_files(OPTIONS)


def test_config_of_the_command_line_alone(directory: Path) -> None:
    assert read_dag_files(OPTIONS._replace(config="c")).config_file == f"{directory}/c"
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


def test_nothing_there() -> None:
    way()
    assert left() == ["t.dag"]


def test_halt_file_goes() -> None:
    touch("t.dag.halt")
    way()
    assert left() == ["t.dag"]


def test_files_of_an_earlier_run_are_in_the_way() -> None:
    names = ["t.dag.condor.sub", "t.dag.lib.out", "t.dag.lib.err", "t.dag.dagman.log"]
    touch(*names)
    with pytest.raises(FileError) as caught:
        way()
    lines = str(caught.value).splitlines()
    assert lines[:4] == [f'ERROR: "{name}" already exists.' for name in names]
    assert lines[4:] == [
        "",
        "Some file(s) needed by condor_dagman already exist. Either:",
        "- Rename them",
        '- Use the "-f" option to force them to be overwritten',
        "\tor",
        '- Use the "-update_submit" option to update the submit file and continue.',
    ]


@pytest.mark.parametrize(
    "changes",
    [{"update_submit": True}, {"rescue_file": "r"}, {"load_save": "s"}, {"do_rescue_from": 1}],
)
def test_options_that_let_them_stay(changes: dict[str, Any]) -> None:
    touch("t.dag.condor.sub", "t.dag.rescue001")
    way(**changes)
    assert "t.dag.condor.sub" in left()


def test_force_with_a_gap_in_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    touch("t.dag.condor.sub", "t.dag.lib.out", "t.dag.lib.err", "t.dag.dagman.log")
    touch("t.dag.dagman.out", "t.dag.rescue001", "t.dag.rescue003")
    way(force=True)
    assert left() == ["t.dag", "t.dag.dagman.out", "t.dag.rescue001.old", "t.dag.rescue003.old"]
    assert capsys.readouterr().err == (
        "Renaming rescue DAGs newer than number 0\n"
        "Renaming t.dag.rescue001\nRenaming t.dag.rescue003\n"
    )


def test_force_that_cannot_remove() -> None:
    Path("t.dag.lib.out").mkdir()
    with pytest.raises(FileError, match=r"Failed to unlink file t\.dag\.lib\.out"):
        way(force=True)


def test_rescue_file_is_announced_and_the_rest_may_stay(
    capsys: pytest.CaptureFixture[str],
) -> None:
    touch("t.dag.rescue001", "t.dag.rescue002", "t.dag.condor.sub")
    way()
    assert capsys.readouterr().out == "Running rescue DAG 2\n"
    with pytest.raises(FileError):
        way(auto_rescue=0)


def test_gaps_and_the_highest_number(capsys: pytest.CaptureFixture[str]) -> None:
    touch("t.dag.rescue001", "t.dag.rescue003", "t.dag.rescue007")
    way(maximum=3)
    assert capsys.readouterr().out == (
        "Warning: Found rescue DAG number 3, but not rescue DAG number 2\n"
        "Warning: Hit maximum rescue DAG number: 3\n"
        "Running rescue DAG 3\n"
    )


def test_the_chosen_rescue_file_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    touch("t.dag.rescue001", "t.dag.rescue002")
    way(do_rescue_from=1)
    assert capsys.readouterr().out == "Running rescue DAG 1\n"


def test_rescue_files_of_several_dags(capsys: pytest.CaptureFixture[str]) -> None:
    touch("t.dag_multi.rescue001")
    way(dag_files=("t.dag", "u.dag"))
    assert capsys.readouterr().out == "Running rescue DAG 1\n"


def test_chosen_rescue_file_is_missing() -> None:
    touch("t.dag.halt")
    with pytest.raises(FileError) as caught:
        way(do_rescue_from=3)
    assert str(caught.value) == (
        "ERROR: -dorescuefrom 3 specified, but rescue DAG file t.dag.rescue003 does not exist!"
    )
    assert "t.dag.halt" in left()


def test_rescue_file_of_the_old_kind() -> None:
    touch("t.dag.rescue")
    way()
    with pytest.raises(FileError, match=r'ERROR: "t\.dag\.rescue" already exists\.\n\tYou'):
        way(auto_rescue=0, force=True)


def test_plain_dag_files_are_not_parsed() -> None:
    """Where the parser is left out it would have found nothing."""
    corpus = sorted((Path(__file__).parents[2] / "corpus").rglob("*.dag"))
    texts = [path.read_bytes().decode("utf-8", "surrogateescape") for path in corpus]
    plain = [text for text in texts if not dag_files._TELLING.search(text)]
    assert len(plain) > 100
    for text in plain:
        assert manager_commands(text, "t.dag") == []


@pytest.mark.parametrize(
    "line",
    ["CONFIG c", " env set a=b", "Set_Job_Attr a = 1", "JOB", "JOBS a b", "JOB A {", "JOB A \\",
     "\x0bCONFIG c", "VAR\u017f A b=1", "FOO", "JOB A a\0", "\ufeffJOB A b", "\rCONFIG c"],
)  # fmt: skip
def test_lines_that_are_parsed(line: str) -> None:
    assert dag_files._TELLING.search(f"JOB A a.sub\n# CONFIG\n\n{line}\nRETRY A 3\n")
