"""Folded boxes that are opened, and what is in them."""

from __future__ import annotations

from condor_pydagman.graph.model import Dag, Splice
from condor_pydagman.picture.unfold import Unfolded, Unfolding


def fan(width: int) -> Dag:
    """first, then many alike, then last; a junction between them."""
    dag = Dag()
    first, last = dag.add_node("first", "f.sub"), dag.add_node("last", "l.sub")
    works = [dag.add_node(f"work{number}", "w.sub") for number in range(width)]
    dag.add_edges([first], works)
    dag.add_edges(works, [last])
    dag.finish()
    return dag


def chain(length: int) -> Dag:
    dag = Dag()
    nodes = [dag.add_node(f"c{number}", "c.sub") for number in range(length)]
    for one, other in zip(nodes, nodes[1:]):
        dag.add_edges([one], [other])
    dag.finish()
    return dag


def labels(found: Unfolded) -> list[str]:
    return [box.label for box in found.sketch.boxes]


def name_of(found: Unfolded, label: str) -> str:
    return next(name for name, own in zip(found.names, labels(found)) if own == label)


def check(found: Unfolded, dag: Dag) -> None:
    """Each node is in one box, which knows how many it has; each edge leads between its boxes."""
    sketch = found.sketch
    assert len(found.names) == len(sketch.boxes)
    for number, box in enumerate(sketch.boxes):
        inside = [node for node in range(len(dag)) if sketch.of[node] == number]
        assert (box.nodes, bool(found.names[number])) == (len(inside), len(inside) > 1)
        assert set(box.members) <= set(inside)
    pairs = {(line.tail, line.head) for line in sketch.lines}
    for vertex in range(dag.vertex_count):
        for after in dag.successors_as_counted(vertex):
            pair = sketch.of[vertex], sketch.of[after]
            assert pair in pairs or pair[0] == pair[1]


def test_a_small_dag_has_nothing_to_open() -> None:
    dag = fan(3)
    found = Unfolding(dag, 10, 50).sketch(["g0", "g1"])
    assert set(found.names) == {""}
    assert len(found.sketch.boxes) == 5
    check(found, dag)


def test_nodes_that_are_to_be_apart_stand_beside_their_stack() -> None:
    dag = fan(40)
    unfolding, work = Unfolding(dag, 10, 50), list(range(2, 42))
    whole = unfolding.sketch([])
    stack = name_of(whole, "work0 … work39")
    found = unfolding.sketch([], [work[7], work[39], 0])
    check(found, dag)
    assert sorted(labels(found)) == ["first", "last", "work0 … work39", "work39", "work7"]
    assert found.sketch.boxes[found.names.index(stack)].nodes == 38
    opened = unfolding.sketch([stack], [work[7], work[39]])
    check(opened, dag)
    assert {"work7", "work39"} <= set(labels(opened))
    almost_all = unfolding.sketch([], work[:39])
    assert labels(almost_all) == labels(whole), "a stack of one would be none"
    check(unfolding.sketch([]), dag)


def test_a_node_apart_from_a_chain() -> None:
    dag = chain(60)
    found = Unfolding(dag, 10, 50).sketch([], [30])
    check(found, dag)
    assert "c30" in labels(found)


def test_things_that_are_alike_come_in_ranges_and_then_singly() -> None:
    dag = fan(100)
    unfolding = Unfolding(dag, 10, 50)
    folded = unfolding.sketch([])
    check(folded, dag)
    works = name_of(folded, "work0 … work99")
    found = unfolding.sketch([works])
    check(found, dag)
    assert "work0 … work9" in labels(found)
    inner = name_of(found, "work0 … work9")
    assert inner == f"{works}.0"
    found = unfolding.sketch([works, inner])
    check(found, dag)
    assert {f"work{number}" for number in range(10)} <= set(labels(found))
    assert unfolding.sketch([]).names == folded.names


def test_what_is_inside_is_opened_only_with_what_is_around() -> None:
    unfolding = Unfolding(fan(100), 10, 50)
    assert unfolding.sketch(["g1.0", "g2.0"]).names == unfolding.sketch([]).names


def test_a_chain() -> None:
    dag = chain(100)
    unfolding = Unfolding(dag, 10, 50)
    found = unfolding.sketch([])
    check(found, dag)
    assert len(found.sketch.lines) == len(found.sketch.boxes) - 1
    first = found.names[0]
    again = unfolding.sketch([first])
    check(again, dag)
    assert len(again.sketch.boxes) == len(found.sketch.boxes) + 9


def test_there_is_no_room_for_more() -> None:
    unfolding = Unfolding(fan(1000), 10, 15)
    works = name_of(unfolding.sketch([]), "work0 … work999")
    found = unfolding.sketch([works])
    assert len(found.sketch.boxes) <= 15
    inner = [name for name in found.names if name.startswith(f"{works}.")]
    full = unfolding.sketch([works, *inner])
    assert len(full.sketch.boxes) <= 15
    assert full.shut


def test_splices_open_one_by_one() -> None:
    dag = Dag()
    for number in range(8):
        begin = len(dag)
        for inner in range(4):
            nested = len(dag)
            ends = [dag.add_node(f"S{number}+T{inner}+n{n}", "s.sub") for n in range(5)]
            for one, other in zip(ends, ends[1:]):
                dag.add_edges([one], [other])
            dag.splices.append(Splice(f"S{number}+T{inner}", "t.dag", "", nested, len(dag)))
        dag.splices.append(Splice(f"S{number}", "s.dag", "", begin, len(dag)))
    dag.finish()
    unfolding = Unfolding(dag, 10, 60)
    found = unfolding.sketch([])
    check(found, dag)
    assert labels(found) == [f"S{number}+T0 … S{number}+T3" for number in range(8)]
    found = unfolding.sketch(["g3"])
    check(found, dag)
    assert labels(found)[3:7] == [f"S3+T{inner}" for inner in range(4)]
    found = unfolding.sketch(["g3", "g3.2"])
    check(found, dag)
    assert labels(found)[5:10] == [f"S3+T2+n{number}" for number in range(5)]


def test_many_to_many_through_a_junction() -> None:
    dag = Dag()
    left = [dag.add_node(f"a{number}", "a.sub") for number in range(30)]
    right = [dag.add_node(f"b{number}", "b.sub") for number in range(30)]
    dag.add_edges(left, right)
    dag.finish()
    unfolding = Unfolding(dag, 10, 60)
    found = unfolding.sketch([])
    check(found, dag)
    found = unfolding.sketch([name_of(found, "a0 … a29")])
    check(found, dag)
    assert len(found.sketch.boxes) > 10
