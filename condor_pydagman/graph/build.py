"""From DAG files to a Dag."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

from condor_pydagman.graph import (
    cache_commands,
    condition_commands,
    enough_commands,
    limit_uses,
    splices,
    whole,
)
from condor_pydagman.graph.apply_bulk import NotSimple
from condor_pydagman.graph.building import Building, BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import DagFileErrors, ProcessingError
from condor_pydagman.graph.reading import MAX_ERRORS, DagReader, ReadText

__all__ = ["BuildOptions", "DagFileErrors", "ProcessingError", "ReadText", "build"]


def build(files: Sequence[str], read_text: ReadText, options: BuildOptions) -> Dag:
    """The Dag that `files`, DAG files as named on the command line, describe.  It is finished.

    `read_text` gives the text of a file, whole or in blocks that end at line ends; it raises
    FileError or OSError.

    Raises:
        DagFileErrors: at least one file can't be read or applied.
    """
    try:
        return _build(files, read_text, options, in_bulk=True)
    except NotSimple:
        return _build(files, read_text, options, in_bulk=False)


def _build(files: Sequence[str], read_text: ReadText, options: BuildOptions, in_bulk: bool) -> Dag:
    dag = Dag(files=list(files))
    building = Building(dag, options)
    reader = DagReader(building, read_text, in_bulk=in_bulk)
    read_all(files, building, reader)
    if not reader.errors:
        _complete(building, reader)
    building.close()
    if reader.errors:
        raise DagFileErrors(reader.errors, dag.warnings, reader.lost)
    dag.finish()
    wrong = late_mistakes(dag)
    if wrong:
        raise DagFileErrors(wrong, dag.warnings)
    return dag


def late_mistakes(dag: Dag) -> list[ProcessingError]:
    """What is wrong, as can only be said when all files have been read."""
    both = chain(condition_commands.mistakes(dag), enough_commands.mistakes(dag))
    return list(islice(both, MAX_ERRORS))


def _complete(building: Building, reader: DagReader) -> None:
    gather(building)
    try:
        whole.warn_of_categories(building)
        limit_uses.warn_of_empty_limits(building)
        cache_commands.leave_out(building)
    except ProcessingError as error:
        reader.errors.append(error)
    whole.add_priority(building)


def read_all(files: Sequence[str], building: Building, reader: DagReader) -> None:
    """Read the DAG files of a command line; of several, nodes are named after the file's number."""
    munge = building.options.munge_node_names and len(files) > 1
    for number, file in enumerate(files):
        building.scope.munge = f"{number}." if munge else ""
        reader.read(file)


def gather(building: Building) -> None:
    """Put into the Dag what the files are found to hold together, once all have been read."""
    splices.arrange(building)
    building.dag.category_limits = building.scope.limits
    building.dag.descriptions = building.scope.descriptions
