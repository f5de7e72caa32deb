"""Nodes, layers and edges of a Workflow, and the DAG file that it writes."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Callable
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from condor_pydagman import DagError, FileError, UsageError, read_dag
from condor_pydagman.picture import notebook
from condor_pydagman.workflow.workflow import Workflow


class Row(NamedTuple):
    """A row of a table."""

    run: int
    side: str


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_file_reads_well() -> None:
    flow = Workflow()
    fetch = flow.job("Fetch", {"executable": "fetch", "My.Big": True}, {"url": 'http://x/"y"'})
    fits = flow.layer("Fit{run}", {"executable": "fit"}, [Row(3, "left"), Row(7, "right")])
    plot = flow.job("Plot", "plot.sub").retry(2)
    fetch >> fits >> plot
    flow.config("dag.conf").maxjobs("fits", 1)
    fits.category("fits")
    assert (
        flow.text()
        == inspect.cleandoc(
            r"""
        # Written by condor_pydagman's Workflow, which writes over what is changed here.

        CONFIG dag.conf

        SUBMIT-DESCRIPTION Fit {
            executable = fit
        }

        JOB Fetch {
            executable = fetch
            My.Big = true
        }
        VARS Fetch url="http://x/\"y\""

        JOB Fit3 Fit
        VARS Fit3 run="3" side="left"
        CATEGORY Fit3 fits
        JOB Fit7 Fit
        VARS Fit7 run="7" side="right"
        CATEGORY Fit7 fits

        JOB Plot plot.sub
        RETRY Plot 2

        PARENT Fetch CHILD Fit3 Fit7
        PARENT Fit3 Fit7 CHILD Plot

        MAXJOBS fits 1
        """
        )
        + "\n"
    )
    assert flow.check() == ()


def edges(flow: Workflow) -> set[str]:
    dag = read_dag(flow.write("edges.dag"))
    return {f"{one.parent}{'~' * one.weak}{one.child}" for one in dag.edges}


@pytest.mark.parametrize(
    ("join", "wanted"),
    [
        (lambda a, b, c, d: a >> b >> c, "AB BC"),
        (lambda a, b, c, d: a >> [b, c] >> d, "AB AC BD CD"),
        (lambda a, b, c, d: [a, "B"] >> c << d, "AC BC DC"),
        (lambda a, b, c, d: ["A", b] << c, "CA CB"),
        (lambda a, b, c, d: a.before([b, c], weak=True) >> d, "A~B A~C BD CD"),
        (lambda a, b, c, d: (a >> []) >> d, ""),
    ],
)
def test_edges(join: Callable[..., Any], wanted: str) -> None:
    flow = Workflow()
    join(*(flow.job(name, "x.sub") for name in "ABCD"))
    assert edges(flow) == set(wanted.split())


def test_edges_one_to_one_and_by_key() -> None:
    flow = Workflow()
    rows = [{"run": run, "side": side} for run in (1, 2) for side in "xy"]
    reduced = flow.layer("R{run}{side}", "x.sub", rows)
    fitted = flow.layer("F{run}{side}", "x.sub", rows)
    plots = flow.layer("P{run}", "x.sub", [{"run": 2}, {"run": 1}])
    reduced.before_each(fitted)
    fitted.before_by("run", plots)
    plots.before_by(lambda node: node.name[-1], flow.layer("Z", "x.sub", 3)[1:])
    one_to_one = {f"R{name}F{name}" for name in ("1x", "1y", "2x", "2y")}
    assert edges(flow) == one_to_one | {"F1xP1", "F1yP1", "F2xP2", "F2yP2", "P1Z1", "P2Z2"}


def test_a_long_list_of_children_is_wrapped() -> None:
    flow = Workflow()
    flow.job("A", "x.sub") >> flow.layer("ChildWithALongName", "x.sub", 9)
    lines = [line for line in flow.text().splitlines() if line.startswith("PARENT")]
    assert len(lines) == 3
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([{"x": 1}, {"x": 2}], ()),
        (iter([(1,), (2,)]), ("x",)),
        (range(1, 3), ("x",)),
        ((one for one in ("1", "2")), ("x",)),
    ],
)
def test_rows(rows: Any, columns: tuple[str, ...]) -> None:
    nodes = Workflow().layer("A", "x.sub", rows, columns=columns)
    assert [(node.name, node.variables) for node in nodes] == [
        ("A0", {"x": "1"}),
        ("A1", {"x": "2"}),
    ]


def test_rows_of_a_database_and_of_classes() -> None:
    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    selected = Workflow().layer("A{run}", "x.sub", database.execute("SELECT 3 AS run, 'l' AS side"))
    assert selected[0].variables == {"run": "3", "side": "l"}
    database.close()
    made = make_dataclass("Made", ["run", "side"])
    nodes = Workflow().layer("A{run}", "x.sub", [made(3, "l")])
    assert (nodes[0].name, nodes[0].variables) == ("A3", {"run": "3", "side": "l"})


def test_rows_of_a_table_of_pandas() -> None:
    class Frame:
        columns = ("x",)

        def to_dict(self, how: str) -> list[dict[str, int]]:
            assert how == "records"
            return [{"x": 1}]

    rows: Any = Frame()
    assert Workflow().layer("A{x}", "x.sub", rows)[0].name == "A1"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: f.job("A", "y.sub"), "There is a node A already"),
        (lambda f: f.job("a b", "y.sub"), "it has blanks"),
        (lambda f: f.job("PARENT", "y.sub"), "reserved word"),
        (lambda f: f.job("S+A", "y.sub"), "illegal charater"),
        (lambda f: f.job("B\n", "y.sub"), "B"),
        (lambda f: f.job("B", "y.sub", {"x": "a\nb"}), "more than one line"),
        (lambda f: f.job("B", "y.sub", {"1 x": "a"}), "Key value pair"),
        (lambda f: f.job("B", {"a b": 1}), "'a b' can't be a name"),
        (lambda f: f.job("B", {"arguments": "a\nqueue"}), "must be one line"),
        (lambda f: f.job("B", {"queue": 5}), "'queue' can't be a name"),
        (lambda f: f.job("B", {"Queue": 5}), "'Queue' can't be a name"),
        (
            lambda f: f.layer("B{run}", "y.sub", [{"x": 1}]),
            "no 'run' for the name B{run}, but x",
        ),
        (lambda f: f.select("Z*"), "There is no node Z"),
        (lambda f: f.layer("B{x", "y.sub", [{"x": 1}]), "A row gives no name"),
        (lambda f: f.layer("B", "y.sub", [(1, 2)], columns=("x",)), "2 values for 1 columns"),
        (lambda f: f["A"] >> "Bee", "There is no node Bee"),
        (lambda f: f["A"] >> Workflow().job("A", "x.sub"), "Nodes of two Workflows"),
        (lambda f: f["A"] >> [Workflow().job("A", "x.sub")], "Nodes of two Workflows"),
        (lambda f: f["A"].before_each(Workflow().layer("B", "x", 1)), "Nodes of two Workflows"),
        (lambda f: f.layer("B", "y.sub", 2).before_each("A"), "can't each have one child"),
        (lambda f: f["A"].before_by("x", "A"), "(?s)node A has no variable 'x'.*it has none"),
        (lambda f: [f.description("d", {}), f.description("d", {})], "There is a description d"),
    ],
)
def test_what_is_wrong_by_itself_is_refused_at_once(
    make: Callable[[Workflow], Any], message: str
) -> None:
    flow = Workflow()
    flow.job("A", "x.sub")
    with pytest.raises(DagError, match=message) as caught:
        make(flow)
    assert caught.value.errors[0].place.file == __file__
    assert flow.check() == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda f: f.job("B", ["x.sub"]),
        lambda f: f.job("B", 5),
        lambda f: f.job("B", {"priority": max}),
        lambda f: f.layer("B", "x.sub", [(1, 2)]),
        lambda f: f["A"] >> 5,
    ],
)
def test_what_is_of_the_wrong_type(make: Callable[[Workflow], Any]) -> None:
    flow = Workflow()
    flow.job("A", "x.sub")
    with pytest.raises(TypeError):
        make(flow)


def test_a_cycle_is_told_at_the_line_of_the_program() -> None:
    flow = Workflow()
    first, last = flow.job("A", "x.sub"), flow.job("B", "x.sub")
    first >> last
    last >> first
    with pytest.raises(DagError, match="A -> B -> A") as caught:
        flow.write("my.dag")
    place = caught.value.errors[0].place
    assert place.file == __file__
    assert Path(__file__).read_text().splitlines()[place.line - 1] == "    last >> first"
    assert list(Path().iterdir()) == []


def test_the_mistakes_of_inner_dags_are_told_at_their_lines() -> None:
    inner = Workflow()
    inner.job("A", "x.sub").pin_in(5)
    flow = Workflow()
    flow.splice("S", inner) >> flow.job("B", "x.sub")
    flow.connect("S", "T")
    assert {problem.place.file for problem in flow.check()} == {__file__}


def test_a_line_of_a_description_that_nothing_uses_is_told_by_a_check_alone() -> None:
    flow = Workflow()
    flow.final("F", {"executable": "/bin/true", "request_memroy": 1})
    (found,) = flow.check()
    assert (found.hint, found.place.file) == ("did you mean request_memory?", __file__)
    flow.write("my.dag")


def test_splices_and_sub_dags_have_files_of_their_own() -> None:
    def chain() -> Workflow:
        flow = Workflow()
        flow.job("A", "x.sub") >> flow.job("B", "x.sub")
        return flow

    flow = Workflow()
    flow.splice("S", chain()) >> flow.subdag("D", chain()) >> flow.subdag("E", "there.dag")
    Path("there.dag").write_text("JOB A x.sub\n")
    assert flow.write("outer/my.dag") == "outer/my.dag"
    assert sorted(path.name for path in Path("outer").iterdir()) == [
        "my.D.dag",
        "my.S.dag",
        "my.dag",
    ]
    dag = read_dag("outer/my.dag")
    assert list(dag) == ["D", "E", "S+A", "S+B"]
    assert dag["D"].subdag == "outer/my.D.dag"


def test_a_file_is_added_to() -> None:
    Path("first.dag").write_text("# mine\nCONFIG c\nJOB A a.sub\nSPLICE S s.dag\n")
    Path("s.dag").write_text("JOB B b.sub\n")
    Path("c").write_text("")
    flow = Workflow.read("first.dag")
    assert list(flow) == ["A", "S+B"]
    flow["A"].retry(2) >> flow.job("C", "c.sub")
    with pytest.raises(DagError, match=r"There is no node S\n.* in that file only"):
        flow["A"] >> "S"
    with pytest.raises(DagError, match=r"(?s)There is a node A already.*with Workflow\(\)"):
        flow.job("A", "c.sub")
    with pytest.raises(FileError, match="adds to"):
        flow.write("./first.dag")
    dag = read_dag(flow.write("more.dag"))
    assert sorted(dag) == ["A", "C", "S+B"]
    assert dag["C"].parents == ("A",)
    assert dag["A"].retry.limit == 2  # type: ignore[union-attr]
    assert Path("first.dag").read_text().startswith("# mine\n")
    assert "CONFIG c\n" in Path("more.dag").read_text()


def test_a_file_that_has_lost_a_node_since() -> None:
    Path("first.dag").write_text("JOB A a.sub\n")
    flow = Workflow.read("first.dag")
    flow["A"].retry(2)
    Path("first.dag").write_text("JOB B a.sub\n")
    with pytest.raises(DagError, match="Unknown node A"):
        flow.write("more.dag")


def test_a_file_of_somebody_else_is_not_replaced() -> None:
    Path("my.dag").write_text("JOB A a.sub\n")
    flow = Workflow()
    flow.job("B", "b.sub")
    with pytest.raises(FileError, match="overwrite=True"):
        flow.write("my.dag")
    flow.write("my.dag", overwrite=True)
    flow.write("my.dag")
    assert list(read_dag("my.dag")) == ["B"]


def test_select() -> None:
    flow = Workflow()
    flow.layer("Fit", "x.sub", 3)
    flow.job("Plot", "x.sub")
    assert [node.name for node in flow.select("Fit[12]")] == ["Fit1", "Fit2"]
    assert "Fit0" in flow
    with pytest.raises(KeyError):
        flow["Fit9"]


def test_a_layer_s_description_is_named_without_what_joins_the_values() -> None:
    flow = Workflow()
    flow.layer("Sim_{run}_{side}", {"executable": "sim"}, [Row(3, "left")])
    assert "JOB Sim_3_left Sim\n" in flow.text()


def test_all_nodes_show_themselves() -> None:
    assert repr(Workflow().all_nodes.retry(2)) == "<all nodes of a Workflow>"


def test_the_dag_as_dagman_reads_it() -> None:
    flow = Workflow()
    flow.job("A", "x.sub") >> flow.job("B", "x.sub")
    assert flow.dag()["B"].parents == ("A",)
    said, *_ = flow._repr_mimebundle_()["text/plain"].split("\n")  # then why there is no picture
    assert said == "workflow.dag: 2 nodes, 1 edge"


def test_of_a_large_workflow_the_size_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "MAX_NODES", 1)
    monkeypatch.setattr(Workflow, "dag", None)  # to read it takes long
    flow = Workflow()
    flow.job("A", "x.sub") >> flow.job("B", "x.sub")
    shown = {"text/plain": f"<Workflow of 2 nodes>\n{notebook.NO_PICTURE}"}
    assert flow._repr_mimebundle_() == shown


def test_a_dag_that_dagman_would_refuse_shows_why() -> None:
    flow = Workflow()
    flow.job("A", "x.sub").pin_in(5)
    flow.connect("S", "T")
    shown = flow._repr_mimebundle_()
    assert list(shown) == ["text/plain"]
    assert f"{__file__}:" in shown["text/plain"]


def test_a_file_must_be_named_to_submit() -> None:
    with pytest.raises(UsageError, match="name a DAG file"):
        Workflow().submit()
