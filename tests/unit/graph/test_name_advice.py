"""What is advised where a node is to be named."""

from __future__ import annotations

import pytest

from tests.unit.graph.texts import JOBS, error

DAG = JOBS + "SPLICE S s.dag\nSWEEP w_{e} x OVER e IN 1 2\nSCATTER A l run-{1}-{number} x\n"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("RETRY S 3", "S is a splice, which can be named as parent and child only: for its nodes"),
        ("EXTEND w_{e} m", "w_{e} is a sweep, and this names one node, such as w_1"),
        ("EXTEND all_nodes m", "this can't be said of ALL_NODES: name a node"),
        ("RETRY A,B 3", "blanks stand between names, not commas"),
        ("PARENT A,B CHILD w_1", "blanks stand between names, not commas"),
        ("RETRY run-x-0 3", "it is to be added by the SCATTER of node A, while the DAG runs"),
    ],
)
def test_what_a_name_stands_for(line: str, hint: str) -> None:
    found = error(f"{DAG}{line}\n", {"s.dag": "JOB X x\n"})
    assert found.hint.startswith(hint)


@pytest.mark.parametrize("name", ["Q,A", "run-x", "run-x-y"])
def test_names_of_which_nothing_is_known(name: str) -> None:
    assert error(f"{DAG}RETRY {name} 3\n", {"s.dag": "JOB X x\n"}).hint == ""


def test_the_file_of_the_splice() -> None:
    found = error("SPLICE S sub/s.dag\nRETRY S 1\n", {"sub/s.dag": "JOB X x\n"})
    assert found.hint.endswith("put the command into sub/s.dag")
