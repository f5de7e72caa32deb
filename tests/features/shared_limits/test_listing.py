"""All limits and what is taken of them, by the directory of claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.features.shared_limits import listing
from condor_pydagman.features.shared_limits.definitions import parse
from condor_pydagman.features.shared_limits.directory import (
    LimitsDirectory,
    OwnFile,
    file_name,
    has_file,
    open_directory,
)
from condor_pydagman.features.shared_limits.fair_shares import Demand
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims

HERE = "here /spool"


@pytest.fixture
def claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that is configured; there is one limit."""
    place = tmp_path / "claims"
    place.mkdir()
    place.chmod(0o1777)
    monkeypatch.setattr(listing.configured, "own_path", lambda: str(tmp_path / "limits"))
    (tmp_path / "limits").write_text("few = JOBS 3\n")
    monkeypatch.setattr(listing, "lookup", lambda name: str(place) if "DIR" in name else None)
    monkeypatch.setattr(listing, "queue_name", lambda: HERE)
    monkeypatch.setattr(listing, "queued_dags", lambda clusters: 1 / 0)
    return place


def takes(claims: Path, cluster: int, nodes: int) -> OwnFile:
    """A DAGMan that lives asks for places."""
    name = file_name(HERE, cluster)
    own = OwnFile(name, lambda: open_directory(str(claims), print))
    own.keep()
    limits = {one.key: one for one in parse("few = JOBS 3", "t", own=True)}
    seen = LimitsDirectory(open_directory(str(claims), print), HERE, name, lambda clusters: {})
    demand = Demand(("~few",), (0, 0, 0, 0), (0, 0, 0, 0), nodes)
    seen.round(LimitClaims(f"{cluster}.dag", "0", {}), limits, [demand])
    seen.close()
    return own


def seen(found: list[listing.LimitRow]) -> list[tuple[int, int, int]]:
    (row,) = found
    return [(one.cluster, one.taken, one.waiting) for one in row.dags]


def test_it_is_read_again_and_again(claims: Path) -> None:
    limits = listing.LimitsListing()
    assert seen(limits.rows()) == []
    first = takes(claims, 7, 2)
    assert seen(limits.rows()) == [(7, 2, 0)]
    second = takes(claims, 8, 2)
    assert seen(limits.rows()) == [(7, 2, 0), (8, 1, 1)]
    assert seen(listing.all_limits()) == [(7, 2, 0), (8, 1, 1)]
    first.remove()
    assert seen(limits.rows()) == [(8, 1, 1)]
    claims.rename(claims.with_name("moved"))
    assert seen(limits.rows()) == []
    second.close()
    limits.close()


def test_whose_file_is_there(claims: Path) -> None:
    assert not has_file(str(claims), 7)
    takes(claims, 7, 2)
    assert has_file(str(claims), 7)
    assert not has_file(str(claims), 77)
