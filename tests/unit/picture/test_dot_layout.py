"""What dot is asked, and which answers are understood."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.picture.dot_layout import Part, arrange

# A triangle: the edge from 0 to 2 passes the layer of 1.
TRIANGLE = Part([(60, 28)] * 3, [(0, 1), (1, 2), (0, 2)])
RANKED = """digraph {
	graph [bb="0,0,0,0",
		phase=1
	];
	node [label=""];
	0	[height=0.5,
		pos="0,0",
		rank=0,
		width=0.75];
	1	[rank=1];
	0 -> 1;
	2	[rank=3];
}
"""
PLACED = """digraph {
	0	[height=0.3889,
		pos="30.5,150",
		width=0.9444];
	1	[pos="10,1e+02"];
	2	[pos="30,50"];
	3	[pos="1.25e+02,100"];
	0 -> 3 [weight=2];
}
"""


def test_an_edge_that_passes_layers_gets_a_place_in_each() -> None:
    asked: list[str] = []

    def run(graphs: Sequence[str]) -> Sequence[str]:
        asked.extend(graphs)
        return [PLACED if len(asked) > 1 else RANKED]

    (found,) = arrange([TRIANGLE], run)
    assert found == ([0, 1, 2], [30.5, 10.0, 30.0], [[], [], [125.0]])
    assert "phase=1" in asked[0]
    assert re.findall(r"\d+->\d+", asked[0]) == ["0->1", "1->2", "0->2"]
    assert re.findall(r"(\d+->\d+)\[weight=(\d)", asked[1]) == [
        ("0->1", "1"),
        ("1->2", "1"),
        ("0->3", "2"),
        ("3->2", "2"),
    ]


def test_nothing_is_asked_of_nothing() -> None:
    assert arrange([], lambda graphs: pytest.fail("asked")) == []


def test_an_edge_of_a_cycle_that_leads_upwards_is_asked_for_downwards() -> None:
    asked: list[str] = []

    def run(graphs: Sequence[str]) -> Sequence[str]:
        asked.extend(graphs)
        return ["0 [rank=0];\n1 [rank=1];\n" if len(asked) == 1 else PLACED]

    arrange([Part([(60, 28)] * 2, [(0, 1), (1, 0)])], run)
    assert re.findall(r"\d+->\d+", asked[1]) == ["0->1", "0->1"]


@pytest.mark.parametrize(
    "answers",
    [["", ""], ["node 0 1 1\nstop\n", ""], [RANKED, ""], [RANKED.replace("rank=1", "x=1"), PLACED],
     [RANKED, PLACED.replace("3\t[pos", "3\t[at")]],
)  # fmt: skip
def test_what_is_no_layout_is_an_error(answers: list[str]) -> None:
    with pytest.raises(PydagmanError, match="Graphviz gave no layout but: '"):
        arrange([TRIANGLE], lambda graphs: [answers.pop(0)])


def test_dot_is_hurried_where_there_are_many_edges() -> None:
    """Or a DAG of thousands of boxes would take minutes."""
    limits = []

    def run(graphs: Sequence[str]) -> Sequence[str]:
        limits.append(float(re.findall(r"mclimit=([\d.]+)", graphs[0])[0]))
        raise PydagmanError("that is enough")

    for count in (10, 1000, 2000, 6000):
        with pytest.raises(PydagmanError):
            arrange([Part([(9, 9)] * (count + 1), [(0, n + 1) for n in range(count)])], run)
    assert limits[0] == limits[1] == 1
    assert limits[2] == 0.25
    assert 0 < limits[3] < 0.05
