"""FEEDER: the program that adds to a DAG."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.feeder.grammar import FeederLine
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.named_tuple import NamedTuple


class Feeder(NamedTuple):
    """A FEEDER command.

    Attributes:
        program: its file and its arguments, as they are written.
        below: it runs when fewer nodes than this have not ended.
        at_most: nodes that it may add in all; 0 for no limit.
        timeout_s: seconds that it may run.
        retries: how often it runs again after a failure, in a row.
        directory: where it runs, and its nodes do; '' for DAGMan's own.
        where: directory that names of files in its output are relative to.
        prefix: what the names of its nodes begin with.
    """

    program: str
    below: int
    at_most: int
    timeout_s: int
    retries: int
    directory: str = ""
    where: str = ""
    prefix: str = ""


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

    def lines(self, dag: Dag) -> Iterator[FeederLine]:
        """As of `FeatureData`."""
        feeder = self.feeder
        if feeder is None:
            return
        if feeder.directory or feeder.where or feeder.prefix:
            raise ValueError(
                "can't be written in a DAG file: the FEEDER of one of several DAG files, or of one"
                " in another directory"
            )
        numbers = feeder.at_most, feeder.timeout_s, feeder.retries
        yield FeederLine(0, feeder.below, feeder.program, *numbers)


def feeder_of(dag: Dag) -> Feeder | None:
    """The FEEDER of a DAG; None if it has none."""
    return FeederOfDag.of(dag).feeder


def feeder_line(building: Building, command: FeederLine) -> None:
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
    data.feeder = Feeder(
        command.program,
        command.below,
        command.at_most,
        command.timeout_s,
        command.retries,
        scope.directory.rstrip("/"),
        scope.where,
        scope.prefix + scope.munge,
    )


APPLIED = (Applied(FeederLine, feeder_line, refused=IN_THE_SUBMITTED_FILE),)
