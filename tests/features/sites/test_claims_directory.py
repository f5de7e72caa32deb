"""The claims of all DAGMans: what counts, and what does not."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from condor_pydagman.adapters.shared_directory import label
from condor_pydagman.errors import FileError
from condor_pydagman.features.sites.adapters import claims_directory
from condor_pydagman.features.sites.adapters.claims_directory import (
    MAX_NAME,
    Claims,
    ClaimsDirectory,
    parse,
    text_of,
)
from condor_pydagman.features.sites.choice import NOBODY, Waits


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


def taken_by_others(claims: ClaimsDirectory) -> Counter[str]:
    """How many groups of others each site has."""
    return sum((one.has for one in claims.others()), Counter[str]())


def test_claims_of_others_count(pool: Pool) -> None:
    one, two = pool.of(1), pool.of(2)
    one.write("a.dag", [("g", "north"), ("h", "north")])
    two.write("b.dag", [("g", "south")])
    assert taken_by_others(one) == {"south": 1}
    assert taken_by_others(two) == {"north": 2}
    assert {found.dag for found in one.everything()} == {"a.dag", "b.dag"}
    two.write("b.dag", [])
    assert not taken_by_others(one)


def test_a_dagman_that_is_killed_keeps_its_claims_until_its_job_leaves_the_queue(
    pool: Pool,
) -> None:
    pool.of(1).write("a.dag", [("g", "north")])
    assert taken_by_others(pool.of(2)) == {"north": 1}
    pool.queue.discard(1)
    assert not taken_by_others(pool.of(2))
    assert not os.listdir(pool.path)


def test_what_a_process_was_killed_with_while_it_wrote_is_removed(pool: Pool) -> None:
    one = pool.of(1)
    left = [pool.path / f"{one.name}{middle}.new" for middle in ("", f".{'a' * 16}")]
    for path in left:
        path.write_text("half")
        os.utime(path, (1e9, 1e9))
    fresh = pool.path / f"{pool.of(3).name}.new"
    fresh.touch()
    assert not taken_by_others(pool.of(2))
    assert os.listdir(pool.path) == [fresh.name]


def test_claims_are_removed_at_the_end(pool: Pool) -> None:
    one = pool.of(1)
    one.write("a.dag", [("g", "north")])
    one.remove()
    assert not taken_by_others(pool.of(2))


def test_the_claims_of_groups_with_long_names_count(pool: Pool) -> None:
    pool.of(1).write("a.dag", [("g" * 9999, "north")])
    assert taken_by_others(pool.of(2)) == {"north": 1}


def test_more_claims_than_others_would_read_are_not_written(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_directory, "FILES", claims_directory.FILES._replace(max_bytes=100))
    one = pool.of(1)
    one.write("a.dag", [("g", "north")])
    with pytest.raises(FileError, match="need more than 100 bytes"):
        one.write("a.dag", [(f"g{number}", "north") for number in range(9)])
    assert taken_by_others(pool.of(2)) == {"north": 1}


@pytest.mark.parametrize("taken", ["", ".new"])
def test_who_takes_the_usual_name_keeps_nobody_from_a_site(pool: Pool, taken: str) -> None:
    """Numbers of coming DAGMan jobs can be foreseen."""
    usual = pool.of(1).name
    (pool.path / f"{usual}{taken}").mkdir()
    pool.of(1).write("a.dag", [("g", "north")])
    name = pool.of(1).name
    assert (name == usual) == bool(taken)
    assert taken_by_others(pool.of(2)) == {"north": 1}
    assert not taken_by_others(pool.of(1))
    pool.of(1).write("a.dag", [("g", "south")])
    assert pool.of(1).name == name
    assert taken_by_others(pool.of(2)) == {"south": 1}
    pool.of(1).remove()
    assert os.listdir(pool.path) == [f"{usual}{taken}"]


def test_the_file_of_an_older_version_is_continued(pool: Pool) -> None:
    name = f"claims.{os.geteuid()}.{label('here')}.1"
    (pool.path / name).write_text('{"version": 1, "dag": "a", "claims": [["g", "north"]]}\n')
    assert taken_by_others(pool.of(2)) == {"north": 1}
    one = pool.of(1)
    assert one.name == name
    assert not taken_by_others(one)
    one.write("a.dag", [])
    assert os.listdir(pool.path) == [name]


def test_a_full_disk(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = pool.of(1)
    one.write("a.dag", [("g", "north")])
    pool.path.chmod(0o555)
    if os.geteuid():
        with pytest.raises(FileError):
            one.write("a.dag", [])
    pool.path.chmod(0o1777)
    assert taken_by_others(pool.of(2)) == {"north": 1}


def test_of_a_dag_that_waits_at_too_many_sites_the_claims_are_written(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_directory, "FILES", claims_directory.FILES._replace(max_bytes=150))
    waits = Waits(9.0, "ab", {f"site {number}": (1, 2.0) for number in range(9)})
    pool.of(1).write("a.dag", [("g", "north")], waits)
    (other,) = pool.of(2).others()
    assert (other.has, other.waits) == ({"north": 1}, NOBODY)
    few = waits._replace(sites={"s": (1, 2.0)})
    pool.of(1).write("a.dag", [("g", "north")], few)
    assert pool.of(2).others()[0].waits == few


def test_what_is_written_is_read_back() -> None:
    waits = Waits(3.5, "ab", {'so"uth': (3, 1.25)})
    claims = Claims("a b.dag", (("g", "north"), ("s+h", 'so"uth\n')), waits)
    read = parse(text_of(*claims))
    assert read == claims
    assert read.counts() == {"north": 1, 'so"uth\n': 1}


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "null", "{" * 9999, '{"dag": 1, "claims": []}'),
        *('{"dag": "d", "claims": [["g"]]}', '{"dag": "d", "claims": [["g", 1]]}'),
        '{"dag": "d", "claims": [["g", "' + "x" * (MAX_NAME + 1) + '"]]}',
        *(
            '{"dag": "d", "claims": [], "waits": ' + waits + "}"
            for waits in (
                *("1", "[]", '[1, "a"]', '[1, "a", []]', "[1, 2, {}]", '["1", "a", {}]'),
                *('[1, "a", {"s": 1}]', '[1, "a", {"s": [1]}]', '[1, "a", {"s": [0, 1]}]'),
                *('[1, "a", {"s": [1e3, 1]}]', '[1, "a", {"s": [true, 1]}]'),
                *('[1, "a", {"s": [1, NaN]}]', '[Infinity, "a", {}]', '[1, "a", {"s": [1, "a"]}]'),
                '[1, "a", {"' + "x" * (MAX_NAME + 1) + '": [1, 1]}]',
                f'[{"9" * 999}, "a", {{}}]',
            )
        ),
    ],
)
def test_what_is_none(text: str) -> None:
    assert parse(text) is None
