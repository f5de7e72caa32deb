"""What condor_submit_dag writes: where its parts come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.dagman_job.dagman_submit_file import environment, find_dagman, insert_lines
from condor_pydagman.dagman_job.options import SubmitOptions
from condor_pydagman.errors import FileError, UsageError

pytestmark = pytest.mark.usefixtures("work_directory")


def test_imported_variables_never_win() -> None:
    options = SubmitOptions(dag_files=("t.dag",), import_env=True, insert_env=("B=2", '"C=3"'))
    current = {"A": "1", "B": "1", "_CONDOR_DAGMAN_LOG": "other", "_CONDOR_X": "y"}
    assert environment(options, options.paths(), {"_CONDOR_X": "x", "_CONDOR_Y": ""}, current) == {
        "A": "1",
        "B": "2",
        "C": "3",
        "_CONDOR_DAGMAN_LOG": "t.dag.dagman.out",
        "_CONDOR_MAX_DAGMAN_LOG": "0",
        "_CONDOR_X": "x",
    }
    with pytest.raises(UsageError, match="Failed to add =1 to"):
        environment(SubmitOptions(dag_files=("t",), insert_env=("=1",)), options.paths(), {}, {})


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\n# c\n  y = 2  \n\nz=\\\n3\n", ["", "# c", "y = 2", "", "z=3"]),
        ("a=1\r\nb=2", ["a=1", "b=2"]),
        ("a=\\", ["a="]),
        ("", []),
    ],
)
def test_insert_lines(text: str, lines: list[str]) -> None:
    Path("ins").write_bytes(text.encode())
    assert insert_lines("ins") == lines


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
