"""A Dag that lets go of pieces is, by the names of nodes, the Dag that never had them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.common.node_sets import NodeSet
from condor_pydagman.features.growth.commands import Feeding, LetGo, add_piece, growth_of
from condor_pydagman.features.growth.let_go import close_gaps, let_go, waits_for
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.run_if.commands import conditions_of, place_of_condition
from condor_pydagman.features.shared_limits.commands import LimitUse, limit_uses_of
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import BY_NODE, Dag
from condor_pydagman.graph.stepwise import at_once

BASE = "".join(f"JOB B{number} b.sub\n" for number in range(4)) + "PARENT B0 CHILD B1\n"


def dag(text: str = BASE) -> Dag:
    return build(["t.dag"], lambda _: text, BuildOptions(use_join_nodes=False))


def add(to: Dag, number: int, text: str, *, node: str = "", feeding: Feeding | None = None) -> None:
    options = BuildOptions(use_join_nodes=False)
    given_text = PieceText("p", {"p": text}, options, node=node, feeding=feeding)
    add_piece(to, at_once(read_piece(to, given_text)), number)


def by_name(found: Dag) -> dict[str, Any]:
    """All that is known of each node, by names alone."""
    return {
        name: (
            found.submits[node],
            found.flags[node],
            found.kinds[node],
            found.place(node),
            found.variables.get(node),
            {key: getattr(found, key).get(node) for key in BY_NODE},
            sorted(found.names[child] for child in found.children(node)),
            sorted(found.names[parent] for parent in found.parents(node)),
            sorted(
                found.names[child] for child in found.children(node) if found.is_weak(node, child)
            ),
        )
        for node, name in found.named()
    }


def check(found: Dag) -> None:
    """The numbers of vertices fit together."""
    counts = found.edges.predecessor_counts()
    assert len(counts) == found.vertex_count
    for vertex in found.vertices():
        assert counts[vertex] == found.predecessor_count(vertex)
        assert len(found.edges.weak_marks(vertex)) == len(found.successors(vertex))
        for after in found.successors(vertex):
            assert vertex in list(found.predecessors(after))
    assert found.ids == {name: node for node, name in found.named()}
    assert sorted(found.free) == [node for node, name in enumerate(found.names) if not name]
    edges = sum(len(found.successors(vertex)) for vertex in found.vertices())
    assert edges == len(found.edges)


class Wanted:
    """A Dag with some pieces, of which some are let go and all others are added to another one."""

    def __init__(self, data: st.DataObject) -> None:
        self.dag = dag()
        self.texts: dict[int, str] = {}
        self._draw = data.draw

    def grow(self, number: int) -> None:
        draw = self._draw
        own = [f"N{number}x{place}" for place in range(draw(st.integers(0, 4)))]
        known = [name for _, name in self.dag.named()]
        lines = [f"JOB {name} n.sub" for name in own]
        lines += [f'VARS {name} x="{name}"' for name in own if draw(st.booleans())]
        lines += [f"RETRY {name} 2" for name in own if draw(st.booleans())]
        if len(own) > 2 and draw(st.booleans()):
            lines.append(f"PARENT {own[0]} {own[1]} CHILD {' '.join(own[2:])}")
        if own and draw(st.booleans()):
            weak = "WEAK " * draw(st.booleans())
            parents = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
            lines.append(f"{weak}PARENT {' '.join(parents)} CHILD {' '.join(own)}")
        self.texts[number] = "".join(line + "\n" for line in lines)
        add(self.dag, number, self.texts[number])

    def let_go(self) -> None:
        """Of a piece whose nodes no other piece has named."""
        possible = []
        for number, brought in growth_of(self.dag).contents.items():
            children = set(waits_for(self.dag, brought)) - set(brought.nodes)
            if not children:
                possible.append(number)
        if possible:
            number = self._draw(st.sampled_from(possible))
            let_go(self.dag, number)
            del self.texts[number]


@given(st.data())
def test_it_is_as_if_they_had_never_been(data: st.DataObject) -> None:
    it = Wanted(data)
    for number in range(1, data.draw(st.integers(2, 9))):
        it.grow(number)
        if data.draw(st.booleans()):
            it.let_go()
        check(it.dag)
    other = dag()
    for number, text in it.texts.items():
        add(other, number, text)
    assert by_name(it.dag) == by_name(other)
    found = by_name(it.dag)
    close_gaps(it.dag)
    check(it.dag)
    assert all(it.dag.names)
    assert by_name(it.dag) == found


def test_numbers_are_used_again() -> None:
    found = dag()
    for number in range(1, 20):
        add(found, number, f'JOB N{number} n.sub\nVARS N{number} x="{number}"\n')
        if number > 2:
            let_go(found, number - 2)
    assert len(found) <= len(BASE) and len(found) == 4 + 3
    assert growth_of(found).let_go_of == LetGo(0, 17, 17)
    assert found.variables[found.ids["N19"]][0].value == "19"
    assert found.place(found.ids["N19"]) == "p:1"


def test_what_is_summed_up() -> None:
    found = dag()
    add(found, 1, "JOB F n.sub\nEXTEND F p\n", feeding=Feeding(1))
    add(found, 2, "JOB G n.sub\n", node="F")
    add(found, 3, "JOB H n.sub\nJOB I n.sub\n", feeding=Feeding(2, True))
    let_go(found, 3)
    let_go(found, 2)
    assert growth_of(found).let_go_of == LetGo(0, 3, 3, 2, 2, True, ("F",))
    let_go(found, 1)
    assert growth_of(found).let_go_of == LetGo(0, 3, 4, 2, 3, True)
    assert growth_of(found).pieces == []


def test_a_node_with_the_name_of_one_that_has_added_is_still_to_add() -> None:
    found = dag()
    add(found, 1, "JOB X n.sub\nEXTEND X p\n")
    add(found, 2, "JOB LONG n.sub\n", node="X")
    let_go(found, 1)
    add(found, 3, "JOB X n.sub\nEXTEND X p\n")
    let_go(found, 2)
    assert growth_of(found).let_go_of.adders == ()
    assert found.ids["X"] in growth_of(found).extensions


def test_what_a_node_that_has_gone_had_added_is_not_of_the_next_one_with_its_name() -> None:
    rescued = dag()
    given_text = PieceText("p", {"p": "JOB LONG n.sub\n"}, BuildOptions(), node="X")
    add_piece(rescued, at_once(read_piece(rescued, given_text, anew=True)), 2)
    add(rescued, 3, "JOB X n.sub\nEXTEND X p\n")
    assert [piece.node for piece in growth_of(rescued).pieces] == ["", ""]


def test_descriptions_and_splices_go_with_their_nodes() -> None:
    found = dag("JOB B0 {\nexecutable = x\n}\n")
    add(found, 1, "JOB N {\nexecutable = y\n}\n")
    assert len(found.descriptions) == 2
    let_go(found, 1)
    assert list(found.descriptions) == ["B0-InlineDesc0"]


def test_a_name_can_be_used_again() -> None:
    found = dag()
    add(found, 1, "JOB N n.sub\nPARENT B1 CHILD N\nRETRY N 3\n")
    let_go(found, 1)
    add(found, 2, "JOB N n.sub\n")
    assert not found.retries
    assert list(found.parents(found.ids["N"])) == []
    assert list(found.children(found.ids["B1"])) == []


def test_a_piece_is_read_anew_without_what_it_names_that_has_gone() -> None:
    found = dag()
    text = "JOB N n.sub\nJOB O n.sub\nPARENT gone also CHILD N\nPARENT N gone CHILD O also\n"
    given_text = PieceText("p", {"p": text}, BuildOptions(), node="gone", children=("also",))
    add_piece(found, at_once(read_piece(found, given_text, anew=True)), 2)
    join, o = found.ids["_condor_join_node0"], found.ids["O"]
    assert list(found.children(found.ids["N"])) == [join]  # as if its other parent was still there
    assert list(found.parents(o)) == [join]
    assert list(found.parents(found.ids["N"])) == []


def test_places_of_conditions_go_with_their_nodes() -> None:
    found = dag()
    for number, line in enumerate(("RUN_IF X true", "\nRUN_IF X false"), 1):
        add(found, number, f"JOB X x\n{line}\n")
        node = found.ids["X"]
        assert place_of_condition(found, node) == f"p:{1 + number}"
        let_go(found, number)
        assert place_of_condition(found, node) == ""
    assert not conditions_of(found) and not found.decided


def test_limits_of_a_piece_go_with_it() -> None:
    found = dag(BASE + "SHARED_LIMIT a NODES B1\n")
    base = list(limit_uses_of(found))
    add(found, 1, "JOB X x\nJOB Y y\nSHARED_LIMIT a NODES Y\nSHARED_LIMIT b ALL_NODES\n")
    let_go(found, 1)
    add(found, 2, "JOB Z z\nSHARED_LIMIT b ALL_NODES\n")
    assert limit_uses_of(found) == [*base, LimitUse("b", NodeSet(nodes=(found.ids["Z"],)))]
