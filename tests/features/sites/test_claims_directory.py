"""The claims of all DAGMans: what counts, and what does not."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from condor_pydagman.adapters import job_claims
from condor_pydagman.adapters.job_claims import BY_HAND
from condor_pydagman.adapters.shared_directory import label
from condor_pydagman.errors import FileError
from condor_pydagman.features.sites.adapters import claims_directory
from condor_pydagman.features.sites.adapters.claims_directory import ClaimsDirectory


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


def test_claims_of_a_dagman_by_hand_count_while_its_process_is_there(pool: Pool) -> None:
    """No queue has its number, and the queue may have a job with that number."""
    pool.queue.discard(os.getpid())
    pool.of(os.getpid(), BY_HAND).write("a.dag", [("g", "north")])
    assert pool.of(1).taken_by_others() == {"north": 1}
    process = subprocess.Popen(["true"])
    pool.queue.add(process.pid)
    pool.of(process.pid, BY_HAND).write("b.dag", [("g", "south")])
    process.wait()
    assert pool.of(1).taken_by_others() == {"north": 1}
    assert pool.of(os.getppid(), BY_HAND).taken_by_others() == {"north": 1}
    assert len(os.listdir(pool.path)) == 1


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


@pytest.mark.parametrize("kind", ["directory", "named pipe"])
def test_a_name_of_a_claims_file_on_something_else(pool: Pool, kind: str) -> None:
    """Any user can make it: a pipe whose other end is open gives neither bytes nor its end."""
    pool.of(2).write("b.dag", [("g", "south")])
    path = pool.path / f"claims.{os.geteuid()}.{'0' * 16}.3"
    writer = None
    if kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR)
    files = len(os.listdir("/proc/self/fd"))
    here = pool.of(1)
    assert here.taken_by_others() == {"south": 1}
    assert len(here.everything()) == 1
    here.close()
    assert len(os.listdir("/proc/self/fd")) == files
    if writer is not None:
        os.close(writer)


def test_claims_that_can_not_be_read_now_do_not_count_as_none(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.of(2).write("b.dag", [("g", "south")])
    here = pool.of(1)

    def fails(*_args: object, **_more: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(FileError, match=r"claims.*: Too many open files"):
        here.taken_by_others()


def test_the_claims_of_groups_with_long_names_count(pool: Pool) -> None:
    pool.of(1).write("a.dag", [("g" * 9999, "north")])
    assert pool.of(2).taken_by_others() == {"north": 1}


def test_more_claims_than_others_would_read_are_not_written(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_directory, "FILES", claims_directory.FILES._replace(max_bytes=100))
    one = pool.of(1)
    one.write("a.dag", [("g", "north")])
    with pytest.raises(FileError, match="need more than 100 bytes"):
        one.write("a.dag", [(f"g{number}", "north") for number in range(9)])
    assert pool.of(2).taken_by_others() == {"north": 1}


def test_a_user_who_has_very_large_files(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file may have many names; those that have another user's number are nobody's."""
    user = os.geteuid()
    pool.of(2).write("b.dag", [("g", "south")])
    size = os.stat(pool.path / pool.of(2).name).st_size
    files = claims_directory.FILES._replace(max_bytes_of_user=3 * size)
    monkeypatch.setattr(claims_directory, "FILES", files)
    for number in range(9):
        os.link(pool.path / pool.of(2).name, pool.path / f"claims.{user + 1}.{'0' * 16}.{number}")
    assert pool.of(1).taken_by_others() == {"south": 1}
    for number in range(3):
        os.link(pool.path / pool.of(2).name, pool.path / f"claims.{user}.{'0' * 16}.{number}")
    with pytest.raises(FileError, match=f"files of user {user} have more than"):
        pool.of(1).taken_by_others()


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
def test_the_directory_of_another_user_is_refused(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That user could give up the claims of others; so an administrator takes it over."""
    pool.of(1).write("a.dag", [("g", "north")])
    os.chown(pool.path, 65534, -1)
    monkeypatch.setattr(claims_directory, "DEFAULT", str(pool.path))
    for path in ("", str(pool.path)):
        with pytest.raises(FileError, match=f"with: chown root {pool.path}; PYDAGMAN_SITES_DIR"):
            ClaimsDirectory(path, "here", 2, set, pool.said.append)
    os.chown(pool.path, 0, -1)
    assert pool.of(2).taken_by_others() == {"north": 1}


@pytest.mark.parametrize("taken", ["", ".new"])
def test_who_takes_the_usual_name_keeps_nobody_from_a_site(pool: Pool, taken: str) -> None:
    """Numbers of coming DAGMan jobs can be foreseen."""
    usual = pool.of(1).name
    (pool.path / f"{usual}{taken}").mkdir()
    pool.of(1).write("a.dag", [("g", "north")])
    name = pool.of(1).name
    assert (name == usual) == bool(taken)
    assert pool.of(2).taken_by_others() == {"north": 1}
    assert not pool.of(1).taken_by_others()
    pool.of(1).write("a.dag", [("g", "south")])
    assert pool.of(1).name == name
    assert pool.of(2).taken_by_others() == {"south": 1}
    pool.of(1).remove()
    assert os.listdir(pool.path) == [f"{usual}{taken}"]


def test_the_file_of_an_older_version_is_continued(pool: Pool) -> None:
    name = f"claims.{os.geteuid()}.{label('here')}.1"
    (pool.path / name).write_text('{"version": 1, "dag": "a", "claims": [["g", "north"]]}\n')
    assert pool.of(2).taken_by_others() == {"north": 1}
    one = pool.of(1)
    assert one.name == name
    assert not one.taken_by_others()
    one.write("a.dag", [])
    assert os.listdir(pool.path) == [name]


def test_a_lock_that_somebody_keeps(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_claims, "LOCK_TIMEOUT_S", 0.1)
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
