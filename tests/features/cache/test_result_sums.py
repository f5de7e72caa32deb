"""What the results of a node's parents come to."""

from __future__ import annotations

from condor_pydagman.features.cache.result_sums import ResultSums, Sum
from condor_pydagman.graph.model import Dag, Script
from condor_pydagman.vocabulary import ScriptKind
from tests import make


def sums(dag: Dag, **results: str) -> ResultSums:
    known = {dag.ids[name]: result for name, result in results.items()}
    return ResultSums(dag, lambda node: known.get(node, ""))


def of(text: str, name: str, **results: str) -> Sum:
    dag = make.dag(text)
    return sums(dag, **results).of(dag.ids[name])


def test_a_node_without_parents_has_none() -> None:
    assert of("A", "A") == Sum(0, -1)


def test_another_result_of_a_parent_makes_another_number() -> None:
    numbers = {
        of("A B -> C D", "C", A=a, B=b).number for a in ("r1", "r2") for b in ("r1", "r2", "r3")
    }
    assert len(numbers) == 6
    assert all(0 < number < 1 << 128 for number in numbers)


def test_it_makes_no_difference_how_edges_are_written() -> None:
    known = {"A": "r1", "B": "r2"}
    assert of("A B -> C D", "D", **known) == of("B -> D; A -> D C; B -> C", "D", **known)


def test_noop_nodes_stand_for_their_parents() -> None:
    known = {"A": "r1", "B": "r2"}
    joined = "A B -> J -> K -> C\nJOB J n.sub NOOP\nJOB K n.sub NOOP"
    assert of(joined, "C", **known) == of("A B -> C D", "C", **known)
    dag = make.dag("A -> J -> C\nJOB J n.sub NOOP")
    dag.scripts[dag.ids["J"]] = {ScriptKind.PRE: Script("p")}
    assert sums(dag, A="r1").of(dag.ids["C"]).unknown == dag.ids["J"]


def test_a_result_that_is_not_known() -> None:
    dag = make.dag("A B -> C D; C D -> E F")
    assert sums(dag, A="r1", C="r2", D="r3").of(dag.ids["C"]).unknown == dag.ids["B"]
    assert sums(dag, A="r1", C="r2", D="r3").of(dag.ids["E"]).unknown == -1


def test_a_junction_is_added_up_once_until_something_changes() -> None:
    dag = make.dag("A B -> C D")
    asked: list[int] = []

    def result_of(node: int) -> str:
        asked.append(node)
        return f"r{len(asked) > 2}"

    found = ResultSums(dag, result_of)
    first = found.of(2)
    assert found.of(3) == first
    assert asked == [0, 1]
    found.forget()
    assert found.of(3) != first


def test_a_long_chain_of_noop_nodes() -> None:
    names = [f"J{number}" for number in range(3000)]
    noops = "\n".join(f"JOB {name} n.sub NOOP" for name in names)
    dag = make.dag(f"{' -> '.join(['A', *names, 'C'])}\n{noops}")
    assert sums(dag, A="r1").of(dag.ids["C"]).number > 0
