"""Files that one process lists for others."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import pytest

from condor_pydagman.data_requests.faults import Fault
from condor_pydagman.placement.work import SharedFiles
from tests.placement.helpers import transfer

FILE = transfer(
    "ftp://me:pw@h:21/\udcff ü",
    "/b",
    ways=("direct",),
    stall_timeout_s=1.5,
    alt_protocols=(("a", "b"),),
)


@pytest.fixture
def files() -> Iterator[SharedFiles]:
    with contextlib.closing(SharedFiles()) as made:
        yield made


def test_what_is_put_in_is_taken_once(files: SharedFiles) -> None:
    assert files.take() is None
    assert files.give(7, FILE, 0)
    assert files.take() == (7, FILE)
    assert files.take() is None
    assert not files.is_over


def test_the_end_comes_after_the_last_file(files: SharedFiles) -> None:
    assert files.give(7, FILE, 0)
    files.end_giving()
    assert files.take() == (7, FILE)
    assert not files.is_over
    assert files.take() is None
    assert files.is_over


def test_there_is_room_for_a_few(files: SharedFiles) -> None:
    given = next(number for number in itertools.count() if not files.give(number, FILE, 0))
    assert given > 10
    while (taken := files.take()) is not None:
        given -= 1
    assert taken is None
    assert given == 0
    assert files.give(0, FILE, 0)


def test_a_file_for_which_there_is_never_room(files: SharedFiles) -> None:
    with pytest.raises(Fault, match="too long"):
        files.give(0, FILE._replace(arguments=("x" * 10_000_000,)), 0)
