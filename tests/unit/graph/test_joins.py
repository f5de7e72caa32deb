"""Parents behind the nodes that join PARENT lines."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import Dag
from tests.unit.graph.texts import JOBS, Texts, build_text


@pytest.mark.parametrize("join", [True, False])
def test_parents_behind_a_join_node(join: bool) -> None:
    text = JOBS + "JOB D a.sub\nPARENT A B CHILD C D\n"
    dag = build_text(text, use_join_nodes=join)
    assert [dag.names[one] for one in parents_of(dag, dag.ids["C"])] == ["A", "B"]
    again = _again(dag)
    assert [again.names[one] for one in parents_of(again, again.ids["C"])] == ["A", "B"]


def _again(dag: Dag) -> Dag:
    text = "".join(line + "\n" for line in dag_lines(dag))
    options = BuildOptions(allow_any_node_name_characters=True, use_join_nodes=False)
    return build(["x.dag"], Texts({"x.dag": text}), options)
