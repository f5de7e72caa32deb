"""What stock's tools warn of in a submit description, from what the bindings make of it."""

from __future__ import annotations

from typing import Any

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, copied, expanded
from condor_pydagman.graph.lint.submit_remarks import remarks

_TEXT = "PYDAGMAN_TEXT"  # a macro of ours, in a copy


def of_description(
    description: Any, text: str, *, written: str = "", name: str = "", by: str = "DAGMAN"
) -> list[str]:
    """Every warning about a description, in stock's order and words.

    Args:
        description: what the bindings made of `text`; it is not changed.
        written: what its author wrote, if `text` has more.
        name: how messages call it.
        by: who reads it, DAGMAN or condor_submit.
    """

    def expand(value: str) -> str:
        if "$" not in value:
            return value
        try:
            copy = copied(description)
            copy[_TEXT] = value
            return expanded(copy, _TEXT)
        except BINDINGS:
            return ""

    return remarks(
        dict(description),
        expand,
        queue=description.getQArgs(),
        text=written or text,
        name=name,
        by=by,
        missing_units=_units_are_missed(),
    )


def _units_are_missed() -> bool:
    wanted = htcondor2.param.get("SUBMIT_REQUEST_MISSING_UNITS") or ""
    return str(wanted).strip().lower() == "warn"
