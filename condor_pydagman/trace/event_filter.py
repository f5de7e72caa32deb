"""Which events somebody wants: `dag.end,node.state=ERROR`, `job.*`, `*`."""

from __future__ import annotations

from condor_pydagman.trace.dag_events import DagEvent


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
