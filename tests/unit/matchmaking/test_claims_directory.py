"""The claims of all DAGMans: what counts, and what does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.matchmaking import claims_directory
from condor_pydagman.matchmaking.claims_directory import ClaimsDirectory


class Pool:
    """DAGMans of one access point, and the clusters in its queue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.queue: set[int] = {1, 2, 3}
        self.said: list[str] = []

    def of(self, cluster: int, schedd: str = "here") -> ClaimsDirectory:
        return ClaimsDirectory(
            str(self.path), schedd, cluster, lambda asked: self.queue & set(asked), self.said.append
        )


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    path = tmp_path / "claims"
    path.mkdir()
    path.chmod(0o1777)
    return Pool(path)


def test_claims_of_others_count(pool: Pool) -> None:
    one, two = pool.of(1), pool.of(2)
    one.write("a.dag", [("g", "north"), ("h", "north")])
    two.write("b.dag", [("g", "south")])
    assert one.taken_by_others() == {"south": 1}
    assert two.taken_by_others() == {"north": 2}
    assert {found.dag for found in one.everything()} == {"a.dag", "b.dag"}
    two.write("b.dag", [])
    assert not one.taken_by_others()


def test_a_dagman_that_is_killed_keeps_its_claims_until_its_job_leaves_the_queue(
    pool: Pool,
) -> None:
    pool.of(1).write("a.dag", [("g", "north")])
    assert pool.of(2).taken_by_others() == {"north": 1}
    pool.queue.discard(1)
    assert not pool.of(2).taken_by_others()
    assert not os.listdir(pool.path)


def test_of_other_schedds_nothing_is_known(pool: Pool) -> None:
    pool.of(9, "there").write("a.dag", [("g", "north")])
    assert pool.of(1).taken_by_others() == {"north": 1}


def test_claims_are_removed_at_the_end(pool: Pool) -> None:
    one = pool.of(1)
    one.write("a.dag", [("g", "north")])
    one.remove()
    assert not pool.of(2).taken_by_others()


def test_files_that_are_none(pool: Pool) -> None:
    here = pool.of(1)
    user, mark = os.geteuid(), here.name.split(".")[2]
    (pool.path / f"claims.{user + 1}.{mark}.2").write_text('{"dag":"d","claims":[["g","north"]]}')
    (pool.path / f"claims.{user}.{mark}.2").write_text("nonsense")
    (pool.path / "claims.x.y.z").write_text('{"dag":"d","claims":[["g","north"]]}')
    os.mkfifo(pool.path / f"claims.{user}.{mark}.3")
    (pool.path / f"claims.{user}.{'0' * 16}.3").symlink_to("/etc/passwd")
    assert not here.taken_by_others()


@pytest.mark.parametrize("wrong", ["a file", "open to all"])
def test_a_directory_that_cannot_be_used_is_replaced_by_none(pool: Pool, wrong: str) -> None:
    """In a directory of the user's own the claims of other users would not be seen."""
    pool.path.rmdir()
    if wrong == "a file":
        pool.path.touch()
    else:
        pool.path.mkdir()
        pool.path.chmod(0o777)
    with pytest.raises(FileError, match=f"claims of sites, {pool.path}: .*PYDAGMAN_SITES_DIR may"):
        pool.of(1)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_the_usual_directory_is_used_whoever_has_made_it(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first user of the access point makes it; the claims in it are those of all users."""
    os.chown(pool.path, 65534, -1)
    monkeypatch.setattr(claims_directory, "DEFAULT", str(pool.path))
    ClaimsDirectory("", "here", 1, set, pool.said.append).write("a.dag", [("g", "north")])
    assert len(os.listdir(pool.path)) == 1
    assert "could remove files of others in it" in pool.said[0]
    assert "PYDAGMAN_SITES_DIR" in pool.said[0]


def test_a_lock_that_somebody_keeps(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims_directory, "LOCK_TIMEOUT_S", 0.1)
    refused = pytest.raises(FileError, match="locked by another process")
    with pool.of(1).decision(), refused, pool.of(2).decision():
        pass


def test_a_full_disk(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = pool.of(1)
    one.write("a.dag", [("g", "north")])
    pool.path.chmod(0o555)
    if os.geteuid():
        with pytest.raises(FileError):
            one.write("a.dag", [])
    pool.path.chmod(0o1777)
    assert pool.of(2).taken_by_others() == {"north": 1}
