"""Reading DAG files: as a Dag, or as everything that is wrong with them.

No part of HTCondor is needed for it, nor its Python bindings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Union

from condor_pydagman.adapters.files import DagFiles, text_of
from condor_pydagman.api.dag_errors import DagError, DagProblem, Place, dag_error
from condor_pydagman.api.dag_view import Dag
from condor_pydagman.garbage import collection_off
from condor_pydagman.graph import model
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, ReadText, build
from condor_pydagman.graph.cycle import cycle_refusal, find_cycle
from condor_pydagman.lint.partial import build_partial

StrPath = Union[str, "os.PathLike[str]"]


def read_dag(
    *paths: StrPath,
    use_dag_dir: bool = False,
    any_node_names: bool = False,
    rescue: StrPath | None = None,
) -> Dag:
    """Read DAG files that one DAGMan would run together, with their splices and includes.

    File names in them are relative to the working directory, as they are for DAGMan (manual: "File
    Paths in DAGs").

    Args:
        paths: the DAG files, at least one.
        use_dag_dir: as the option -UseDagDir of condor_submit_dag.
        any_node_names: DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS: a `+` in a name is no mistake.
        rescue: a rescue or save file whose progress the nodes get: `Node.done` and `Node.retry`.

    Raises:
        DagError: they can't be read, or DAGMan would refuse them; it has all mistakes.
        FileError: the rescue file can't be read.

    A cycle is no mistake here: see `check_dag`.
    """
    return dag_of(
        names_of(paths), DagFiles().read, build_options(use_dag_dir, any_node_names), rescue
    )


def parse_dag(text: str, *, name: str = "<text>", any_node_names: bool = False) -> Dag:
    """As `read_dag`, of a DAG file's text.

    Args:
        text: the lines of a DAG file; splices and includes that it names are read from disk.
        name: what the file is called in places and messages.
        any_node_names: as with `read_dag`.

    Raises:
        DagError: DAGMan would refuse it; the exception has all mistakes.
    """
    files, how = DagFiles(), build_options(False, any_node_names)
    return dag_of([name], lambda path: text if path == name else files.read(path), how, None)


def check_dag(
    *paths: StrPath, use_dag_dir: bool = False, any_node_names: bool = False
) -> tuple[DagProblem, ...]:
    """Everything for which DAGMan would refuse these DAG files, a cycle included; () for nothing.

    DAGMan itself stops after each of its steps; here mistakes of all of them are found, and one
    that only follows from another is left out.  For arguments see `read_dag`.
    """
    how = build_options(use_dag_dir, any_node_names)
    return problems_of(names_of(paths), DagFiles().read, how)


def problems_of(
    names: Sequence[str],
    read: Callable[[str], Iterator[str]],
    how: BuildOptions,
    look: Callable[[model.Dag], Iterable[DagProblem]] = lambda dag: (),
) -> tuple[DagProblem, ...]:
    """As `check_dag`, of files that `read` gives in blocks of whole lines; `look` finds more."""
    try:
        dag = _built(names, read, how)
    except DagError as error:
        return error.errors
    return (*_cycle(dag, names, read, how), *look(dag))


def dag_of(
    names: Sequence[str], read: ReadText, how: BuildOptions, rescue: StrPath | None = None
) -> Dag:
    """As `read_dag`, of files that `read` gives."""
    dag = _built(names, read, how)
    if rescue is not None:
        try:
            apply_progress(dag, text_of(os.fspath(rescue), "rescue file"), os.fspath(rescue), how)
        except DagFileErrors as errors:
            raise dag_error(errors) from None
    return Dag(dag)


def _built(names: Sequence[str], read: ReadText, how: BuildOptions) -> model.Dag:
    with collection_off():
        try:
            return build(names, read, how)
        except DagFileErrors as first:  # of one step; those of the others come along
            _, errors = build_partial(names, read, how)
            found = DagFileErrors(errors.kept, lost=errors.lost) if errors.kept else first
            raise dag_error(found) from None


def names_of(paths: Sequence[StrPath]) -> list[str]:
    """The names of DAG files as they were given."""
    if not paths:
        raise TypeError("name at least one DAG file")
    return [os.fspath(path) for path in paths]


def build_options(use_dag_dir: bool, any_node_names: bool) -> BuildOptions:
    """How DAG files are read for these arguments of `read_dag`."""
    # Without join nodes: they are DAGMan's own, and no line of the DAG file defines them.
    return BuildOptions(
        use_join_nodes=False,
        allow_any_node_name_characters=any_node_names,
        use_dag_dir=use_dag_dir,
    )


def _cycle(
    dag: model.Dag,
    names: Sequence[str],
    read: Callable[[str], Iterator[str]],
    how: BuildOptions,
) -> tuple[DagProblem, ...]:
    cycle = find_cycle(dag)
    if cycle is None:
        return ()
    from condor_pydagman.lint.graph_rules import closing_edge
    from condor_pydagman.lint.lint import place_of
    from condor_pydagman.lint.lint_world import DiskWorld  # late: few DAGs have a cycle

    found, text = place_of(closing_edge(dag, cycle), names, DiskWorld(read), how)
    file, _, line = (found or dag.place(cycle[0])).rpartition(":")
    place = Place(file, int(line or 0))
    return (DagProblem(cycle_refusal(dag, cycle), place, text, "PARENT"),)
