"""What would be added to a DAG, as far as that is known before it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from condor_pydagman.features.growth.adapters.outlook import outlook, told
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import DONE
from tests.unit.graph.texts import build_text

pytestmark = pytest.mark.usefixtures("work_directory")


DAG = "JOB A a.sub\nJOB Z a.sub\nPARENT A CHILD Z\n"
SCATTER, EXTEND = "SCATTER A l.txt x-{item} a.sub\n", "EXTEND A m.dag TRUSTED\n"


def lines(text: str, *done: str, most: int = 1000) -> list[str]:
    dag = build_text(DAG + text)
    for name in done:
        dag.flags[dag.ids[name]] |= DONE
    Path(dag.files[0]).write_text(DAG + text)
    found = outlook(dag, BuildOptions(), most)
    json.dumps([one._asdict() for one in found])
    return list(told(dag, found))


def test_files_that_are_not_there_yet() -> None:
    assert lines(SCATTER) == [
        "SCATTER: node A adds a node for each line of l.txt, which does not exist yet: the number"
        " is known when the node is done"
    ]
    assert lines(EXTEND) == [
        "EXTEND: node A adds what is in m.dag, which does not exist yet: the number"
        " is known when the node is done"
    ]
    assert lines(EXTEND, "A") == lines("") == []


def test_files_that_are_there(work_directory: Path) -> None:
    (work_directory / "l.txt").write_text("".join(f"{number}\n" for number in range(12)))
    (line,) = lines(SCATTER)
    assert line == (
        "SCATTER: node A would add 12 nodes by l.txt as it is now:"
        " x-0, x-1, x-2, x-3, x-4, x-5, x-6, x-7, x-8, x-9 and 2 more"
    )
    (work_directory / "m.dag").write_text("JOB B b.sub\nINCLUDE more.dag\n")
    (work_directory / "more.dag").write_text("JOB C b.sub\nPARENT B CHILD C\nPARENT C CHILD Z\n")
    assert lines(EXTEND) == ["EXTEND: node A would add 2 nodes by m.dag as it is now: B, C"]
    (work_directory / "m.dag").write_text("")
    assert lines(EXTEND) == ["EXTEND: node A would add 0 nodes by m.dag as it is now"]


def test_files_that_would_be_refused(work_directory: Path) -> None:
    (work_directory / "m.dag").write_text("JOB A a.sub\nJOB\n")
    (line,) = lines(EXTEND)
    assert line.startswith(
        "EXTEND: node A would fail, because DAGMan would refuse m.dag as it is now: m.dag:"
    )
    assert line.endswith("(and 1 more error)") or "Node A already exists" in line
    (work_directory / "m.dag").write_text("INCLUDE no.dag\n")
    assert "no.dag" in lines(EXTEND)[0]
    (work_directory / "m.dag").write_bytes(b"\0")
    assert "not text: it holds a byte 0" in lines(EXTEND)[0]
    (work_directory / "l.txt").write_text("long\n" * 100)
    assert "larger than 100 bytes" in lines(SCATTER, most=100)[0]
