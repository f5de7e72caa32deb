"""Data placement from Python: wrong arguments."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman import UsageError, transfer_file


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"checksum": "md5:12"}, "md5 has 32 hexadecimal digits"),
        ({"if_exists": "never"}, "not overwrite, skip or fail"),
        ({"source": "http:/h/a"}, "write http:// with two slashes"),
    ],
)
def test_wrong_arguments(words: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        transfer_file(**{"source": "/a", "destination": "/b", **words})
