"""Tests of pictures; Dags are built by hand here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.graph.model import Dag


def dag_of(names: Iterable[str], edges: Iterable[tuple[Sequence[int], Sequence[int]]] = ()) -> Dag:
    """A finished Dag; each edge is a pair of parents and children by number."""
    dag = Dag()
    for name in names:
        dag.add_node(name, "x.sub")
    for parents, children in edges:
        dag.add_edges(parents, children)
    dag.finish()
    return dag
