"""The text of a DAGMan's file: read as it was written, and nothing in it is trusted."""

from __future__ import annotations

import pytest

from condor_pydagman.features.shared_limits.definitions import Kind
from condor_pydagman.features.shared_limits.limit_claims import (
    LimitClaims,
    Part,
    PlacesClaim,
    parse,
    text_of,
)

STAKES = LimitClaims(
    "/x/a.dag",
    "0123",
    {
        "tape": Part({Kind.JOBS: PlacesClaim(5, 4, 9, 12.5, 5)}, ((7.0, 2),), 3, 8.0),
        "~own": Part({}),
    },
)


def test_it_is_read_as_it_was_written() -> None:
    data = text_of(STAKES)
    assert parse(data) == STAKES
    assert len(data) % 4096 == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 4096,
        b"[]",
        b'{"dag": 1, "address": "", "limits": {}}',
        b'{"dag": "", "address": "", "limits": {"a": 1}}',
        b'{"dag": "", "address": "", "limits": {"a": {"places": {"9": [1,1,1,1,1]}, "starts": [],'
        b' "wanted": 0, "since": 0}}}',
        b'{"dag": "", "address": "", "limits": {"a": {"places": {"0": [-1,1,1,1,1]}, "starts": [],'
        b' "wanted": 0, "since": 0}}}',
        b'{"dag": "", "address": "", "limits": {"a": {"places": {"0": [1]}, "starts": [],'
        b' "wanted": 0, "since": 0}}}',
        b'{"dag": "", "address": "", "limits": {"a": {"places": {}, "starts": [[1, 1e999]],'
        b' "wanted": 0, "since": 0}}}',
        b"[" * 100_000,
    ],
)
def test_what_is_none_of_ours_does_not_count(data: bytes) -> None:
    assert parse(data) is None
