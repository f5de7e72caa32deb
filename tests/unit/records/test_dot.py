"""The DOT file."""

from __future__ import annotations

import pytest

from condor_pydagman.daemon.status_files import dot_text, file_name
from condor_pydagman.graph.model import Dag, DotFile
from condor_pydagman.vocabulary import NodeKind, NodeStatus

LOCAL = (2026, 11, 21, 9, 24, 6, 5, 325, 0)


def test_whole_file() -> None:
    dag = Dag(files=["t.dag"], dot=DotFile("t.dot"))
    for name in ("A", "B", "C"):
        dag.add_node(name, "n.sub")
    dag.add_node("V", "n.sub", NodeKind.SERVICE)
    dag.add_edges([0, 1], [2])
    dag.add_edges([0], [1])
    dag.finish()
    statuses = [NodeStatus.DONE, NodeStatus.ERROR, NodeStatus.FUTILE, NodeStatus.SUBMITTED]
    assert "".join(dot_text(dag, enumerate(statuses), now_local=LOCAL)) == (
        "digraph DAG {\n"
        '    label="DAGMan Job status at Sat Nov 21 09:24:06 2026";\n'
        "\n"
        '    "A" [shape=ellipse label="A (Done)" style=bold];\n'
        '    "B" [shape=box label="B (E)"];\n'
        '    "C" [shape=ellipse label="C (I)"];\n'
        "\n"
        '    "A" -> "C";\n'
        '    "A" -> "B";\n'
        '    "B" -> "C";\n'
        "}\n"
    )


@pytest.mark.parametrize(
    ("status", "look"),
    [
        (NodeStatus.NOT_READY, 'label="A (I)"]'),
        (NodeStatus.READY, 'label="A (I)"]'),
        (NodeStatus.PRERUN, 'label="A (Pre)" style=dotted]'),
        (NodeStatus.SUBMITTED, 'label="A (R)" peripheries=2]'),
        (NodeStatus.POSTRUN, 'label="A (Post)" style=dotted]'),
    ],
)
def test_looks(status: NodeStatus, look: str) -> None:
    dag = Dag()
    dag.add_node("A", "n.sub")
    dag.finish()
    text = "".join(dot_text(dag, [(0, status)], now_local=LOCAL))
    assert f'    "A" [shape=ellipse {look};\n' in text


def test_an_include_file_that_is_not_there_leaves_nothing() -> None:
    dag = Dag(dot=DotFile("t.dot", include="h.inc"))
    dag.finish()
    assert "h.inc" not in "".join(dot_text(dag, [], now_local=LOCAL, include_text=None))


def test_include_stands_between_its_two_remarks() -> None:
    dag = Dag(dot=DotFile("t.dot", include="h.inc"))
    dag.finish()
    text = "".join(dot_text(dag, [], now_local=LOCAL, include_text="rankdir=LR"))
    assert (
        "// Beginning of commands included from h.inc.\n"
        "rankdir=LR\n"
        "// End of commands included from h.inc.\n\n"
    ) in text


def test_parents_sharing_a_junction_give_every_edge() -> None:
    dag = Dag()
    for name in "ABCD":
        dag.add_node(name, "n.sub")
    dag.add_edges([0, 1], [2, 3])
    dag.finish()
    text = "".join(dot_text(dag, [], now_local=LOCAL))
    assert text.count("->") == 4


def test_a_quote_in_a_name_is_escaped() -> None:
    dag = Dag()
    dag.add_node('"Q"', "n.sub")
    dag.finish()
    text = "".join(dot_text(dag, [(0, NodeStatus.READY)], now_local=LOCAL))
    assert r'"\"Q\"" [' in text


def test_file_name() -> None:
    assert file_name("t.dot", True, [0]) == "t.dot"
    assert file_name("t.dot", False, []) == "t.dot.0"
    assert file_name("t.dot", False, [0, 1, 3]) == "t.dot.2"
