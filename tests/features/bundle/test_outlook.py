"""What dry runs say of nodes that would be packed."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.features.bundle.adapters import outlook, slots
from condor_pydagman.features.bundle.adapters.outlook import Alone, Together
from condor_pydagman.features.bundle.chains_ahead import FREE_SLOTS, Chained
from condor_pydagman.graph.build import build
from condor_pydagman.graph.building import BuildOptions
from tests.features.bundle.bundled import bundled, settled

SUBMIT = "executable = /bin/true\narguments = $(JOB)\nshould_transfer_files = {}\nqueue\n"
MOST = 1000


@pytest.fixture(autouse=True)
def pool(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory with submit files, and a pool with eight slots."""
    monkeypatch.setattr(slots, "known_slots", lambda: 8)
    Path("t.dag").touch()  # whose owner can read the submit files
    Path("a.sub").write_text(SUBMIT.format("NO"))
    Path("b.sub").write_text(SUBMIT.format("YES"))


def bag(count: int, name: str = "A", submit: str = "a.sub") -> str:
    return "".join(f"JOB {name}{n} {submit}\n" for n in range(count))


def looked(text: str, most: int = MOST) -> outlook.BundleOutlook:
    dag = build(["t.dag"], lambda _: [text], BuildOptions())
    return outlook.outlook(dag, most)


def kinds(text: str, most: int = MOST) -> list[Together]:
    return [one for line in looked(text, most).lines for one in line.kinds]


def told(text: str, most: int = MOST) -> list[str]:
    return list(outlook.told(looked(text, most)))


def test_without_file_transfer_all_nodes_are_shared_out_among_the_slots() -> None:
    (kind,) = kinds(f"{bag(1000)}BUNDLE b ALL_NODES\n")
    assert kind == Together("A0", "a.sub", 1000, 1000, True, (125,) * 8)


def test_with_file_transfer_the_first_bundles_are_small_if_nodes_wait_for_them() -> None:
    text = bag(1000, submit="b.sub") + bag(2, "B")
    halves = [" ".join(f"A{n}" for n in range(first, first + 500)) for first in (0, 500)]
    text += "".join(f"PARENT {half} CHILD B{n}\n" for n, half in enumerate(halves))
    (kind,) = kinds(f"{text}BUNDLE b NODES {' '.join(halves)}\n")
    assert set(kind.sizes) == {10}
    assert sum(kind.sizes) < 1000


def test_nodes_are_shared_out_if_those_that_wait_need_them_all() -> None:
    names = " ".join(f"A{n}" for n in range(1000))
    text = f"{bag(1000, submit='b.sub')}JOB B a.sub\nPARENT {names} CHILD B\n"
    (kind,) = kinds(f"{text}BUNDLE b NODES {names}\n")
    assert kind.sizes == (125,) * 8


def test_a_size_is_cut_to_what_is_allowed_and_asks_no_pool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slots, "known_slots", lambda: pytest.fail("the pool was asked"))
    text = f"{bag(10)}BUNDLE b SIZE 4 ALL_NODES\n"
    assert kinds(text)[0].sizes == (4, 4, 2)
    assert kinds(text, 3)[0].sizes == (3, 3, 3, 1)
    assert kinds(text, 2)[0].sizes == (2,) * 5
    assert told(text, 3)[1].endswith(": first 3 bundles of 3 nodes")
    assert told(text) == [
        "BUNDLE b: 10 nodes of 1 kind can go together",
        "    10 nodes like A0 (a.sub): first 3 bundles of up to 4 nodes",
    ]


def test_nodes_that_come_later_are_counted_where_the_first_of_them_are() -> None:
    text = f"{bag(60, 'B')}PARENT B0 CHILD {' '.join(f'B{n}' for n in range(1, 41))}\n"
    (kind,) = kinds(f"{text}BUNDLE b NODES {' '.join(f'B{n}' for n in range(1, 60))}\n")
    assert (kind.first, kind.nodes, kind.at_once, kind.at_start) == ("B1", 59, 19, True)
    (kind,) = kinds(f"{text}BUNDLE b NODES {' '.join(f'B{n}' for n in range(1, 41))}\n")
    assert (kind.nodes, kind.at_once, kind.at_start) == (40, 40, False)


def test_what_the_numbers_depend_on_is_told() -> None:
    children = " ".join(f"B{n}" for n in range(40))
    text = f"{bag(40)}{bag(40, 'B')}{bag(1, 'C', 'b.sub')}PARENT C0 CHILD {children}\n"
    text += "SCRIPT PRE A1 x\nCATEGORY B1 x\n"
    assert told(f"{text}BUNDLE b CATEGORY x\nBUNDLE c ALL_NODES\n") == [
        "BUNDLE b: 1 node runs alone",
        "    B1 runs alone: no other node of its line can go with it",
        "BUNDLE c: 79 nodes of 1 kind can go together, 1 node runs alone",
        "    79 nodes like A0 (a.sub): first 8 bundles of 5 nodes, if 40 of them are ready at once",
        "    C0 runs alone: no other node of its line can go with it",
        "    These numbers change as DAGMan sees how long nodes take; the pool can run 8 jobs at"
        " once (docs/bundles.md)",
    ]


def test_of_an_unknown_pool_nothing_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "known_slots", lambda: 0)
    found = told(f"{bag(1000)}BUNDLE b ALL_NODES\n")
    begin = "first one to a job, until it is known how long they take"
    assert found[1] == f"    1,000 nodes like A0 (a.sub): {begin}"
    assert "how many jobs the pool can run is not known now" in found[2]


