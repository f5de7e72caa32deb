"""SITE_GROUP and SITE_POLICY: which nodes are in which group, and what its policy is."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.sites.commands import SiteGroup, SitePolicy, groups_of
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from tests.unit.graph.texts import JOBS, build_files, build_text, error

UNIT = "JOB in x\nJOB run x\nJOB clean x\nPARENT in CHILD run\nPARENT run CHILD clean\n"
INNER = UNIT + "SITE_GROUP g NODES run clean\nSITE_POLICY ALL_GROUPS CLEAN_UP clean 5\n"


def members(dag: Dag) -> dict[str, list[str]]:
    """Names of the nodes, by group."""
    found = {one.name: [dag.names[node] for node in one.nodes] for one in groups_of(dag)}
    for number, group in enumerate(groups_of(dag)):
        assert [node for node in range(len(dag)) if dag.group_of(node) == number] == [*group.nodes]
    return found


def test_nodes_of_groups() -> None:
    dag = build_text("SITE_GROUP g NODES C A\n" + JOBS + "SITE_GROUP h NODES B\n")
    assert members(dag) == {"g": ["A", "C"], "h": ["B"]}


def test_all_nodes_but_those_that_run_apart() -> None:
    dag = build_text(JOBS + "FINAL F x\nSERVICE S x\nSITE_GROUP whole ALL_NODES\n")
    assert members(dag) == {"whole": ["A", "B", "C"]}


def test_splices_and_groups_within() -> None:
    text = "JOB Z x\nSPLICE T u\nSPLICE S u\nSITE_GROUP a SPLICE S\nSITE_GROUP b SPLICE T\n"
    dag = build_text(text + "SITE_GROUP c NODES Z\n", {"u": UNIT})
    assert members(dag) == {
        "a": ["S+in", "S+run", "S+clean"],
        "b": ["T+in", "T+run", "T+clean"],
        "c": ["Z"],
    }
    dag = build_text("SPLICE T u\nSPLICE S u\n", {"u": INNER})
    assert members(dag) == {"T+g": ["T+run", "T+clean"], "S+g": ["S+run", "S+clean"]}
    assert [dag.names[one.clean_up] for one in groups_of(dag)] == ["T+clean", "S+clean"]


def test_several_dag_files() -> None:
    text = JOBS + "SITE_GROUP g NODES A\nSITE_POLICY g CLEAN_UP A\n"
    dag = build_files({"a.dag": text, "b.dag": text})
    assert members(dag) == {"0.g": ["0.A"], "1.g": ["1.A"]}


def test_policies() -> None:
    dag = build_text(
        "SPLICE S u\nSPLICE T u\nSITE_GROUP a SPLICE S\nSITE_GROUP b SPLICE T\n"
        "SITE_POLICY ALL_GROUPS IDLE 5m\nSITE_POLICY ALL_GROUPS CLEAN_UP clean\n"
        "SITE_POLICY b idle 6m\nSITE_POLICY b REQUIREMENTS true\n",
        {"u": UNIT},
    )
    a, b = groups_of(dag)
    common = SitePolicy(idle=300, clean_up="clean", clean_up_time=600)
    assert (a.policy, dag.names[a.clean_up]) == (common, "S+clean")
    assert (b.policy, dag.names[b.clean_up]) == (
        common._replace(idle=360, requirements="true"),
        "T+clean",
    )


def test_equal_policies_are_shared() -> None:
    lines = "".join(f"JOB N{n} x\nSITE_GROUP g{n} NODES N{n}\n" for n in range(3))
    dag = build_text(lines + "SITE_POLICY ALL_GROUPS HELD 1\nSITE_POLICY ALL_GROUPS WAIT 2\n")
    assert len({id(group.policy) for group in groups_of(dag)}) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SITE_GROUP g NODES D", "Unknown node D referenced"),
        ("SITE_GROUP g NODES A\nSITE_GROUP h NODES B A", "Node A is in group g already"),
        ("SITE_GROUP g NODES A\nSITE_GROUP g NODES B", "There is a group g already"),
        ("FINAL F x\nSITE_GROUP g NODES A F", "FINAL node F can't be in a group"),
        ("SITE_GROUP g SPLICE A", "Unknown splice A"),
        ("SPLICE E e\nSITE_GROUP g SPLICE E", "Splice E has no nodes"),
        ("SPLICE S u\nSITE_GROUP g NODES S", "S is a splice"),
        ("SITE_GROUP g NODES A\nSITE_POLICY h WAIT 1", "Unknown group h"),
        ("SITE_POLICY ALL_GROUPS WAIT 1", "There is no group before this line"),
        ("SITE_GROUP g NODES A\nSITE_POLICY g CLEAN_UP B", "Node B is not in group g"),
        ("SUBDAG EXTERNAL D d\nSITE_GROUP g NODES D+A", "Unknown node D+A referenced"),
    ],
)
def test_errors(text: str, said: str) -> None:
    found = error(f"{JOBS}{text}\n", {"u": UNIT, "e": ""})
    assert said in found.message
    assert found.line


def test_written_as_one_file() -> None:
    dag = build_text(
        "SPLICE S u\nJOB Z x\nSITE_GROUP a SPLICE S\nSITE_POLICY a CLEAN_UP clean 7\n"
        "SITE_POLICY a RANK Speed\nSITE_POLICY a ATTRIBUTE X = 1\nSITE_MATCHED a here 2\n",
        {"u": UNIT},
    )
    options = BuildOptions(allow_any_node_name_characters=True, use_join_nodes=False)
    again = build_text("\n".join(dag_lines(dag)) + "\n", **options._asdict())
    (group,), (copy,) = groups_of(dag), groups_of(again)
    assert copy == group._replace(policy=copy.policy)
    assert copy.policy == group.policy._replace(clean_up="S+clean")


def test_a_rescue_file_says_where_a_group_was() -> None:
    dag = build_text("SPLICE S u\n", {"u": INNER})
    apply_progress(dag, "SITE_MATCHED S+g there 2\n", "r")
    (group,) = groups_of(dag)
    assert isinstance(group, SiteGroup)
    assert (group.matched, group.round) == ("there", 2)


def test_nodes_of_a_sweep() -> None:
    dag = build_text(f"{JOBS}SWEEP w_{{e}} x OVER e IN 1 2\nSITE_GROUP g NODES A w_{{e}}\n")
    assert [dag.names[node] for node in groups_of(dag)[0].nodes] == ["A", "w_1", "w_2"]
