"""All limits and what is taken of them, by the directory of claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters.shared_directory import private_paths
from condor_pydagman.features.shared_limits import directory, listing
from condor_pydagman.features.shared_limits.definitions import parse
from condor_pydagman.features.shared_limits.directory import (
    LimitsDirectory,
    OwnFile,
    file_name,
    make_round,
    open_directory,
    open_own_directory,
)
from condor_pydagman.features.shared_limits.fair_shares import Demand
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims
from condor_pydagman.features.shared_limits.listing import has_claim

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
    monkeypatch.setenv("HOME", str(tmp_path))
    for module in (listing, directory):
        monkeypatch.setattr(module, "DEFAULT", str(tmp_path / "usual"))
    monkeypatch.setattr(listing, "queue_name", lambda: HERE)
    monkeypatch.setattr(listing, "queued_dags", lambda clusters: 1 / 0)
    return place


def takes(claims: Path, cluster: int, nodes: int, *, own: bool = True) -> OwnFile:
    """A DAGMan that lives asks for places."""
    name = file_name(HERE, cluster)
    opened = lambda: open_own_directory(print) if own else open_directory(str(claims), print)  # noqa: E731
    file = OwnFile(name, opened)
    file.keep()
    limits = {one.key: one for one in parse("few = JOBS 3", "t", own=own)}
    seen = LimitsDirectory(opened(), HERE, name, lambda clusters: {}, own=own)
    demand = Demand((*limits,), (0, 0, 0, 0), (0, 0, 0, 0), nodes)
    make_round([seen], LimitClaims(f"{cluster}.dag", "0", {}), limits, [demand])
    seen.close()
    return file


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
    usual = Path(next(private_paths(listing.own_usual())))
    usual.rename(usual.with_name("moved"))
    assert seen(limits.rows()) == []
    second.close()
    limits.close()


def test_whose_file_is_there(claims: Path) -> None:
    for cluster, own in ((7, True), (8, False)):
        assert not has_claim(cluster)
        takes(claims, cluster, 2, own=own)
        assert has_claim(cluster)
    assert not has_claim(77)
