"""How destinations are compared, and which capacity they have."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.destinations import (
    capacity_of,
    destination_of,
    normal_destination,
)
from condor_pydagman.data_requests.urls import parse_url


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Nest.Example.org", "nest.example.org"),
        ("host:80", "host:80"),
        ("/scratch/", "/scratch"),
        ("/a/../b//c", "/b/c"),
        ("//scratch", "/scratch"),
        ("file:///scratch/x/", "/scratch/x"),
        ("s3://Results", "s3://results"),
        ("http://me:word@h:80/a/", "http://h:80/a"),
    ],
)
def test_a_destination_has_one_form(text: str, normal: str) -> None:
    assert normal_destination(text) == normal
    assert normal_destination(normal) == normal


def test_the_longest_name_counts() -> None:
    known = (("/scratch/", 5), ("/scratch/big", 9), ("nest", 1), ("http://nest/a", 2))
    assert capacity_of("/scratch/x", known) == ("/scratch", 5)
    assert capacity_of("/scratch/big/x", known) == ("/scratch/big", 9)
    assert capacity_of("/scratch/bigger", known) == ("/scratch", 5)
    assert capacity_of("/scratchy", known) is None
    assert capacity_of("http://nest/a/b", known) == ("http://nest/a", 2)
    assert capacity_of("ftp://nest:21/a/b", known) == ("nest", 1)
    assert capacity_of("/x", (("/", 3),)) == ("/", 3)
    url = parse_url("http://u:p@h/a/b?x=1")
    assert destination_of(url) == "http://h/a/b"
