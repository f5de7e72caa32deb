"""Sizes and durations."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.units import read_duration, read_size
from condor_pydagman.printable import size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("500", 500),
        ("200MB", 200 << 20),
        ("1.5 GiB", 3 << 29),
        ("2k", 2048),
        (".5kb", 512),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1", "3 apples", "1e400", "9" * 400, "1ib"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|no size|too large"):
        read_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("60 minutes", 3600), ("1.5h", 5400), ("2 Days", 172800)]
)
def test_durations(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "ever", "3 moons"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|no duration"):
        read_duration(text)


def test_for_a_person() -> None:
    assert [size_text(n) for n in (0, 999, 1000, 1 << 20, 1_500_000_000)] == [
        "0 bytes", "999 bytes", "1.0 kB", "1.0 MB", "1.4 GB"
    ]  # fmt: skip
