"""How a FEEDER does, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.named_tuple import NamedTuple

ATTRIBUTE = "PYDAGMAN_Feeder"  # of DAGMan's job ad, which shows it


class FeederReport(NamedTuple):
    """How a FEEDER does.

    `state` is "waits" (for nodes to end, or for another try), "runs", "ended" or "failed";
    `feedings` counts what it has given, `nodes` the nodes of that; `error` is why it has failed
    last, '' if it did well after that.
    """

    state: str
    feedings: int
    nodes: int
    error: str = ""

    @property
    def text(self) -> str:
        """The same, for people."""
        return feeder_text(*self)


def has_failed_last(text: str) -> bool:
    """Whether the last run of the FEEDER has failed, by such a text."""
    return "; " in text


def adds_no_more(text: str) -> bool:
    """Whether the FEEDER is done, or has failed for good, by such a text."""
    return text.startswith(("ended", "failed"))


def info_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """What `condor_pydagman steer info` says of it, by DAGMan's answer."""
    told = answer.get("feeder")
    if told:
        yield "feeder: " + feeder_text(*map(told.get, ("state", "feedings", "nodes", "error")))


def feeder_text(state: str, feedings: int, nodes: int | None = None, error: str = "") -> str:
    """How the FEEDER of a DAG does, for people; `state` as of `FeederReport`, '' if that is not
    known."""
    parts = [state] if state else []
    parts.append(f"{feedings:,} feeding{'s' * (feedings != 1)}")
    if nodes is not None:
        parts.append(f"{nodes:,} node{'s' * (nodes != 1)}")
    return ", ".join(parts) + (f"; {error}" if error else "")
