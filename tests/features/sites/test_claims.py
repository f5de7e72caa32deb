"""The text of a claims file."""

from __future__ import annotations

import pytest

from condor_pydagman.features.sites.claims import MAX_NAME, Claims, parse, text_of


def test_what_is_written_is_read_back() -> None:
    claims = Claims("a b.dag", (("g", "north"), ("s+h", 'so"uth\n')))
    read = parse(text_of(*claims))
    assert read == claims
    assert read.counts() == {"north": 1, 'so"uth\n': 1}


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "null", "{" * 9999, '{"dag": 1, "claims": []}'),
        *('{"dag": "d", "claims": [["g"]]}', '{"dag": "d", "claims": [["g", 1]]}'),
        '{"dag": "d", "claims": [["g", "' + "x" * (MAX_NAME + 1) + '"]]}',
    ],
)
def test_what_is_none(text: str) -> None:
    assert parse(text) is None
