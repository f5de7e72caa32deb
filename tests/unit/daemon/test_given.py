"""What features begin with: made when it is asked for, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.daemon.given import Given
from condor_pydagman.names import DagPaths
from tests import make


def test_what_a_feature_begins_with_is_made_once(tmp_path: Path) -> None:
    given = Given(make.dag("A"), DagPaths(str(tmp_path / "x.dag")))
    assert (len(given), list(given)) == (0, [])
    assert given["growth"] is given["growth"]
    assert given.get("cache") == {}
    assert list(given) == ["growth", "cache"]


@pytest.mark.parametrize("name", ["sites", "brake"])
def test_most_features_begin_with_nothing(tmp_path: Path, name: str) -> None:
    assert Given(make.dag("A"), DagPaths(str(tmp_path / "x.dag"))).get(name) is None
