"""Messages and exit codes of condor_dagman after unexpected exceptions."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from condor_pydagman.cli import dagman
from condor_pydagman.dagman_job.options import DagmanOptions


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ESTALE, errno.EROFS]
)
def test_an_error_of_the_machine_is_not_reported_as_a_bug(number: int) -> None:
    text, code = dagman._unexpected_error(
        OSError(number, "why", "t.dag.nodes.log"), DagmanOptions()
    )
    assert code == 3
    assert "why" in text
    assert "t.dag.nodes.log" in text
    assert "bug" not in text


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP])
@pytest.mark.parametrize(
    ("lock", "code"),
    [("empty", 1), ("begun", 3), ("empty/none", 1), ("can't be looked at" * 99, 3)],
)
def test_what_only_a_person_can_mend_ends_a_run_that_has_not_begun(
    tmp_path: Path, number: int, lock: str, code: int
) -> None:
    """The schedd would start DAGMan again for ever after any other exit code."""
    (tmp_path / "empty").touch()
    (tmp_path / "begun").write_text("1 2\n")
    options = DagmanOptions(dag_files=("t.dag",), lockfile=str(tmp_path / lock))
    text, found = dagman._unexpected_error(OSError(number, "why", "some/file"), options)
    assert (found, "bug" in text, "some/file" in text) == (code, False, True)


def test_too_little_memory_is_no_bug() -> None:
    text, code = dagman._unexpected_error(MemoryError(), DagmanOptions())
    assert (code, "bug" in text) == (3, False)


@pytest.mark.parametrize("error", [OSError(errno.EBADF, "why"), ValueError("why")])
def test_any_other_exception_is_reported_as_a_bug(error: Exception) -> None:
    text, code = dagman._unexpected_error(error, DagmanOptions())
    assert code == 4
    assert "this is a bug in condor_pydagman" in text
