"""The record that a brake acts, from which DAGMan and those who read of it have their words."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class BrakeRecord(NamedTuple):
    """A brake acts: in which round (how often brakes were taken back before), what it does, why."""

    round: str
    effect: str
    name: str
    reason: str

    @property
    def text(self) -> str:
        """As the nodes log has it."""
        return f"{self.round} {self.effect} {self.why}"

    @property
    def why(self) -> str:
        """As job ad and node status file have it."""
        return f"{self.name}: {self.reason}"


def read_record(text: str) -> BrakeRecord:
    """The text of a record."""
    in_round, _, rest = text.partition(" ")
    effect, _, what = rest.partition(" ")
    name, _, reason = what.partition(": ")
    return BrakeRecord(in_round, effect, name, reason)
