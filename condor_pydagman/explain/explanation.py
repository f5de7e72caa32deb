"""What an explanation consists of: notices, the answer in one sentence, the life of a node."""

from __future__ import annotations

from typing import Any

from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.named_tuple import NamedTuple


class Moment(NamedTuple):
    """Something in the life of a node, and when, in seconds since the epoch."""

    time: float
    text: str


class Explanation(NamedTuple):
    """All that is to be said of a DAG, or of a node of it."""

    dag: str  # its DAG file
    headline: str  # the answer in a sentence
    findings: tuple[Notice, ...] = ()  # the most important first
    node: str = ""  # the node's full name, '' for the whole DAG
    life: tuple[Moment, ...] = ()  # what has happened to the node

    @property
    def is_wrong(self) -> bool:
        """Whether there is a problem."""
        return any(finding.weight is Weight.PROBLEM for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """As an object for JSON."""
        return {
            "dag": self.dag,
            "node": self.node,
            "wrong": self.is_wrong,
            "headline": self.headline,
            "findings": [finding.to_json() for finding in self.findings],
            "life": [moment._asdict() for moment in self.life],
        }
