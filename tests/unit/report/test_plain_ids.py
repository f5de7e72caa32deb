"""Names as identifiers."""

from __future__ import annotations

from condor_pydagman.report.wfformat import plain_ids


def test_names_that_are_identifiers_stay_and_others_get_one_of_their_own() -> None:
    names = ["S+b", "S_b", "S b", "a.b-C_1", "\u00e9", ""]
    assert plain_ids(names) == {
        "S+b": "S_b-2", "S_b": "S_b", "S b": "S_b-3", "a.b-C_1": "a.b-C_1", "\u00e9": "_", "": "_-2"
    }  # fmt: skip
