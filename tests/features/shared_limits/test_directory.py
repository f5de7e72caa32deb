"""The shared directory: whose places count, kills, orphans' files, a lock, a full disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.shared_directory import label
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.shared_limits import directory as module
from condor_pydagman.features.shared_limits import limit_claims
from condor_pydagman.features.shared_limits.definitions import Kind, Limit, parse
from condor_pydagman.features.shared_limits.directory import (
    LimitsDirectory,
    OwnFile,
    Queued,
    file_name,
    make_round,
    open_directory,
    open_own_directory,
)
from condor_pydagman.features.shared_limits.fair_shares import Demand, Grant
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims, Part, PlacesClaim


class Dagman:
    """One DAGMan."""

    def __init__(self, point: AccessPoint, cluster: int, schedd: str) -> None:
        self.point = point
        name = file_name(schedd, cluster)
        self.own = OwnFile(name, lambda: open_directory(str(point.path), point.said.append))
        self.seen = LimitsDirectory(
            open_directory(str(point.path), point.said.append), schedd, name, point.ask
        )

    def wants(self, nodes: int, used: int = 0, kept: int | None = None) -> Grant:
        """Make a round; what it may use."""
        self.seen.own_name = self.own.keep()
        most = used if kept is None else kept
        demand = Demand(("a",), (used, 0, 0, 0), (most, 0, 0, 0), nodes)
        claims = LimitClaims(f"{self.own.name}.dag", self.own.name[-16:], {})
        return make_round([self.seen], claims, self.point.limits, [demand]).grants[0]

    def jobs(self, nodes: int, used: int = 0) -> int:
        return self.wants(nodes, used).places[Kind.JOBS]

    def is_killed(self) -> None:
        self.own.close()


class AccessPoint:
    """The directory, and the queue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.said: list[str] = []
        self.limits: Mapping[str, Limit] = {one.key: one for one in parse("a = JOBS 10", "test")}
        self.queue: dict[int, Queued] = {}
        self.asked: list[list[int]] = []
        self.dagmans: list[Dagman] = []

    def ask(self, clusters: list[int]) -> dict[int, Queued]:
        self.asked.append(clusters)
        return {one: self.queue[one] for one in clusters if one in self.queue}

    def dagman(self, cluster: int, schedd: str = "here") -> Dagman:
        self.dagmans.append(Dagman(self, cluster, schedd))
        return self.dagmans[-1]


@pytest.fixture
def access_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AccessPoint]:
    path = tmp_path / "limits"
    path.mkdir()
    path.chmod(0o1777)
    found = AccessPoint(path)
    yield found
    for one in found.dagmans:
        one.own.close()
        one.seen.close()


def test_places_of_those_that_live_count_without_a_look_at_the_queue(
    access_point: AccessPoint,
) -> None:
    one, two = access_point.dagman(1), access_point.dagman(2)
    assert one.jobs(7) == 7
    assert two.jobs(7) == 3
    assert one.jobs(0, used=2) == 2
    assert two.jobs(7) == 7
    assert not access_point.asked


