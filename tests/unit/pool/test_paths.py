"""Where pools and the fetched HTCondor are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.pool import personal


@pytest.mark.parametrize(
    ("environ", "shared", "expected"),
    [
        ({"PYDAGMAN_POOL": "/mine", "HOME": "/h"}, True, "/mine"),
        ({"XDG_DATA_HOME": "/data", "HOME": "/h"}, False, "/data/condor_pydagman/pool"),
        ({"XDG_DATA_HOME": "data", "HOME": "/h"}, False, "/h/.local/share/condor_pydagman/pool"),
        ({"HOME": "/h"}, False, "/h/.local/share/condor_pydagman/pool"),
        ({"HOME": "/h"}, True, "/var/lib/condor_pydagman/pool"),
    ],
)
def test_pool_directory(environ: dict[str, str], shared: bool, expected: str) -> None:
    assert personal.pool_directory(environ, shared) == Path(expected)


def test_cache_directory() -> None:
    expected = Path("/h/.cache/condor_pydagman/htcondor")
    assert personal.cache_directory({"HOME": "/h"}, shared=False) == expected
