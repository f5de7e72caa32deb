"""What condor_dagman makes of an exception that nobody has expected."""

from __future__ import annotations

import errno

import pytest

from condor_pydagman.cli import dagman


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.ENOSPC, errno.EMFILE, errno.ESTALE, errno.EROFS]
)
def test_a_trouble_of_the_machine_is_no_bug(number: int) -> None:
    text, code = dagman._mishap(OSError(number, "why", "t.dag.nodes.log"))
    assert code == 3
    assert "why" in text
    assert "t.dag.nodes.log" in text
    assert "bug" not in text


@pytest.mark.parametrize("error", [OSError(errno.EBADF, "why"), ValueError("why")])
def test_anything_else_is_one(error: Exception) -> None:
    text, code = dagman._mishap(error)
    assert code == 4
    assert "this is a bug in condor_pydagman" in text
