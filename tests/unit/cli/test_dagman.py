"""Messages and exit codes of condor_dagman after unexpected exceptions."""

from __future__ import annotations

import errno

import pytest

from condor_pydagman.cli import dagman


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ESTALE, errno.EROFS]
)
def test_an_error_of_the_machine_is_not_reported_as_a_bug(number: int) -> None:
    text, code = dagman._unexpected_error(OSError(number, "why", "t.dag.nodes.log"))
    assert code == 3
    assert "why" in text
    assert "t.dag.nodes.log" in text
    assert "bug" not in text


@pytest.mark.parametrize("error", [OSError(errno.EBADF, "why"), ValueError("why")])
def test_any_other_exception_is_reported_as_a_bug(error: Exception) -> None:
    text, code = dagman._unexpected_error(error)
    assert code == 4
    assert "this is a bug in condor_pydagman" in text
