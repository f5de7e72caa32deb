"""BUNDLE: how its line is read, and which nodes it means in a Dag."""

from __future__ import annotations

import pytest

from condor_pydagman import feature_table
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.features.bundle.commands import (
    Bundle,
    BundlesOfDag,
    bundle_lines_of,
    line_of_nodes,
)
from condor_pydagman.features.common.node_sets import ALL_NODES, CATEGORY, NODES
from condor_pydagman.graph.problems import DagFileErrors
from tests.unit.graph.texts import JOBS, build_text
from tests.unit.language.one_line import good, wrong


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("BUNDLE b ALL_NODES", Bundle(1, "b", members=ALL_NODES)),
        ("bundle b size 7 category c", Bundle(1, "b", 7, members=CATEGORY, names=("c",))),
        (
            "BUNDLE b WAIT 1m PARALLEL 2 MAX_SECONDS 9 NODES A B",
            Bundle(1, "b", 0, 9, 2, 60, members=NODES, names=("A", "B")),
        ),
        ("BUNDLE b CHAINS ALL_NODES", Bundle(1, "b", chains=True, members=ALL_NODES)),
    ],
)
def test_good_lines(text: str, command: Bundle) -> None:
    assert good(text) == command


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("BUNDLE b SIZE 0 ALL_NODES", "expected a whole number, 1 or more"),
        ("BUNDLE b ALL_NODE", "did you mean ALL_NODES?"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert hint[:20] in (wrong(text).hint or wrong(text).expected)


def test_the_first_line_counts_that_means_a_node() -> None:
    dag = build_text(f"{JOBS}CATEGORY A x\nBUNDLE one CATEGORY x\nBUNDLE two ALL_NODES\n")
    lines = line_of_nodes(dag, range(len(dag)))
    names = {dag.names[node]: line.name for node, line in lines.items()}
    assert names["A"] == "one"
    assert set(names.values()) == {"one", "two"}


def test_only_jobs_are_bundled() -> None:
    dag = build_text(f"{JOBS}FINAL F x\nDATA D d\nSUBDAG EXTERNAL S s.dag\nBUNDLE b ALL_NODES\n")
    names = {dag.names[node] for node in line_of_nodes(dag, range(len(dag)))}
    assert not names & {"F", "D", "S"}
    with pytest.raises(DagFileErrors, match="DATA node D can't run in a bundle"):
        build_text(f"{JOBS}DATA D d\nBUNDLE b NODES D\n")


def test_a_name_is_there_once_but_in_splices() -> None:
    with pytest.raises(DagFileErrors, match="There is a bundle b already"):
        build_text(f"{JOBS}BUNDLE b NODES A\nBUNDLE b NODES B\n")
    splice = {"s": f"{JOBS}BUNDLE b ALL_NODES\n"}
    dag = build_text("SPLICE S s\nSPLICE T s\n", splice)
    assert [one.name for one in bundle_lines_of(dag)] == ["S+b", "T+b"]


def test_the_option_bundles_all() -> None:
    dag = build_text(JOBS)
    for commands in feature_table.asked_by(DagmanOptions(bundle=True)):
        commands.of_option(dag)
    assert len(line_of_nodes(dag, range(len(dag)))) == len(dag)
    assert not list(feature_table.asked_by(DagmanOptions()))
    assert BundlesOfDag.of(dag)


def test_the_line_of_the_option_is_in_the_way_of_no_other() -> None:
    dag = build_text(f"{JOBS}BUNDLE all NODES A\n")
    for commands in feature_table.asked_by(DagmanOptions(bundle=True)):
        commands.of_option(dag)
    written = list(BundlesOfDag.of(dag).lines(dag))
    assert [one.name for one in written] == ["all", "-bundle"]
    assert good("BUNDLE -bundle ALL_NODES") == written[1]._replace(line=1)
