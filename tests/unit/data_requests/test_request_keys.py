"""The table of keys, and docs/data-placement.md, which has them all."""

from __future__ import annotations

import re
from pathlib import Path

from condor_pydagman.data_requests.faults import SEVERAL_EXIT_CODE, FaultKind
from condor_pydagman.data_requests.request_keys import BY_NAME, KEYS, TYPES
from condor_pydagman.data_requests.requests import Allocate, Release, Transfer

PAGE = (Path(__file__).resolve().parents[3] / "docs/data-placement.md").read_text("utf-8")


def test_a_key_sets_a_field_of_every_request_that_has_it() -> None:
    fields = {"transfer": Transfer, "allocate": Allocate, "release": Release}
    for key in KEYS:
        for kind in key.types:
            if key.field:
                assert key.field in fields[kind]._fields, key.name
    assert set(TYPES.values()) == set(fields)


def test_the_page_has_every_key() -> None:
    for name in BY_NAME:
        assert f"`{name}`" in PAGE


def test_the_page_has_every_exit_code() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert told == {0, 1, SEVERAL_EXIT_CODE, *(kind.exit_code for kind in FaultKind)}
