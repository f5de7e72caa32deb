"""Stock's warnings about a submit description, from the bindings' reading of it."""

from __future__ import annotations

from typing import Any

from condor_pydagman.adapters import files, macros
from condor_pydagman.adapters.descriptions import BINDINGS, copy_of, expanded
from condor_pydagman.errors import FileError
from condor_pydagman.submitfile.submit_remarks import remarks

_TEXT = "PYDAGMAN_TEXT"  # a macro, only in a copy


def of_description(
    description: Any, text: str, *, written: str = "", name: str = "", by: str = "DAGMAN"
) -> list[str]:
    """Every warning about a description, in stock's order and words.

    Args:
        description: the bindings' reading of `text`; it is not changed.
        written: the part that its author wrote, if `text` has more.
        name: its name in messages.
        by: the program in messages, DAGMAN or condor_submit.
    """

    def expand(value: str) -> str:
        if "$" not in value:
            return value
        try:
            copy = copy_of(description)
            copy[_TEXT] = value
            return expanded(copy, _TEXT)
        except BINDINGS:
            return ""

    return remarks(
        dict(description),
        expand,
        queue=description.getQArgs(),
        text=text,
        written=written,
        read_file=_read_file,
        name=name,
        by=by,
        missing_units=_units_are_missed(),
    )


def _read_file(path: str) -> str | None:
    try:
        return files.read_text(path)
    except (OSError, FileError):
        return None


def _units_are_missed() -> bool:
    wanted = macros.expanded("SUBMIT_REQUEST_MISSING_UNITS") or ""
    return str(wanted).strip().lower() == "warn"
