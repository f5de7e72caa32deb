"""The Dag: nodes by number and by name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.graph.model import BY_NODE, NOOP, Dag, Retry, Variable
from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import seen


def test_every_dictionary_is_by_node_or_by_name() -> None:
    found = {name for name, value in vars(Dag()).items() if type(value) is dict}
    assert found == {*BY_NODE, "ids", "descriptions", "category_limits", "features"}


def test_places_name_the_right_file() -> None:
    dag = Dag(files=["a.dag", "empty.dag", "b.dag"])
    dag.places.enter("a.dag")
    dag.add_node("A", "x.sub", line=3)
    dag.places.enter("empty.dag")
    dag.places.enter("b.dag")
    dag.add_node("B", "x.sub", line=9)
    dag.add_node("made by us", "x.sub")
    dag.finish()
    assert [dag.place(node) for node in range(3)] == ["a.dag:3", "b.dag:9", ""]


def test_many_jobs_at_once_are_as_many_nodes() -> None:
    one, many = Dag(), Dag()
    for dag in (one, many):
        dag.places.enter("x.dag")
        dag.add_node("first", "f.sub", NodeKind.FINAL)
    for number in range(5):
        one.add_node(f"N{number}", f"{number % 2}.sub", line=number + 1)
    names, submits = [f"N{n}" for n in range(5)], [f"{n % 2}.sub" for n in range(5)]
    assert many.add_jobs(names, submits, range(1, 6))
    for dag in (one, many):
        dag.finish()
    assert seen(one) == seen(many)


def test_names_that_are_not_new_are_noticed() -> None:
    for names in (["A", "A"], ["B", "C"]):
        dag = Dag()
        dag.add_node("C", "x")
        assert not dag.add_jobs(names, ["x", "x"], [1, 2])


def test_kinds() -> None:
    dag = Dag()
    for kind in (NodeKind.JOB, NodeKind.SERVICE, NodeKind.JOB, NodeKind.SERVICE, NodeKind.FINAL):
        dag.add_node(str(len(dag)), "x", kind, NOOP if kind == NodeKind.FINAL else 0)
    assert dag.of_kind(NodeKind.SERVICE) == [1, 3]
    assert dag.of_kind(NodeKind.FINAL) == [4]
    assert dag.of_kind(NodeKind.PROVISIONER) == []
    assert [dag.is_noop(node) for node in range(5)] == [False] * 4 + [True]


@given(st.permutations(range(4)))
def test_everything_moves_with_a_node_that_gets_another_number(order: list[int]) -> None:
    dag = Dag()
    dag.places.enter("x")
    for number in range(4):
        dag.add_node(f"N{number}", f"{number}.sub", flags=number, line=number + 1)
        dag.retries[number] = Retry(number)
    dag.directories[2] = "d"
    dag.variables[1] = (Variable("x", "1", False),)
    dag.add_edges([0], [1, 2, 3])
    dag.add_edges([1, 2], [0, 3], weak=True)
    dag.renumber(order)
    dag.finish()
    assert dag.names == [f"N{old}" for old in order]
    assert dag.ids == {f"N{old}": new for new, old in enumerate(order)}
    assert dag.submits == [f"{old}.sub" for old in order]
    assert list(dag.flags) == order
    assert [dag.place(node) for node in range(4)] == [f"x:{old + 1}" for old in order]
    assert [dag.retries[node].limit for node in range(4)] == order
    assert dag.directories == {order.index(2): "d"}
    assert list(dag.variables) == [order.index(1)]
    assert [order[child] for child in dag.children(order.index(0))] == [1, 2, 3]
    assert dag.is_weak(order.index(1), order.index(3))


def test_nodes_are_found_by_the_name_that_the_log_shows() -> None:
    dag = Dag()
    for name in ("A", "x" * 5000, "b\x02"):
        dag.add_node(name, "x.sub")
    assert [dag.find(logged_name(name)) for name in dag.names] == [0, 1, 2]
    assert dag.find("Z") is None
