"""What condor_submit_dag writes: where its parts come from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import condor_pydagman
from condor_pydagman.config import Config
from condor_pydagman.dagman_job.options import SubmitOptions
from condor_pydagman.dagman_job.prepare_job import (
    Output,
    clear_old_files,
    find_dagman,
)
from condor_pydagman.errors import FileError

pytestmark = pytest.mark.usefixtures("work_directory")


def program(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.touch()
    path.chmod(0o755)
    return str(path)


def test_find_dagman_beside_the_program_before_path(work_directory: Path) -> None:
    mine = program(work_directory / "bin" / "condor_dagman")
    program(work_directory / "path" / "condor_dagman")
    link = work_directory / "link"
    link.symlink_to(work_directory / "bin" / "condor_submit_dag")
    assert find_dagman(str(link), str(work_directory / "path")) == mine


def test_find_dagman_on_path(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(work_directory / "python"))
    found = program(work_directory / "b" / "condor_dagman")
    (work_directory / "a").mkdir()
    (work_directory / "a" / "condor_dagman").touch()  # not executable
    assert find_dagman("/nosuch/x", f"{work_directory}/a::{work_directory}/b") == found
    with pytest.raises(FileError, match="Failed to locate condor_dagman executable in PATH"):
        find_dagman("/nosuch/x", "")


def test_find_dagman_of_a_distribution_before_htcondors_own(
    work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python program of a user runs under the system's Python, beside which stock's is."""
    usr = work_directory / "usr"
    monkeypatch.setattr("sys.executable", str(usr / "bin" / "python3"))
    monkeypatch.setattr(condor_pydagman, "__path__", [str(usr / "lib/python3/site/x")])
    usr.mkdir()
    program(usr / "bin" / "condor_dagman")
    (usr / "lib" / "condor_pydagman").mkdir(parents=True)
    ours = program(usr / "lib" / "condor_pydagman" / "bin" / "condor_dagman")
    assert find_dagman("/nosuch/x", str(usr / "bin")) == ours


OPTIONS = SubmitOptions(dag_files=("t.dag",), auto_rescue=1)


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path) -> Path:
    Path("t.dag").write_text("JOB A a.sub\n")
    return work_directory


def touch(*names: str) -> None:
    for name in names:
        Path(name).touch()


def way(maximum: int = 100, **changes: Any) -> None:
    options = OPTIONS._replace(**changes)
    output = Output(out=print, err=lambda text: print(text, file=sys.stderr))
    clear_old_files(options, options.paths(), Config(max_rescue_num=maximum), output)


def left() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


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


@pytest.mark.parametrize(("chosen", "number"), [(0, 2), (1, 1)])
def test_rescue_file_is_announced_and_the_rest_may_stay(
    chosen: int, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    touch("t.dag.rescue001", "t.dag.rescue002", "t.dag.condor.sub")
    way(do_rescue_from=chosen)
    assert capsys.readouterr().out == f"Running rescue DAG {number}\n"
    with pytest.raises(FileError):
        way(auto_rescue=0)


def test_rescue_file_of_the_old_kind() -> None:
    touch("t.dag.rescue")
    way()
    with pytest.raises(FileError, match=r'ERROR: "t\.dag\.rescue" already exists\.\n\tYou'):
        way(auto_rescue=0, force=True)
