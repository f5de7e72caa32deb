"""Where nodes are defined."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.graph.model import Places
from tests.unit.graph.texts import build_files, build_text

steps = st.lists(
    st.one_of(st.sampled_from(["a", "b", "c"]), st.lists(st.integers(0, 99), max_size=3)),
    max_size=12,
)


@given(steps)
def test_every_node_is_of_the_file_entered_last(found: list[str | list[int]]) -> None:
    places, wanted = Places(), []
    for step in found:
        if isinstance(step, str):
            places.enter(step)
        else:
            if len(step) == 1:
                places.add(step[0])
            else:
                places.add_many(step)
            wanted += [f"{places.file}:{line}" if places.file and line else "" for line in step]
    assert [places.of(node) for node in range(len(wanted))] == wanted


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n\n"])
def test_nodes_of_many_lines_in_a_row(ends: str) -> None:
    text = "".join(f"JOB n{number} x{ends}" for number in range(1, 41))
    dag = build_text(text)
    step = ends.count("\n")
    assert [dag.place(node) for node in range(40)] == [
        f"x.dag:{1 + step * number}" for number in range(40)
    ]


def test_files_that_name_others() -> None:
    texts = {"x.dag": "JOB A x\nSPLICE S s\n\nJOB B x\nINCLUDE i\n", "y.dag": "JOB C x\n"}
    others = {"s": "\nJOB A x\nJOB B x\nPARENT A B CHILD A B\n", "i": "JOB I x\n"}
    dag = build_text(texts["x.dag"], others)
    found = {name: dag.place(node) for node, name in enumerate(dag.names)}
    assert found == {
        "A": "x.dag:1",
        "B": "x.dag:4",
        "I": "i:1",
        "S+A": "s:2",
        "S+B": "s:3",
        "S+_condor_join_node0": "",
    }
    dag = build_files(texts | others)
    assert dag.place(dag.ids["1.C"]) == "y.dag:1"
