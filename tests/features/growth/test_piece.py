"""Pieces: what is added to a DAG while it runs, how it is read, and what a node would add now."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from condor_pydagman.features.cache.commands import Cache, cached_of
from condor_pydagman.features.common.node_sets import NodeSet
from condor_pydagman.features.enough.commands import EnoughsOfDag, enoughs_of
from condor_pydagman.features.growth.commands import Piece, Scatter, add_piece, growth_of
from condor_pydagman.features.growth.piece import PieceBuilding, PieceText, read_piece, scattered
from condor_pydagman.features.growth.piece_now import read_now
from condor_pydagman.features.publish.commands import Publish, published_of
from condor_pydagman.features.run_if.commands import conditions_of, place_of_condition
from condor_pydagman.features.shared_limits.commands import LimitUse, limit_uses_of
from condor_pydagman.graph.build import BuildOptions, DagFileErrors
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_text

ABC = "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\nPARENT A CHILD B\nPARENT B CHILD C\n"


def read(
    dag: Dag,
    text: str,
    others: Mapping[str, str] | None = None,
    begun: Callable[[int], bool] = lambda node: False,
    *,
    between: str = "",
    prefix: str = "",
    **options: object,
) -> Piece:
    node, _, children = between.partition(" ")
    texts = {"p.dag": text, **(others or {})}
    how = BuildOptions(**options)  # type: ignore[arg-type]
    given = PieceText("p.dag", texts, how, "", prefix, node, tuple(children.split()), bool(between))
    return at_once(read_piece(dag, given, begun))


def grown(base: str, text: str, **how: object) -> Dag:
    dag = build_text(base)
    piece = read(dag, text, **how)  # type: ignore[arg-type]
    add_piece(dag, piece, 1)
    return dag


def pairs(dag: Dag) -> set[str]:
    names = dag.names
    return {f"{names[p]}>{names[c]}" for p in range(len(dag)) for c in dag.children(p)}


def errors(base: str, text: str, **how: object) -> list[str]:
    with pytest.raises(DagFileErrors) as caught:
        grown(base, text, **how)
    return caught.value.detail().split("\n")


def test_a_piece_between_a_node_and_its_children() -> None:
    text = "JOB X x.sub\nJOB Y x.sub\nJOB Z x.sub\nPARENT X CHILD Y\n"
    dag = grown(ABC, text, between="A B")
    assert pairs(dag) == {"A>B", "B>C", "X>Y", "A>X", "A>Z", "Y>B", "Z>B"}
    assert dag.names == ["A", "B", "C", "X", "Y", "Z"]
    assert dag.place(4) == "p.dag:2"


def test_a_piece_anywhere_has_its_own_edges_only() -> None:
    dag = grown(ABC, "JOB X x.sub\nJOB Y x.sub\nPARENT A CHILD X\nPARENT Y X CHILD C\n")
    assert pairs(dag) - pairs(build_text(ABC)) == {"A>X", "X>C", "Y>C"}


def test_edges_between_nodes_that_are_there() -> None:
    base = "JOB A a.sub\nJOB B a.sub\n"
    assert pairs(grown(base, "PARENT A CHILD B\n")) == {"A>B"}


def test_join_nodes_get_names_of_their_own() -> None:
    base = ABC + "JOB D a.sub\nPARENT A B CHILD C D\n"
    dag = grown(base, "JOB X a\nJOB Y a\nPARENT A B CHILD X Y\n")
    assert dag.names[-1] == "_condor_join_node1"


def test_nodes_bring_what_is_said_of_them() -> None:
    text = (
        'JOB X d\nJOB Y d\nVARS X a="1"\nVARS Y a="2"\nVARS X b="3"\nRETRY Y 3\nCATEGORY X c\n'
        "MAXJOBS c 2\nSUBMIT-DESCRIPTION d {\nexecutable = /bin/true\n}\nEXTEND Y more.dag\n"
    )
    dag = grown(ABC, text, priority=5)
    assert [(v.key, v.value) for v in dag.variables[3]] == [("a", "1"), ("b", "3")]
    assert dag.retries[4].limit == 3
    assert (dag.categories[3], dag.category_limits) == ("c", {"c": 2})
    assert dag.descriptions == {"d": "executable = /bin/true"}
    assert dag.priorities == {3: 5, 4: 5}
    assert growth_of(dag).extensions[4].file == "more.dag"


def test_splices_and_includes_of_a_piece() -> None:
    others = {"s.dag": "JOB N a.sub\nJOB M a.sub\n", "i.dag": "PARENT A CHILD S\nJOB I a.sub\n"}
    dag = grown(ABC, "SPLICE S s.dag\nINCLUDE i.dag\nJOB X x.sub\n", others=others)
    assert dag.names[3:] == ["X", "I", "S+N", "S+M"]
    assert {"A>S+N", "A>S+M"} <= pairs(dag)
    assert [(one.name, one.begin, one.end) for one in dag.splices] == [("S", 5, 7)]


def test_a_piece_that_was_read_before_the_dag_has_grown() -> None:
    dag = build_text("JOB A x.sub\nJOB B x.sub\nPARENT A CHILD B\n")
    first, second = (
        read(dag, f'JOB {x} x.sub\nPARENT A CHILD {x}\nVARS {x} n="1"\n') for x in "XY"
    )
    add_piece(dag, first, 1)
    add_piece(dag, second, 2)
    assert dag.names[-2:] == ["X", "Y"]
    assert {"A>X", "A>Y"} <= pairs(dag)
    assert [one.key for one in dag.variables[dag.ids["Y"]]] == ["n"]


def test_a_piece_can_be_added_to_several_dags() -> None:
    dags = [build_text("JOB A x.sub\nJOB B x.sub\nPARENT A CHILD B\n") for _ in range(2)]
    piece = read(dags[0], "JOB X x.sub\nPARENT A CHILD X\n")
    for dag in dags:
        for number, more in enumerate((piece, read(dag, "JOB Y x.sub\nPARENT A CHILD Y\n")), 1):
            add_piece(dag, more, number)
    assert pairs(dags[0]) == pairs(dags[1])
    assert [list(dag.successors(dag.ids["A"])) for dag in dags] == [
        [dag.ids[child] for child in ("B", "X", "Y")] for dag in dags
    ]


def test_names_of_a_splice_go_by_its_prefix() -> None:
    base = "SPLICE S s.dag\n"
    dag = build_text(base, {"s.dag": "JOB N a.sub\nJOB M a.sub\n"})
    piece = read(dag, "JOB X x.sub\nPARENT N CHILD X\n", prefix="S+")
    add_piece(dag, piece, 1)
    assert pairs(dag) == {"S+N>S+X"}


def test_conditions_of_new_nodes_are_over_known_parents_too() -> None:
    text = (
        "JOB X x.sub\nJOB Y x.sub\nPARENT A X CHILD Y\nCATEGORY X new\n"
        'RUN_IF Y Parents.A.n > 1 && Parents.X.Outcome == "DONE"\n'
        "RUN_IF X ELSE DONE Category.k.Failed + Category.new.Done == 0\nPUBLISH X FILE x.ad\n"
    )
    dag = grown(ABC + "CATEGORY B k\n", text)
    x, y = dag.ids["X"], dag.ids["Y"]
    assert conditions_of(dag)[y].expression.startswith("Parents.A.n > 1")
    assert not conditions_of(dag)[x].skips_children
    assert (place_of_condition(dag, x), place_of_condition(dag, y)) == ("p.dag:6", "p.dag:5")
    assert published_of(dag) == {x: Publish(0, "", "x.ad")}


def test_a_condition_over_the_node_that_has_added_it() -> None:
    dag = grown(ABC, "JOB X x.sub\nRUN_IF X Parents.A.ExitCode == 0\n", between="A B")
    assert conditions_of(dag)[3].expression == "Parents.A.ExitCode == 0"


def test_enough_parents_have_numbers_after_those_of_the_dag() -> None:
    text = "JOB X x\nJOB Y y\nPARENT A B CHILD X Y\nENOUGH PARENTS Y 50% WAIT\nENOUGH PARENTS X 1\n"
    dag = grown(ABC + "ENOUGH PARENTS C 1\n", text)
    own = EnoughsOfDag.of(dag)
    found = {dag.names[node]: own.enoughs[number].name for node, number in own.enough_of.items()}
    assert found == {"C": "C", "X": "X", "Y": "Y"}
    assert enoughs_of(dag)[1][3:] == (50, True, "WAIT")
    assert EnoughsOfDag.of(dag).lines_at == ["x.dag:6", "p.dag:4", "p.dag:5"]


def test_in_a_dag_that_others_extend_there_may_be_more_parents() -> None:
    text = "JOB X x\nENOUGH PARENTS X 5\nPARENT A CHILD X\n"
    assert grown(ABC + "EXTEND B more.dag\n", text).features["enough"]
    assert "but there are 1" in "\n".join(errors(ABC + "EXTEND A m.dag\n", text, between="A B"))


def test_new_nodes_can_be_cached() -> None:
    text = (
        "JOB X x\nJOB Y y\nJOB Z z\nPUBLISH Y FILE y\nEXTEND Z m.dag\nCACHE ALL_NODES\n"
        "CACHE X CHECKSUM INPUTS x.in OUTPUTS x.out\n"
    )
    dag = grown(ABC + "CACHE A\n", text)
    assert cached_of(dag) == {
        0: Cache(0, "", named=True),
        dag.ids["X"]: Cache(0, "", True, ("x.in",), ("x.out",), named=True),
    }


def test_limits_are_of_new_nodes() -> None:
    text = (
        "JOB X x\nJOB Y y\nSUBDAG EXTERNAL D d\nPARENT A CHILD X\nCATEGORY X k\nCATEGORY D k\n"
        "SHARED_LIMIT all ALL_NODES\nSHARED_LIMIT k CATEGORY k\nSHARED_LIMIT y NODES Y\n"
    )
    dag = grown(ABC + "CATEGORY A k\nSHARED_LIMIT base CATEGORY k\n", text)
    x, y = dag.ids["X"], dag.ids["Y"]
    assert limit_uses_of(dag) == [
        LimitUse("base", NodeSet("k")),
        LimitUse("all", NodeSet(nodes=(x, y))),
        LimitUse("k", NodeSet(nodes=(x,))),
        LimitUse("y", NodeSet(nodes=(y,))),
    ]


def test_places_of_conditions_stay_when_nodes_get_other_numbers() -> None:
    others = {"s.dag": "JOB N a.sub\nRUN_IF N true\n"}
    dag = grown(ABC + "RUN_IF C true\n", "SPLICE S s.dag\nJOB X x\nRUN_IF X false\n", others=others)
    found = {dag.names[node]: place_of_condition(dag, node) for node in conditions_of(dag)}
    assert found == {"C": "x.dag:6", "X": "p.dag:3", "S+N": "s.dag:2"}


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("RUN_IF B true\n", "RUN_IF can't be said of node B, which is in the DAG", "p.dag:1"),
        ("PUBLISH B FILE b\n", "PUBLISH can't be said of node B, which is in the DAG", "p.dag:1"),
        ("JOB X x\nRUN_IF X Parents.A.n > 1\n", "A is no parent of node X", "p.dag:2"),
        ("JOB X x\nRUN_IF X Category.z.Done > 1\n", "There is no category z", "p.dag:2"),
        ("JOB X x\nRUN_IF X 1 +\n", "Invalid RUN_IF expression", "p.dag:2"),
        ("CACHE B\n", "CACHE can't be said of node B, which is in the DAG", "p.dag:1"),
        ("JOB X x\nEXTEND X m\nCACHE X\n", "CACHE can't be said of node X: it adds", ""),
        ("JOB X x NOOP\nCACHE X\n", "CACHE can't be said of node X: it is a NOOP", "p.dag:2"),
        ("SHARED_LIMIT a NODES B\n", "SHARED_LIMIT can't be said of node B", "p.dag:1"),
        ("JOB X x\nSHARED_LIMIT a CATEGORY k\n", "SHARED_LIMIT a: no new node is meant", ""),
        ("ENOUGH PARENTS B 1\n", "ENOUGH PARENTS can't be said of node B", "p.dag:1"),
        ("ENOUGH ALL_NODES 1\n", "ENOUGH ALL_NODES can't be added", "p.dag:1"),
        ("JOB X x\nENOUGH CATEGORY k 1\n", "ENOUGH CATEGORY can't be added", "p.dag:2"),
        ("JOB X x\nENOUGH PARENTS X 1\n", "No node is meant by the parents of node X", "p.dag:2"),
        ("JOB X x\nPARENT A CHILD X\nENOUGH PARENTS X 2\n", "but there are 1", "p.dag:3"),
        ("BRAKE b 1 HALT\n", "BRAKE can't be added to a DAG that runs", "p.dag:1"),
        ("JOB A a.sub\n", "Node A already exists in DAG.", "p.dag:1"),
        ("JOB X x\nRETRY A 3\n", "Node A is in the DAG already", "p.dag:2"),
        ('JOB X x\nPARENT A CHILD X\nVARS A a="1"\n', "Node A is in the DAG already", "p.dag:3"),
        ("PARENT A CHILD Q\n", "Unknown child node Q", "p.dag:1"),
        ("FINAL F f.sub\n", "FINAL can't be added to a DAG that runs", "p.dag:1"),
        ("JOB X x\nDOT x.dot\n", "DOT can't be added", "p.dag:2"),
        ("JOB X x\nPARENT X CHILD B\n", "Node B has begun", "p.dag:2"),
        ("JOB X x\nJOB Y y\nPARENT X CHILD Y\nPARENT Y CHILD X\n", "cycle: X -> Y -> X", ""),
        ("JOB X x\nPARENT C CHILD X\nPARENT X CHILD A\n", "cycle: ", ""),
        ("PARENT A CHILD C\nPARENT B CHILD C\n", "B is a parent of C already", ""),
        ("MAXJOBS k 3\n", "MAXJOBS k 3: the DAG has MAXJOBS k 2", ""),
        ("SUBMIT-DESCRIPTION d {\nx = 2\n}\n", "The DAG has another submit description d", ""),
        ("INCLUDE i.dag\n", "Failed to open i.dag", ""),
        ("JOB X\n", "No submit description provided", "p.dag:1"),
        ("\x00\x01\xff", "", "p.dag:1"),
    ],
)
def test_what_is_refused(text: str, message: str, at: str) -> None:
    base = ABC + "MAXJOBS k 2\nCATEGORY A k\nSUBMIT-DESCRIPTION d {\nx = 1\n}\n"
    found = "\n".join(errors(base, text, begun=lambda node: node == 1))
    assert message in found
    assert at in found or f"{at.replace(':', ' (line ')})" in found


def test_all_errors_are_told() -> None:
    found = errors(ABC, "JOB A a.sub\nRETRY B 3\nJOB X x.sub\nDOT x\n")
    assert len([line for line in found if "p.dag:" in line]) >= 2


def test_a_list_becomes_nodes() -> None:
    how = Scatter(0, "", "list", "run-{number}-{1}", "x.sub", pairs=(("f", "{item}"), ("k", "{2}")))
    text = scattered(how, 'a one\n\n# not this\nb "two"\\\n')
    assert text == (
        "JOB run-0-a x.sub\n\n\nJOB run-1-b x.sub\n\n"
        'VARS run-0-a f="a one" k="one"\n'
        'VARS run-1-b f="b \\"two\\"\\\\" k="\\"two\\"\\\\"\n'
    )
    dag = grown(ABC, text, between="A B")
    assert [(v.key, v.value) for v in dag.variables[4]] == [("f", 'b "two"\\'), ("k", '"two"\\')]
    assert dag.place(4) == "p.dag:4"


def test_an_item_that_gives_no_name() -> None:
    with pytest.raises(DagFileErrors) as caught:
        scattered(Scatter(0, "", "l.txt", "n-{item}", "x"), "good\nnot good\na+b\n")
    assert [(e.file, e.line) for e in caught.value.errors] == [("l.txt", 2), ("l.txt", 3)]
    assert "'n-not good' can't be the name of a node" in caught.value.detail()


@pytest.mark.parametrize("item", ["../x", "/etc/x", "a/../../x", ".."])
def test_an_item_whose_name_would_lead_elsewhere_as_a_file(item: str) -> None:
    with pytest.raises(DagFileErrors, match="can't be the name of a node") as caught:
        scattered(Scatter(0, "", "l.txt", "{item}", "x"), f"a/b..c\n{item}\n")
    assert [error.line for error in caught.value.errors] == [2]
    assert "lead out of the DAG's directory" in caught.value.detail()


def test_an_item_that_has_fewer_words_than_the_pattern() -> None:
    with pytest.raises(DagFileErrors, match="can't be the name of a node") as caught:
        scattered(Scatter(0, "", "l.txt", "n-{2}", "x"), "a b\nc\n")
    assert "the pattern is n-{2}, and the line has 1 word" in caught.value.detail()


def test_a_line_that_has_fewer_words_than_a_value_asks_for() -> None:
    how = Scatter(0, "", "l.txt", "n{number}", "x", pairs=(("k", "{1}"), ("w", "{2}")))
    with pytest.raises(DagFileErrors, match="asks for word 2 of a line with 1") as caught:
        scattered(how, "a b\nc\n")
    assert [(e.file, e.line, e.text) for e in caught.value.errors] == [("l.txt", 2, "c")]


def test_a_submit_file_with_blanks() -> None:
    how = Scatter(0, "", "l.txt", "{item}", "my x.sub")
    assert scattered(how, "a") == 'JOB a "my x.sub"\n'


def test_an_item_is_text_in_variables_and_as_it_is_in_names() -> None:
    how = Scatter(0, "", "l.txt", "n-{item}", "x.sub", pairs=(("v", "$(ROOT)/{item}"),))
    assert scattered(how, "$ENV(HOME)").splitlines() == [
        "JOB n-$ENV(HOME) x.sub",
        'VARS n-$ENV(HOME) v="$(ROOT)/$(DAGMAN_DOLLAR)ENV(HOME)"',
    ]


def test_a_list_may_begin_with_a_byte_order_mark() -> None:
    how = Scatter(0, "", "l.txt", "n-{item}", "x.sub")
    assert scattered(how, "\ufeffa\nb\n") == scattered(how, "a\nb\n")


def test_scattered_nodes_have_retries() -> None:
    how = Scatter(0, "", "l.txt", "{item}", "x", retries=3)
    assert scattered(how, "") == "\n"
    dag = Dag()
    dag.finish()
    text = PieceText("l.txt", {"l.txt": scattered(how, "a\nb\n")}, BuildOptions())
    piece = at_once(read_piece(dag, text)).dag
    assert [piece.retries[piece.ids[name]].limit for name in ("a", "b")] == [3, 3]


# Names in a piece: its own, and those of the DAG, which only edges may have.


def building(begun: str = "") -> PieceBuilding:
    dag = build_text(JOBS + "FINAL F f.sub\n")
    return PieceBuilding(dag, BuildOptions(), lambda node: dag.names[node] in begun.split())


def test_a_node_of_the_dag_has_one_stand_in() -> None:
    piece = building()
    first = piece.find("B")
    assert first == piece.find("B") == 0
    assert piece.stand_ins == {0: 1}
    assert piece.find("Q") is None
    assert piece.all_numbers((["B"], ["A", "B"])) == [range(0, 1), [1, 0]]


def test_new_nodes_go_before_stand_ins_in_what_all_nodes_means() -> None:
    piece = building()
    piece.find("B")
    piece.add_node("X", "x.sub", NodeKind.JOB, 0, 1)
    assert list(piece.nodes("ALL_NODES")) == [1]


def test_only_edges_may_name_nodes_of_the_dag() -> None:
    piece = building()
    for ask in (piece.needed, piece.nodes):
        with pytest.raises(ProcessingError, match="is in the DAG already"):
            ask("A")
    assert piece.numbers(["A"]) is None


def test_names_of_the_dag_are_not_new() -> None:
    piece = building()
    assert piece.defined_at("A")
    assert piece.defined_at("X") is None
    assert not piece.dag.add_jobs(["X", "A"], ["x", "x"], [1, 2])


def test_nodes_that_have_begun_get_no_parent() -> None:
    piece = building("B")
    assert piece.all_numbers((["A"], ["C"])) is not None
    assert piece.all_numbers((["A"], ["B"])) is None
    node = piece.find("B")
    assert node is not None
    with pytest.raises(ProcessingError, match="Node B has begun"):
        piece.admit_edges([node])


def test_special_nodes_stay_special() -> None:
    piece = building()
    assert piece.find("F") in piece.special


# What a node would add if it had ended well now.


DAG = "JOB A a.sub\nJOB Z a.sub\nPARENT A CHILD Z\n"


def piece(line: str, text: str, **files: str) -> Piece:
    dag = build_text(DAG + line)
    found = read_now(dag, 0, text, files.__getitem__, BuildOptions())
    assert dag.names == ["A", "Z"]
    return found


def test_a_list() -> None:
    found = piece("SCATTER A l x-{item} a.sub VARS k={number}\n", "a\nb\n")
    assert found.dag.names == ["x-a", "x-b", "A", "Z"]
    assert (found.size, found.known, found.children) == (2, (0, 1), (1,))


def test_a_dag_file_and_those_that_it_includes() -> None:
    found = piece("EXTEND A m ANYWHERE TRUSTED\n", "JOB B b.sub\nINCLUDE n\n", n="JOB C c.sub\n")
    assert found.dag.names == ["B", "C"]


def test_what_is_refused_if_a_node_had_ended_now() -> None:
    with pytest.raises(DagFileErrors, match="already exists"):
        piece("EXTEND A m\n", "JOB Z b.sub\n")
