"""BRAKE: what a brake counts, and brakes that can't do anything."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.brake.commands import Brake, brakes_of, members, obstacle, text
from tests.unit.graph.texts import JOBS, build_text, error
from tests.unit.lint.paper import codes

TEXT = (
    "JOB A x\nJOB B x\nSUBDAG EXTERNAL C c.dag\nDATA D d\nFINAL F x\nSERVICE V x\nPROVISIONER P x\n"
    "CATEGORY A c\nCATEGORY B c\n"
)


def test_which_nodes_are_counted() -> None:
    dag = build_text(TEXT)
    assert members(dag, Brake(0, "b", 1)) == 4
    assert members(dag, Brake(0, "b", 1, category="c")) == 2
    assert members(dag, Brake(0, "b", 1, category="d")) == 0


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("3", ""),
        ("4", "it counts 4 nodes at most, which is not more than 4"),
        ("99%", ""),
        ("100%", "it counts 4 nodes at most, which is not more than 100%"),
        ("1 CATEGORY c", ""),
        ("2 CATEGORY c", "it counts 2 nodes at most, which is not more than 2"),
        ("0 CATEGORY d", "no node is in category d"),
        ("2 OF 3", ""),
        ("3 OF 3", "it counts 3 nodes at most in 3 runs, which is not more than 3 OF 3"),
        ("20% OF 20", "it counts 4 nodes at most, which is not more than 20% OF 20"),
        ("20% OF 19", ""),
        ("1 ALIKE SITE", "no node has a site: there is no SITE_GROUP"),
    ],
)
def test_numbers_that_can_be_reached(line: str, why: str) -> None:
    dag = build_text(f"{TEXT}BRAKE b {line} HALT\n")
    assert obstacle(dag, brakes_of(dag)[0]) == why
    assert codes(f"{JOBS}BRAKE b 5 HALT\n") == ["DAG412"]


def test_a_brake_is_named_by_its_line() -> None:
    assert text(Brake(0, "b", 20, percent=True, last=50)) == "20% OF 50"
    assert text(Brake(0, "b", 3)) == "3"


def test_lines_are_kept_when_the_dag_is_written_out() -> None:
    line = "BRAKE b 20% OF 3 ALIKE EXIT_CODE CATEGORY S+own ABORT"
    dag = build_text(f"SPLICE S u\n{line}\n", {"u": f"{JOBS}CATEGORY A own\n"})
    assert line in "\n".join(dag_lines(dag))
    assert not obstacle(dag, Brake(0, "b", 0, category="S+own"))


@pytest.mark.parametrize(
    ("text", "files", "message"),
    [
        ("JOB A x\nBRAKE b 1 HALT\nBRAKE b 2 HALT\n", {}, "There is a brake b already"),
        ("SPLICE S u\n", {"u": f"{JOBS}BRAKE b 1 HALT\n"}, "BRAKE can't be used in a splice"),
    ],
)
def test_mistakes(text: str, files: dict[str, str], message: str) -> None:
    assert message in str(error(text, files))