def test_a_file_that_a_node_may_write_need_not_be_there() -> None:
    Path("d.sub").write_text(f"transfer_input_files = gone\n{SUBMIT.format('YES')}")
    text = "JOB A d.sub\nJOB B d.sub\nJOB P b.sub\nPARENT P CHILD A B\nBUNDLE b NODES A B\n"
    assert [(one.first, one.nodes) for one in kinds(text)] == [("A", 2)]


def test_nodes_that_are_done_are_left_out() -> None:
    text = f"{bag(4)}DONE A0\nDONE A1\nDONE A2\nDONE A3\nBUNDLE b ALL_NODES\n"
    assert told(text) == ["BUNDLE b: no node is left to run"]


def test_a_knob_that_forbids_bundles() -> None:
    found = ["BUNDLE: no bundles are made, because PYDAGMAN_MAX_BUNDLE_SIZE is 0"]
    assert told(f"{bag(4)}BUNDLE b ALL_NODES\n", 0) == found
    assert told(bag(4), 0) == told(bag(4)) == []


def test_more_side_by_side_than_the_category_allows() -> None:
    text = f"{bag(4)}CATEGORY ALL_NODES x\nMAXJOBS x 2\nBUNDLE b SIZE 4 PARALLEL 4 ALL_NODES\n"
    assert kinds(text)[0].sizes == (4,)


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("edges", ["", "; A1 -> C", "; A99 -> C", "; {all} -> C"])
@pytest.mark.parametrize("options", ["", "SIZE 30", "PARALLEL 4", "MAX_SECONDS 9"])
def test_the_run_begins_as_was_foreseen(options: str, edges: str, is_live: bool) -> None:
    """With eight slots, as the DAG under test has."""
    Path("n.sub").write_text(SUBMIT.format("NO" if is_live else "YES"))
    names = " ".join(f"A{n}" for n in range(700))
    harness = settled(
        f"{names}{edges.format(all=names)}\nBUNDLE b {options} NODES {names}", is_live=is_live
    )
    (found,) = outlook.outlook(harness.dag, MOST).lines[0].kinds
    assert found.sizes == tuple(map(len, bundled(harness)))


# CHAINS.


def pipelines(count: int, length: int = 3, submit: str = "a.sub") -> str:
    """Chains A0, B0, C0, ...; A1, B1, C1, ..."""
    letters = "ABCDEFG"[:length]
    jobs = "".join(bag(count, letter, submit) for letter in letters)
    pairs = zip(letters, letters[1:])
    edges = (f"PARENT {a}{n} CHILD {b}{n}\n" for a, b in pairs for n in range(count))
    return jobs + "".join(edges)


def test_chains_are_counted_and_shared_out() -> None:
    (kind,) = kinds(f"{pipelines(500)}BUNDLE b CHAINS ALL_NODES\n")
    assert kind.chains == Chained(500, 3, 1000)
    assert (kind.nodes, kind.at_once, kind.at_start) == (1500, 1500, True)
    assert set(kind.sizes) <= {177, 189}
    assert told(f"{pipelines(4)}BUNDLE b SIZE 6 CHAINS ALL_NODES\n")[1:] == [
        "    12 nodes like A0 (a.sub), 8 of them behind others: 4 chains of 3: first 2 bundles of 6"
        " nodes"
    ]


@pytest.mark.parametrize(
    ("more", "first", "number", "why"),
    [
        ("SCRIPT PRE B0 s\nSCRIPT PRE B1 s\n", "B0", 2, "it has a PRE script"),
        ("SCRIPT POST B1 s\n", "C1", 1, "a node before it has a POST script"),
        ("PRIORITY C2 5\nPRIORITY C3 5\n", "C2", 2, "a node before it has another PRIORITY"),
        (
            "CATEGORY A0 x\nCATEGORY A1 x\n",
            "B0",
            2,
            "a node before it is of another category, or of none",
        ),
        (
            'VARS B2 My.X="1"\nVARS B3 My.X="1"\nVARS C2 My.X="1"\nVARS C3 My.X="1"\n',
            "B2",
            2,
            "my.x of a node before it differs",
        ),
        ("JOB X a.sub\nJOB Y a.sub\nPARENT A0 CHILD X Y\n", "B0", 3, FREE_SLOTS),
    ],
)
def test_why_nodes_do_not_run_behind_others(more: str, first: str, number: int, why: str) -> None:
    (line,) = looked(f"{pipelines(4)}{more}BUNDLE b CHAINS ALL_NODES\n").lines
    assert line.apart == (Alone(first, number, why),)


def test_nodes_that_wait_for_those_that_are_done_wait_for_none() -> None:
    text = f"{pipelines(2)}DONE A0\nDONE A1\nBUNDLE b SIZE 4 CHAINS ALL_NODES\n"
    (kind,) = kinds(text)
    assert (kind.chains, kind.sizes) == (Chained(2, 2, 2), (4,))


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("extra", ["", "; A1 -> F G; F G -> B1", "; A1 A2 -> M; M -> B1"])
@pytest.mark.parametrize("options", ["", "SIZE 30", "PARALLEL 4"])
def test_a_run_with_chains_begins_as_was_foreseen(options: str, extra: str, is_live: bool) -> None:
    Path("n.sub").write_text(SUBMIT.format("NO" if is_live else "YES"))
    count = 100
    names = " ".join(f"{letter}{n}" for letter in "ABC" for n in range(count))
    names += " F G M" if extra else ""
    edges = "".join(f"; A{n} -> B{n}; B{n} -> C{n}" for n in range(count))
    line = f"BUNDLE b {options} CHAINS ALL_NODES"
    harness = settled(f"{names}{edges}{extra}\n{line}", is_live=is_live)
    (found,) = outlook.outlook(harness.dag, MOST).lines[0].kinds
    assert [one for one in found.sizes if one > 1] == list(map(len, bundled(harness)))
