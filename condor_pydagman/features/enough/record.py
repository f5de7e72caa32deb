"""The record that an ENOUGH is reached: DAGMan and those who read it have their words from here."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class EnoughRecord(NamedTuple):
    """An ENOUGH is reached: its line, and how many nodes were done then, in words."""

    line: str
    counts: str

    @property
    def text(self) -> str:
        """As the nodes log has it."""
        return f"{self.line}: {self.counts}"


def read_record(text: str) -> EnoughRecord:
    """The text of a record; without a line if it is none."""
    line, _, counts = text.rpartition(": ")
    return EnoughRecord(line, counts)
