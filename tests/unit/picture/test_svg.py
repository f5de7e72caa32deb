"""SVG: valid, complete, the same each time."""

from __future__ import annotations

import re
from xml.dom import minidom

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.graph.model import Dag
from condor_pydagman.picture import svg
from condor_pydagman.vocabulary import NodeKind
from tests.unit.picture import dag_of, diamond, picture


def test_a_picture_names_every_node_and_counts_states() -> None:
    text = "".join(svg(picture(diamond(), A=Shown.DONE, B=Shown.FAILED)))
    minidom.parseString(text.encode())
    assert re.findall(r'class="name"[^>]*>(\w)<', text) == ["A", "B", "C", "D"]
    assert text.count('marker-end="url(#arrow)"') == 4
    for words in ("x.dag", "4 nodes", "2 waiting", "1 done", "1 failed"):
        assert words in text


def test_the_same_dag_gives_the_same_bytes() -> None:
    assert "".join(svg(picture(diamond()))) == "".join(svg(picture(diamond())))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True), st.integers(1, 9))
def test_any_names_give_valid_xml(names: list[str], limit: int) -> None:
    text = "".join(svg(picture(dag_of(names), limit)))
    minidom.parseString(text.encode())


def test_a_very_long_name_is_bounded() -> None:
    text = "".join(svg(picture(dag_of(["x" * 1_000_000]))))
    assert len(text) < 20_000


@pytest.mark.parametrize("kind", [k for k in NodeKind if k != NodeKind.JOB])
def test_special_nodes_say_what_they_are(kind: NodeKind) -> None:
    dag = Dag()
    dag.add_node("n", "x.sub", kind)
    dag.finish()
    assert f">{kind.name}</tspan>" in "".join(svg(picture(dag)))


def test_a_cycle_is_red_and_in_the_legend() -> None:
    text = "".join(svg(picture(dag_of("ab", [([0], [1]), ([1], [0])]))))
    assert text.count('class="line wrong" data-t') == 2
    assert "part of a cycle" in text
