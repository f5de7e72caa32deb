"""The command SKIPPED of rescue files, and how its line is read and written."""

from __future__ import annotations

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.syntax import NODE, fixed
from condor_pydagman.named_tuple import NamedTuple


class Skipped(NamedTuple):
    """SKIPPED: the node's RUN_IF was false, or all its parents were skipped; of a rescue file."""

    line: int
    node: str


LANGUAGE = (
    extension("SKIPPED <node>", "A node that was skipped, as in a rescue file.", after="PUBLISH"),
)
SYNTAX = (fixed("SKIPPED", Skipped, NODE),)
