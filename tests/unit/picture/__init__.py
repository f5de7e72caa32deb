"""Tests of pictures; Dags are built by hand here."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.graph.model import Dag
from condor_pydagman.picture import States, make_picture
from condor_pydagman.picture.dot_layout import RunDot
from condor_pydagman.picture.graphviz import find_dot
from condor_pydagman.picture.svg import Picture


def dag_of(names: Iterable[str], edges: Iterable[tuple[Sequence[int], Sequence[int]]] = ()) -> Dag:
    """A finished Dag; each edge is a pair of parents and children by number."""
    dag = Dag()
    for name in names:
        dag.add_node(name, "x.sub")
    for parents, children in edges:
        dag.add_edges(parents, children)
    dag.finish()
    return dag


def dot() -> RunDot:
    """A real one; pip has none for Python 3.9, and then the distribution's may be missing."""
    try:
        return find_dot()
    except PydagmanError as error:
        if sys.version_info >= (3, 10):
            raise
        pytest.skip(str(error))


def picture(dag: Dag, fold_above: int = 50, **states: Shown) -> Picture:
    found = States(dag)
    for name, state in states.items():
        found.of[dag.ids[name]] = state
    return make_picture(dag, found, "x.dag", dot(), fold_above=fold_above)


def diamond() -> Dag:
    return dag_of("ABCD", [([0], [1, 2]), ([1], [3]), ([2], [3])])
