"""FEEDER: the program that adds to a DAG."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.feeder.grammar import Feeder
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag, FeatureData


class FeederOfDag(FeatureData):
    """The FEEDER of a DAG."""

    place = 1

    def __init__(self) -> None:
        self.feeder: Feeder | None = None

    def may_grow(self, but: int) -> bool:
        """As of `FeatureData`."""
        return self.feeder is not None

    def submits_to_come(self) -> None:
        """As of `FeatureData`."""

    def lines(self, dag: Dag) -> Iterator[Feeder]:
        """As of `FeatureData`."""
        feeder = self.feeder
        if feeder is None:
            return
        if feeder.directory or feeder.where or feeder.prefix:
            raise ValueError(
                "can't be written in a DAG file: the FEEDER of one of several DAG files, or of one"
                " in another directory"
            )
        yield feeder


def feeder_of(dag: Dag) -> Feeder | None:
    """The FEEDER of a DAG; None if it has none."""
    return FeederOfDag.of(dag).feeder


def feeder_line(building: Building, command: Feeder) -> None:
    """FEEDER."""
    scope = building.scope
    if scope.outer is not None:
        fail(
            "FEEDER can't be used in a splice",
            "it is about a whole DAG: put it into the DAG file that is submitted",
        )
    data = FeederOfDag.put(building.dag)
    if data.feeder is not None:
        fail(
            "The DAG has a FEEDER already",
            "a DAG has one at most; a program that runs others can give what all of them do",
        )
    data.feeder = command._replace(
        line=0,
        directory=scope.directory.rstrip("/"),
        where=scope.where,
        prefix=scope.prefix + scope.munge,
    )


APPLIED = (Applied(Feeder, feeder_line, refused=IN_THE_SUBMITTED_FILE),)
