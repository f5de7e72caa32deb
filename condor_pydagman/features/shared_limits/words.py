"""What a DAG has of limits that it shares with others, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.report.feature_words import Flow, Piece
from condor_pydagman.trace.overview import Overview
from condor_pydagman.words import number


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """What is taken of each limit."""
    for limit in seen.of_features.get("shared_limits", ()):
        yield Flow(_limit(limit))


def waits(seen: Overview) -> bool:
    """Whether something waits for a limit."""
    return any(limit["waiting"] for limit in seen.of_features.get("shared_limits", ()))


def _limit(limit: Mapping[str, Any]) -> list[Piece]:
    """What is taken of a limit that DAGs share, and what waits for it: a piece for each word."""
    taken = f"{number(limit['taken'])} of {number(limit['most'])} {limit['what']} in use"
    text = f"shared limit {limit['name']}: {taken}, {number(limit['own'])} by this DAG"
    waits = ""
    if limit["waiting"]:
        text += ","
        verb = "s are" if limit["waiting"] > 1 else " is"
        waits = f"{number(limit['waiting'])} {limit['waits']}{verb} waiting"
    return [(word, "") for word in text.split()] + [(word, "yellow") for word in waits.split()]
