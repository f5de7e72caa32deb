"""FEEDER: the program that adds to a DAG."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple

# Macros of a FEEDER's arguments, as those of scripts.
FEEDER_MACROS = frozenset(
    (
        *("FEEDING", "FED_COUNT", "ROOM_COUNT", "OPEN_COUNT", "NODE_COUNT", "DONE_COUNT"),
        *("QUEUED_COUNT", "FAILED_COUNT", "FUTILE_COUNT", "DAG_STATUS", "DAGID"),
    )
)


def _program(program: str, words: Words) -> str:
    """As of a script, without quotes."""
    if program[0] in "\"'":
        hint = "quotes mean nothing there: write the program and its arguments without them"
        raise LineError(f"Invalid program {program}", words, hint=hint)
    for word in program.split():
        if word.startswith("$") and word[1:].upper() not in FEEDER_MACROS:
            known = ", ".join(f"${name}" for name in sorted(FEEDER_MACROS))
            message, column = f"Unknown macro '{word}' of a feeder", words.line.find(word)
            raise LineError(message, words, hint=f"known are {known}", column=column)
    return program


_PROGRAM = rows.rest("path", "<program> [<arguments>]", _program, sample="feed")


@rows.Row(
    "FEEDER",
    "A program that is run when few nodes are left, and whose output is added to the DAG.",
    after="SCATTER",
)
class Feeder(NamedTuple):
    """FEEDER: a program whose output is added to the DAG while few nodes are left.

    Attributes:
        below: it runs when fewer nodes than this have not ended.
        at_most: nodes that it may add in all; 0 for no limit.
        timeout_s: seconds that it may run.
        retries: how often it runs again after a failure, in a row.
        program: its file and its arguments, as they are written.
        directory: of a Dag: where it runs, and its nodes do; '' for DAGMan's own.
        where: of a Dag: directory that names of files in its output are relative to.
        prefix: of a Dag: what the names of its nodes begin with.
    """

    line: int
    below: int = rows.option("BELOW", rows.number("number", 1))
    at_most: int = rows.option("AT-MOST", rows.number("number", 1, "<nodes>"), 0)
    timeout_s: int = rows.option("TIMEOUT", rows.number("number", 1, "<seconds>"), 3600)
    retries: int = rows.option("RETRIES", rows.number("number", 0), 5)
    program: str = rows.option("PROGRAM", _PROGRAM)
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
