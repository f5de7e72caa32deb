"""NOTIFY: what a Dag holds of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from condor_pydagman.features.notify.grammar import Notification
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag, FeatureData


class NotificationsOfDag(FeatureData):
    """The NOTIFY lines of a DAG."""

    def __init__(self) -> None:
        self.notifications: list[Notification] = []

    def first_lines(self) -> Iterator[Notification]:
        """As of `FeatureData`."""
        return iter(self.notifications)


def notifications_of(dag: Dag) -> Sequence[Notification]:
    """Which events of a DAG go where."""
    return NotificationsOfDag.of(dag).notifications


def notify(building: Building, command: Notification) -> None:
    """NOTIFY: each adds one; that of a splice has no effect, as of other files about the DAG."""
    if building.scope.outer is None:
        NotificationsOfDag.put(building.dag).notifications.append(command._replace(line=0))


APPLIED = (Applied(Notification, notify, refused=IN_THE_SUBMITTED_FILE),)
