"""What is refused before the bindings are asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.cli import submission
from condor_pydagman.errors import PoolError
from condor_pydagman.names import DagPaths


@pytest.mark.parametrize(
    ("directory", "text", "shown"),
    [
        (b"d", "# Filename: x.dag\narguments = -Dag \udcff.dag\n", "arguments = -Dag \udcff.dag"),
        (b"d\xff", "# Filename: x.dag\n", "d\udcff"),
    ],
)
def test_a_name_that_is_not_utf_8(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    directory: bytes,
    text: str,
    shown: str,
) -> None:
    """condor_dagman, which reads the nodes log through the bindings, could never run it."""
    place = os.path.join(os.fsencode(tmp_path), directory)
    os.mkdir(place)
    monkeypatch.chdir(os.fsdecode(place))
    with pytest.raises(PoolError, match="what is not UTF-8: ") as caught:
        submission.offer(text, DagPaths("x.dag"), "", None)
    assert shown in str(caught.value)
    assert "Rename the file or the directory" in str(caught.value)
