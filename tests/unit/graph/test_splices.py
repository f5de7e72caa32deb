"""SPLICE: names, the order of nodes, what is lifted and what stays."""

from __future__ import annotations

import pytest

from condor_pydagman.graph import build
from condor_pydagman.graph.build import leave
from condor_pydagman.graph.building import Building, BuildOptions
from condor_pydagman.graph.model import Dag, Splice
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.graph.scope import Scope
from tests.unit.graph.texts import JOBS, build_text, children, error, problems

AB = "JOB A x\nJOB B x\nPARENT A CHILD B\n"


def test_splices_in_splices() -> None:
    middle = "SPLICE U s\nJOB M x\nPARENT M CHILD U\n"
    dag = build_text("SPLICE S t\nJOB X x\nPARENT X CHILD S\n", {"s": AB, "t": middle})
    assert dag.names == ["X", "S+M", "S+U+A", "S+U+B"]
    assert children(dag, "X") == ["S+M"]
    assert children(dag, "S+M") == ["S+U+A"]
    assert dag.splices == [Splice("S", "t", "", 1, 4), Splice("S+U", "s", "", 2, 4)]


def test_everything_moves_with_a_node_that_gets_another_number() -> None:
    splice = (
        AB + "SCRIPT PRE A p\nRETRY A 1\nABORT-DAG-ON A 1\nPRIORITY A 3\nPRE_SKIP A 4\n"
        "TOLERANCE A 5\nSAVE_POINT_FILE A f\nCATEGORY A c\nMAXJOBS c 1\n"
        "VARS A x=6 y=7\nDONE A\n"
    )
    alone = build_text(splice)
    dag = build_text("SPLICE S s\nSPLICE R s\nJOB X x\n", {"s": splice})
    for name in ("S+A", "R+A"):
        node = dag.ids[name]
        for what in (
            *("retries", "aborts", "priorities", "pre_skips", "tolerances"),
            "save_points",
        ):
            assert getattr(dag, what)[node] == getattr(alone, what)[0]
            assert 0 not in getattr(dag, what)
        assert dag.categories[node] == name[:2] + "c"
        assert dag.variables[node] == alone.variables[0]
        assert dag.flags[node] == alone.flags[0]
        assert dag.scripts[node] == alone.scripts[0]
        assert dag.place(node) == "s:1"


def test_directories() -> None:
    texts = {"d/s": "JOB A x\nJOB B x DIR e\nSPLICE T t DIR f\n", "d/f/t": "JOB C x\n"}
    dag = build_text("SPLICE S s DIR d\nJOB X x DIR g\n", texts)
    found = {dag.names[node]: directory for node, directory in dag.directories.items()}
    assert found == {"X": "g", "S+A": "d", "S+B": "d/e", "S+T+C": "d/f"}
    assert [splice.directory for splice in dag.splices] == ["d", "d/f"]


@pytest.mark.parametrize("kind", ["FINAL", "PROVISIONER"])
def test_what_a_splice_cannot_hold(kind: str) -> None:
    found = error("JOB A x\nSPLICE S s\n", {"s": f"{AB}{kind} F x\n"})
    assert str(found) == f"ERROR: Splice S has a {kind} node. This is not permitted."
    assert (found.file, found.line, found.text) == ("x.dag", 2, "SPLICE S s")


def test_a_service_in_a_splice_is_neither_first_nor_last() -> None:
    dag = build_text("SPLICE S s\nJOB X x\nPARENT X CHILD S\n", {"s": AB + "SERVICE V x\n"})
    assert children(dag, "X") == ["S+A"]


def test_submit_descriptions_of_a_splice_are_for_all() -> None:
    splice = "SUBMIT-DESCRIPTION d {\nx = 1\n}\nJOB A d\n"
    dag = build_text("SPLICE S s\nSPLICE T s\nJOB B {\ny = 1\n}\n", {"s": splice})
    assert dag.descriptions == {"d": "x = 1", "B-InlineDesc0": "y = 1"}
    assert dag.warnings == []
    text = "SPLICE S s\nSUBMIT-DESCRIPTION d {\nx = 2\n}\n"
    dag = build_text(text, {"s": splice})
    assert dag.descriptions == {"d": "x = 2"}
    assert "Conflicting inline descriptions" in dag.warnings[0]


def test_errors_in_a_splice_say_how_it_was_reached() -> None:
    texts = {"s": "JOB A x\nSPLICE T t\n", "t": "\nRETRY Z 1\n"}
    found = error(JOBS + "SPLICE S s\n", texts)
    assert found.detail().split("\n") == [
        "ERROR: Unknown node Z referenced",
        "Processing error at t:2",
        "ERROR: Failed to parse splice T's DAG file t",
        "Processing error at s:2",
        "ERROR: Failed to parse splice S's DAG file s",
        "Processing error at x.dag:4",
        "    RETRY Z 1",
        "          ^",
    ]


def test_after_an_error_in_a_splice_the_others_are_looked_at() -> None:
    texts = {"s": "FOO\n", "t": "BAR\n"}
    found = problems("SPLICE S s\nSPLICE T t\nBAZ\n", texts)
    assert [(one.file, one.line) for one in found.errors] == [("s", 1), ("t", 1), ("x.dag", 3)]


@pytest.mark.parametrize("what", ["NODES", "EDGES"])
def test_a_few_lines_cannot_ask_for_more_than_any_machine_holds(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, f"MAX_{what}", 1000)
    ten = [f"s{number}" for number in range(10)]
    texts = {f"f{n}": "".join(f"SPLICE {name} f{n + 1}\n" for name in ten) for n in range(1, 12)}
    texts["f12"] = "".join(f"JOB {name} x\n" for name in ten) + "PARENT s0 s1 CHILD s2 s3\n"
    with pytest.raises(DagFileErrors) as caught:
        build_text("SPLICE s f1\n", texts)
    assert f"More than 1,000 {what.lower()}: no further splice" in str(caught.value)


def test_the_root_is_never_left() -> None:
    with pytest.raises(ValueError, match="root"):
        leave(Building(Dag(), BuildOptions()), good=True)


def test_splices_are_lifted_in_the_order_of_the_bytes_of_their_names() -> None:
    root = Scope()
    for name in ("b", "é", "B", "\udcff", "a2", "a10"):
        root.splices[name] = Scope(root, name, "x")
    assert [splice.name for splice in root.lift()] == ["B", "a10", "a2", "b", "é", "\udcff"]
