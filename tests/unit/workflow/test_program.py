"""The program that makes a DAG anew: of what htcondor2.dags writes, and of other files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman import Dag, DagError, Workflow, parse_dag, read_dag
from condor_pydagman.workflow.program import Program

htcondor2: Any = pytest.importorskip("htcondor2")
dags: Any = pytest.importorskip("htcondor2.dags")
COUNT = [{"x": number} for number in range(4)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def again(file: str) -> tuple[str, Dag]:
    """The program of a file, and the DAG that it makes."""
    text = Program(file).text()
    program: dict[str, Any] = {"__name__": "test"}
    exec(compile(text, "program.py", "exec"), program)
    flow: Workflow = program["flow"]
    return text, read_dag(flow.write("again.dag"))


def nodes(dag: Dag) -> dict[str, tuple[Any, ...]]:
    return {
        one.name: (
            one.kind, one.submit, one.subdag, one.directory, one.noop, one.done, one.variables,
            one.scripts, one.retry, one.abort, one.priority, one.category, one.pre_skip,
        )
        for one in dag.values() if not one.name.startswith("__JOIN__")
    }  # fmt: skip


def edges(dag: Dag) -> set[tuple[str, str, bool]]:
    """The edges; those through a node that only joins others made direct."""
    found = set()
    for edge in dag.edges:
        joins = edge.child.startswith("__JOIN__")
        for child in dag[edge.child].children if joins else [edge.child]:
            found.add((edge.parent, child, edge.weak))
    return {one for one in found if not one[0].startswith("__JOIN__")}


def everything(dag: Any) -> None:
    """A DAG with all that htcondor2.dags can say of nodes."""
    a = dag.layer(
        name="A", submit_description=Path("a.sub"), vars=COUNT, retries=2, retry_unless_exit=3,
        priority=5, category="few", pre=dags.Script("pre.sh", ["a", 'b"c']), dir="there",
        post=dags.Script("post.sh", retry=True, retry_status=2, retry_delay=10),
        pre_skip_exit_code=4, abort=dags.DAGAbortCondition(7, 1),
    )  # fmt: skip
    a.child_subdag(name="S", dag_file=Path("other.dag"))
    dag.layer(name="in", noop={0: True, 2: True}, done=True, vars=[{"x": 'a"\\'}, {}, {"y": 1}])
    dag.final(name="F")


def joined(*edge: Any) -> Callable[[Any], None]:
    """Layers of four with that edge."""

    def make(dag: Any) -> None:
        parents = dag.layer(name="A", vars=COUNT)
        parents.child_layer(*edge, name="B", vars=COUNT)

    return make


SHAPES = [
    (everything, "A >> S_0"),
    (joined(), "A >> B"),
    (joined(dags.OneToOne()), "A.before_each(B)"),
    (joined(dags.Grouper(2, 2)), "A[2 * n:2 * (n + 1)] >> B[2 * n:2 * (n + 1)]"),
    (joined(dags.Slicer(slice(0, 4, 2), slice(1, 3))), "A[0:3:2].before_each(B[1:3])"),
    (joined(dags.Slicer(slice(0, 1), slice(2, 3))), "A[0] >> B[2]"),
]


@pytest.mark.parametrize(("make", "line"), SHAPES)
def test_a_dag_of_htcondor2(make: Callable[[Any], None], line: str) -> None:
    theirs = dags.DAG()
    make(theirs)
    dags.write_dag(theirs, Path())
    text, ours = again("dagfile.dag")
    assert line in map(str.strip, text.splitlines())
    written = read_dag("dagfile.dag")
    assert nodes(ours) == nodes(written)
    assert edges(ours) == edges(written)


@pytest.mark.parametrize("make", [make for make, _ in SHAPES])
def test_a_workflow_begins_with_a_dag_of_htcondor2(make: Callable[[Any], None]) -> None:
    theirs = dags.DAG()
    make(theirs)
    dags.write_dag(theirs, Path("theirs"))
    ours = read_dag(Workflow(theirs).write("ours.dag"))
    written = read_dag("theirs/dagfile.dag")
    assert edges(ours) == edges(written)
    assert sorted(nodes(ours)) == sorted(nodes(written))
    for name, said in nodes(written).items():
        found = nodes(ours)[name]
        assert found[2:] == said[2:]
        assert found[:2] == said[:2] or said[1] == f"{name.partition(':')[0]}.sub"


def test_descriptions_and_settings_of_a_dag_of_htcondor2() -> None:
    theirs = dags.DAG(
        dagman_job_attributes={"Foo": '"x"'}, max_jobs_by_category={"few": 2},
        dot_config=dags.DotConfig("d.dot", update=True, include_file="h"), jobstate_log="log",
        node_status_file=dags.NodeStatusFile("status", 30, True),
    )  # fmt: skip
    run = htcondor2.Submit({"executable": "/bin/sleep", "arguments": "$(x)"})
    layer = theirs.layer(name="A", submit_description=run, vars=COUNT, category="few")
    theirs.final(name="F", submit_description=run)
    flow = Workflow(theirs)
    flow["A:0"].before(flow.job("B", "b.sub"))
    lines = flow.text().splitlines()
    assert lines.count("    arguments = $(x)") == 2  # of the layer, and of F
    assert {
        'SET_JOB_ATTR Foo = "x"', "JOBSTATE_LOG log", "DOT d.dot UPDATE OVERWRITE INCLUDE h",
        "NODE_STATUS_FILE status 30 ALWAYS-UPDATE", "CATEGORY A:0 few", "MAXJOBS few 2",
        "JOB A:3 A", "FINAL F {", "PARENT A:0 CHILD B",
    } < set(lines)  # fmt: skip
    layer.add_parents(layer)
    with pytest.raises(DagError, match="a cycle exists in it"):
        Workflow(theirs)


def test_a_final_node_of_htcondor2_has_its_file() -> None:
    theirs = dags.DAG()
    theirs.layer(name="A", submit_description=Path("a.sub"))
    theirs.final(name="F", submit_description=Path("end.sub"))
    found = [Path(one.submit).name for one in Workflow(theirs).dag().values()]
    assert found == ["a.sub", "end.sub"]


def test_what_a_workflow_does_not_begin_with() -> None:
    with pytest.raises(DagError, match="dagman_config: write a file"):
        Workflow(dags.DAG(dagman_config={"DAGMAN_MAX_JOBS_IDLE": 5}))
    with pytest.raises(TypeError, match=r"begins with an htcondor2\.dags\.DAG, not 'my\.dag'"):
        Workflow("my.dag")


@pytest.mark.parametrize(("size", "children_size"), [(2, 3), (1, 1), (4, 6)])
def test_groups_are_those_of_a_grouper(size: int, children_size: int) -> None:
    count = 4 // size * children_size
    theirs = dags.DAG()
    parents = theirs.layer(name="A", vars=COUNT)
    parents.child_layer(dags.Grouper(size, children_size), name="B", vars=[{}] * count)
    flow = Workflow()
    flow.layer("A:", "a.sub", 4).before_groups(
        flow.layer("B:", "a.sub", count), size, children_size
    )
    assert edges(read_dag(flow.write("ours.dag"))) == edges(
        read_dag(Workflow(theirs).write("theirs.dag"))
    )


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ((3, 1), "4 nodes can't be put into groups of 3"),
        ((2, 0), "4 nodes can't be put into groups of 0"),
        ((2, 1), "only one side has nodes with 2"),
    ],
)
def test_groups_that_do_not_fit(sizes: tuple[int, int], why: str) -> None:
    flow = Workflow()
    with pytest.raises(DagError, match=why):
        flow.layer("A", "a.sub", 4).before_groups(flow.layer("B", "a.sub", 4), *sizes)


def test_what_is_set_for_the_whole_dag() -> None:
    theirs = dags.DAG(
        dagman_config={"DAGMAN_MAX_JOBS_IDLE": 5}, dagman_job_attributes={"Foo": '"x"'},
        max_jobs_by_category={"few": 2}, dot_config=dags.DotConfig("d.dot", update=True),
        jobstate_log="log", node_status_file=dags.NodeStatusFile("status", 30, True),
    )  # fmt: skip
    theirs.layer(name="A", category="few")
    dags.write_dag(theirs, Path())
    again("dagfile.dag")
    lines = set(Path("again.dag").read_text().splitlines())
    assert lines > {
        "CONFIG dagman.config", 'SET_JOB_ATTR Foo = "x"', "JOBSTATE_LOG log",
        "DOT d.dot UPDATE OVERWRITE",
        "NODE_STATUS_FILE status 30 ALWAYS-UPDATE", "CATEGORY A:0 few", "MAXJOBS few 2",
    }  # fmt: skip


OTHER = """\
SUBMIT-DESCRIPTION d {
    # mine
    executable = /bin/true
}
JOB class d
JOB B {
    arguments = a = b
}
JOB C1 c.sub
JOB C0 c.sub
VARS B APPEND x="1"
PRIORITY ALL_NODES 3
WEAK PARENT class B CHILD C1 C0
PARENT class B CHILD C1 C0
"""


def test_another_file() -> None:
    Path("other.dag").write_text(OTHER)
    text, ours = again("other.dag")
    assert edges(ours) == edges(parse_dag(OTHER))
    assert nodes(ours) == nodes(parse_dag(OTHER))
    assert "node_class = flow.job('class', 'd')" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("JOB A a.sub\nSITE_GROUP g SPLICE A\n", "SITE_GROUP can't be translated"),
        ("JOB A {\nif defined x\nendif\n}\n", "a line that no dict can have: if defined x"),
        ("JOB A {\narguments = a \\\nx = b\n}\n", "a line that no dict can have: arguments = a"),
        ("JOB A {\nqueue = 3\n}\n", "a line that no dict can have: queue = 3"),
        ("RETRY A 3\nJOB A a.sub\n", "of A, which is not defined before"),
        ("JOB A a.sub\nRETRY A 3\nRETRY ALL_NODES 2\n", "of all nodes stands behind that of A"),
        ('JOB A a\nVARS A x="1"\nVARS ALL_NODES x="2"\n', "of all nodes stands behind that of A"),
        ("JOB A\n", "No submit description"),
    ],
)
def test_what_is_not_translated(text: str, message: str) -> None:
    Path("my.dag").write_text(text)
    with pytest.raises(DagError, match=message):
        Program("my.dag").text()


def test_what_is_said_of_all_nodes_and_then_of_one() -> None:
    text = 'RETRY ALL_NODES 3\nVARS ALL_NODES x="1"\nJOB A a.sub\nJOB B b.sub\n'
    Path("my.dag").write_text(f'{text}VARS A x="2"\nRETRY A 1\n')
    _, ours = again("my.dag")
    assert nodes(ours) == nodes(read_dag("my.dag"))


def test_names_with_braces_are_no_patterns_of_a_layer() -> None:
    Path("my.dag").write_text("JOB {x}0 a.sub\nJOB {x}1 a.sub\nPARENT {x}0 CHILD {x}1\n")
    _, ours = again("my.dag")
    assert list(ours) == ["{x}0", "{x}1"]


def test_the_command() -> None:
    Path("my.dag").write_text("JOB A a.sub\n")
    command = [sys.executable, "-m", "condor_pydagman.workflow.program"]
    done = subprocess.run([*command, "my.dag"], capture_output=True, text=True, check=True)
    assert done.stdout == Program("my.dag").text()
    failed = subprocess.run([*command, "no.dag"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr == "can't read the DAG file no.dag: No such file or directory\n"
    assert failed.stdout == ""


def test_nodes_of_splices() -> None:
    Path("s.dag").write_text("JOB A a.sub\nJOB B a.sub\n")
    text = "SPLICE S s.dag\nJOB C c.sub\nPARENT S CHILD C\nPARENT S+A C CHILD D\n"
    Path("my.dag").write_text(text)
    lines = Program("my.dag").text().splitlines()
    assert {"S >> C", "[flow['S+A'], C] >> flow['D']"} < set(lines)
