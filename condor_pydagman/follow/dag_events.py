"""The stream of what happens in a DAG: names, fields, and the JSON form of an event.

The names and fields are an interface (docs/watching.md): within one VERSION they are only added to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from condor_pydagman.feature_table import DAG_EVENTS
from condor_pydagman.named_tuple import NamedTuple

VERSION = 1

NAMES = DAG_EVENTS


_to_json = json.JSONEncoder(separators=(",", ":")).encode


class DagEvent(NamedTuple):
    """One event.

    Attributes:
        name: one of NAMES.
        time: when it happened, seconds since the epoch.
        node: the node's full name; '' for an event of the whole DAG.
        attempt: of the node, 0 for the first; -1 for an event of the whole DAG.
        job: `CLUSTER.PROC`, '' if it is about no job.
        data: further fields, by name (docs/watching.md).
        id: position in the stream; a stream that is asked for what comes after it begins with the
            next event.  Of the events of one moment only the last may have one.
        dag: the DAG file.
    """

    name: str
    time: float
    node: str = ""
    attempt: int = -1
    job: str = ""
    data: Mapping[str, Any] = {}
    id: str = ""
    dag: str = ""

    def placed(self, position: str, dag: str) -> DagEvent:
        """The same event with its place in the stream of a DAG."""
        event: DagEvent = tuple.__new__(DagEvent, (*self[:6], position, dag))  # half the time
        return event

    def to_json(self) -> str:
        """The event as one line of JSON, without the end of line.

        Bytes that are not UTF-8 are written as surrogate escapes, `\\udcXX`.
        """
        fields: dict[str, Any] = {"v": VERSION, "id": self.id, "time": round(self.time, 3)}
        fields["event"] = self.name
        if self.dag:
            fields["dag"] = self.dag
        if self.node:
            fields["node"] = self.node
        if self.attempt >= 0:
            fields["attempt"] = self.attempt
        if self.job:
            fields["job"] = self.job
        fields.update(self.data)
        return _to_json(fields)


class EventFilter:
    """Events of some kinds.

    Args:
        kinds: names, comma-separated; a `*` at the end stands for all that begin so, and `=VALUE`
            for those that have this value in one of their fields.
    """

    def __init__(self, kinds: str) -> None:
        self._kinds = [kind.partition("=")[::2] for kind in kinds.split(",")]

    def wants(self, event: DagEvent) -> bool:
        """Whether the event is of one of the kinds."""
        return any(_is_of(event, name, value) for name, value in self._kinds)


def _is_of(event: DagEvent, name: str, value: str) -> bool:
    same = event.name.startswith(name[:-1]) if name.endswith("*") else event.name == name
    return same and (not value or value in map(str, event.data.values()))