def test_of_a_killed_dagman_what_is_in_the_queue_counts(
    access_point: AccessPoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FILES", module.FILES._replace(check_s=0.0))
    one, two = access_point.dagman(1), access_point.dagman(2)
    one.jobs(8)
    one.is_killed()
    access_point.queue[1] = Queued(held=False, nodes=3, idle=0)
    assert two.jobs(20) == 7
    access_point.queue[1] = Queued(held=True, nodes=1, idle=0)
    assert two.jobs(20) == 9
    again = access_point.dagman(1)
    assert again.jobs(0, used=1) == 1  # its nodes log says so
    del access_point.queue[1]
    again.is_killed()
    assert two.jobs(20) == 10
    assert not os.path.exists(access_point.path / one.own.name)


def test_a_queue_that_can_not_be_asked_frees_nothing(
    access_point: AccessPoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hangs(clusters: list[int]) -> dict[int, Queued]:
        raise PoolError("no answer", transient=True)

    one = access_point.dagman(1)
    one.jobs(8)
    one.is_killed()
    monkeypatch.setattr(access_point, "ask", hangs)
    assert access_point.dagman(2).jobs(20) == 2


def test_who_takes_the_usual_name_keeps_nobody_from_a_place(access_point: AccessPoint) -> None:
    one, two = access_point.dagman(1), access_point.dagman(2)
    usual = access_point.path / one.own.name
    usual.mkdir()
    assert one.jobs(7) == 7
    name = one.own.name
    assert two.jobs(3) == 3
    one.is_killed()
    access_point.queue[1] = Queued(held=False, nodes=7, idle=0)
    again = access_point.dagman(1)
    assert again.jobs(0, used=7) == 7
    assert again.own.name == name
    again.own.remove()
    assert sorted(os.listdir(access_point.path)) == sorted([usual.name, two.own.name])


def test_the_file_of_an_older_version_is_continued(access_point: AccessPoint) -> None:
    """Its name is the usual one; what it says is what it says now."""
    one, two = access_point.dagman(1), access_point.dagman(2)
    name = f"limits.{os.geteuid()}.{label('here')}.1"
    claim = LimitClaims(
        "old.dag", "old", {"a": Part({Kind.JOBS: PlacesClaim(6, 6, 6, 0.0, 6)}, ())}
    )
    (access_point.path / name).write_bytes(limit_claims.text_of(claim).ljust(4096))
    access_point.queue[1] = Queued(held=False, nodes=6, idle=0)
    assert two.jobs(4) == 4
    assert one.jobs(0, used=6) == 6
    assert one.own.name == name
    assert two.jobs(1, used=4) == 4
    assert len(os.listdir(access_point.path)) == 2


def test_an_own_file_that_is_removed_is_made_again(access_point: AccessPoint) -> None:
    one, two = access_point.dagman(1), access_point.dagman(2)
    one.jobs(4)
    (access_point.path / one.own.name).unlink()
    assert one.jobs(0, used=4) == 4
    assert two.jobs(20) == 6


def test_on_a_full_disk_places_are_given_back_but_no_new_dagman_gets_any(
    access_point: AccessPoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = access_point.dagman(1), access_point.dagman(2)
    one.jobs(10)

    def full(*arguments: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    write = os.write
    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(FileError, match="No space left on device"):
        two.jobs(10)
    assert not os.path.exists(access_point.path / two.own.name)
    assert one.jobs(0, used=3) == 3
    monkeypatch.setattr(os, "write", write)
    assert two.jobs(10) == 7


def test_a_users_own_limit_is_no_matter_of_others(
    access_point: AccessPoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file in the directory of all users says of one counts nowhere."""
    monkeypatch.setattr(module, "DEFAULT", str(access_point.path.with_name("usual")))
    access_point.limits = {one.key: one for one in parse("a = JOBS 10", "test", own=True)}
    one = access_point.dagman(1)
    directory = open_own_directory(access_point.said.append)
    users = LimitsDirectory(directory, "here", one.own.name, access_point.ask, own=True)
    file = OwnFile(one.own.name, lambda: open_own_directory(access_point.said.append))
    file.keep()
    demand = Demand(("~a",), nodes=20)
    claims = LimitClaims("d", "0123", {})
    outcome = make_round([users], claims, access_point.limits, [demand])
    assert outcome.grants[0].places[Kind.JOBS] == 10
    one.own.keep()
    access_point.path.joinpath(one.own.name).write_bytes(limit_claims.text_of(outcome.claims))
    assert one.seen.everything()[0].says.parts == {}
    (entry,) = users.everything()
    file.remove()
    users.close()
    assert entry.lives and entry.user == os.geteuid() and entry.cluster == 1
    assert entry.says.claim("~a", Kind.JOBS).held == 10
