"""Which HTCondor is fetched, and when one that is there counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt, fetch


def make_release(prefix: Path) -> None:
    """What of a release is looked for, without the stamp."""
    for name in ("bin/condor_submit", "sbin/condor_master", "libexec/condor/condor_shared_port"):
        (prefix / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / "usr" / name).touch()
    for name in ("lib/condor", "share"):
        (prefix / "usr" / name).mkdir(parents=True)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("25.14.1+dfsg-1", True),
        ("24.12.1", True),
        ("24.9.2", False),
        ("25.0.1", True),
        ("23.9.6+dfsg-2", False),
        ("", False),
    ],
)
def test_new_enough(version: str, expected: bool) -> None:
    assert fetch.new_enough(version) is expected


def test_source_line() -> None:
    line = fetch.source_line("ubuntu", "http://m/u", "devel", Path("/k.gpg"))
    assert line == "deb [signed-by=/k.gpg] http://m/u devel main universe"


def test_a_release_without_stamp_or_moved_does_not_count(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    make_release(prefix)
    assert fetch.cached(tmp_path) is None
    (prefix / fetch.STAMP).write_text("/elsewhere/prefix\n")
    assert fetch.cached(tmp_path) is None
    (prefix / fetch.STAMP).write_text(f"{prefix}\n")
    found = fetch.cached(tmp_path)
    assert found is not None
    assert found.release == prefix / "usr"


@pytest.mark.parametrize("open_to_all", ["", "htcondor", "htcondor/prefix"])
def test_a_release_that_others_can_change_is_not_run(tmp_path: Path, open_to_all: str) -> None:
    """What is planted there names itself in its stamp, as the one that was fetched does."""
    prefix = tmp_path / "htcondor/prefix"
    make_release(prefix)
    (prefix / fetch.STAMP).write_text(f"{prefix}\n")
    assert fetch.fetch(tmp_path / "htcondor", print).release == prefix / "usr"
    (tmp_path / open_to_all).chmod(0o777)
    with pytest.raises(PoolError, match=r"everybody may write to it.*that only you may write to"):
        fetch.fetch(tmp_path / "htcondor", print)


def test_what_was_fetched_is_used_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_release(tmp_path / "prefix")
    (tmp_path / "prefix" / fetch.STAMP).write_text(f"{tmp_path}/prefix\n")
    monkeypatch.delattr(fetch, "alone")
    assert fetch.fetch(tmp_path, print).release == tmp_path / "prefix/usr"


def test_where_htcondor_can_not_run_none_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(PoolError, match=r"path with ' ' in it; set XDG_CACHE_HOME"):
        fetch.fetch(tmp_path / "a b", print)
    assert not (tmp_path / "a b").exists()


def test_what_could_not_be_fetched_whole_takes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(archive: apt.Apt) -> None:
        (archive.home / "lists/half").write_text("half of a list")
        raise PoolError("no space left on device", transient=True)

    monkeypatch.setattr(apt, "available", lambda: True)
    monkeypatch.setattr(fetch, "_choose_suite", fail)
    with pytest.raises(PoolError, match="no space left"):
        fetch.fetch(tmp_path, print)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
