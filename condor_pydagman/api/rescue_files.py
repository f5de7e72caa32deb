"""Rescue files, read and written: which nodes of a DAG need not run again.

Source: manual, "The Rescue DAG"; save files (SAVE_POINT_FILE) have the same form.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from condor_pydagman.adapters.files import replace, rescue_numbers, text_of
from condor_pydagman.api.dag_errors import dag_error
from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.api.dag_view import Dag, engine_dag
from condor_pydagman.engine.report import NodeReport
from condor_pydagman.graph.apply_rescue import read_saved
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.names import DagPaths
from condor_pydagman.records.rescue import next_number, rescue_text
from condor_pydagman.vocabulary import NodeStatus

MAX_RESCUE_NUM = 100  # DAGMAN_MAX_RESCUE_NUM, unless it is set


@dataclass(frozen=True)
class Rescue:
    """What a rescue file says.

    Attributes:
        done: full names of the nodes that are done.
        retries: how many retries a node has left, for nodes of which the file says it.
    """

    done: tuple[str, ...] = ()
    retries: Mapping[str, int] = field(default_factory=dict)


def read_rescue(path: StrPath) -> Rescue:
    """Read a rescue or save file.

    To have the progress in a Dag, and the names checked, see `rescue` of `read_dag`.

    Raises:
        DagError: a line of it can't be read, or is neither DONE nor RETRY.
        FileError: the file can't be read.
    """
    text = text_of(os.fspath(path), "rescue file")
    try:
        saved = read_saved(text, os.fspath(path))
    except DagFileErrors as errors:
        raise dag_error(errors) from None
    return Rescue(tuple(saved.done), MappingProxyType(saved.retries))


def write_rescue(
    dag: Dag,
    done: Iterable[str] | None = None,
    *,
    failed: Iterable[str] = (),
    retries_done: Mapping[str, int] | None = None,
    path: StrPath | None = None,
    max_rescue_num: int = MAX_RESCUE_NUM,
) -> str:
    """Write a rescue file, with which the next submission of the DAG begins; returns its name.

    A file of that name is replaced in one step.  FINAL, PROVISIONER and SERVICE nodes run in each
    run of a DAG and are never marked.

    Args:
        done: names of the nodes that are done; None for those whose `Node.done` says so.
        failed: names of nodes for the comment at the file's head.
        retries_done: how many retries nodes have taken, if they are not to begin anew with all of
            their RETRY.
        path: the file; None for the next number after those that are there.
        max_rescue_num: DAGMAN_MAX_RESCUE_NUM: the file of that number is replaced when the numbers
            are used up.

    Raises:
        TypeError: `done` or `failed` is a str.
        ValueError: a name is none of the DAG's, a number of retries is negative, or max_rescue_num
            forbids any rescue file.
        FileError: the file can't be written.
    """
    for argument, names in (("done", done), ("failed", failed)):
        if isinstance(names, str):  # which would be taken for a list of its letters
            raise TypeError(f"{argument} is a list of names of nodes, not a str")
    states = dict.fromkeys(_known(dag, failed), NodeStatus.ERROR)
    finished = (name for name in dag if dag[name].done) if done is None else done
    states.update(dict.fromkeys(_known(dag, finished), NodeStatus.DONE))
    taken = retries_done or {}
    for name in _known(dag, taken):
        if taken[name] < 0:
            raise ValueError(f"retries_done of {name!r} is {taken[name]}; expected 0 or more")
    file = os.fspath(path) if path is not None else _next_file(dag, max_rescue_num)
    lines = rescue_text(
        engine_dag(dag),
        _reports(dag, states, taken),
        created=time.gmtime(),
        reset_retries=retries_done is None,
    )
    replace(file, lines)
    return file


def _known(dag: Dag, names: Iterable[str]) -> Collection[str]:
    found = names if isinstance(names, Collection) else list(names)
    unknown = next((name for name in found if name not in dag), None)
    if unknown is not None:
        raise ValueError(f"{unknown!r} is no node of {', '.join(dag.files)}")
    return found


def _next_file(dag: Dag, maximum: int) -> str:
    paths = DagPaths(dag.files[0], len(dag.files) > 1)
    number = next_number(rescue_numbers(paths), maximum)
    if not number:
        raise ValueError("max_rescue_num is 0: no rescue file is to be written")
    return paths.rescue(number)


def _reports(
    dag: Dag, states: Mapping[str, NodeStatus], taken: Mapping[str, int]
) -> Iterator[NodeReport]:
    for number, name in enumerate(dag):
        status = states.get(name, NodeStatus.NOT_READY)
        yield NodeReport(number, name, status, 0, taken.get(name, 0), 0, 0, 0, False, "", "")
