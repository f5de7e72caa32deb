"""How tests are spread over processes: files stay whole, long units come first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.scheduling import (
    APART,
    INSTALLATION,
    LONGEST,
    POOL,
    ROOT,
    SCENES,
    TOGETHER,
    LongestFirst,
    unit_of,
)


class Process:
    """Stands for a process that runs tests; it has found `tests`, and `given` are to run."""

    def __init__(self, tests: list[str]) -> None:
        self.tests = tests
        self.given: list[str] = []
        self.shutting_down = False
        self.gateway = SimpleNamespace(id="gw")

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += [self.tests[index] for index in indices]

    def shutdown(self) -> None:
        self.shutting_down = True


def scheduler(tests: list[str]) -> tuple[LongestFirst, Process]:
    """One that has just given its process the first tests."""
    config: Any = SimpleNamespace(
        getvalue=lambda _: ["popen"], option=SimpleNamespace(loadscopereorder=False)
    )
    made, node = LongestFirst(config), Process(tests)
    made.add_node(node)  # type: ignore[arg-type]
    made.add_node_collection(node, tests)  # type: ignore[arg-type]
    made.schedule()
    return made, node


SMALL = "tests/unit/test_errors.py"
LARGE = "tests/unit/test_names.py"
COMPARE = "tests/pool/test_compare.py"
SEEDS = "tests/sim/test_sim.py::test_fresh_seeds[1]"


def test_the_tables_name_what_there_is() -> None:
    units = {name.partition("::")[0] for name in (*TOGETHER, *APART, *LONGEST)}
    for name in units - {POOL, SCENES, INSTALLATION}:
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        (f"{SMALL}::test_a[x::y]", SMALL),
        ("tests/pool/test_live.py::test_live[x]", SCENES),
        ("tests/pool/test_control.py::test_control[x]", SCENES),
        ("tests/pool/test_installation.py::test_a", INSTALLATION),
        (SEEDS, SEEDS),
    ],
)
def test_what_a_test_shares_a_process_with(test: str, unit: str) -> None:
    assert unit_of(test) == unit


def test_the_gate_has_one_process_for_all_tests_on_the_pool() -> None:
    for test in ("tests/pool/test_live.py::test_live[x]", f"{COMPARE}::test_same[x]"):
        assert unit_of(test, one_pool_process=True) == POOL
    assert unit_of(f"{SMALL}::test_a", one_pool_process=True) == SMALL


def test_a_process_gets_the_next_unit_when_it_runs_its_last_test() -> None:
    tests = [f"{SMALL}::test_1", f"{LARGE}::test_1", f"{LARGE}::test_2", f"{COMPARE}::test_1"]
    made, node = scheduler(tests)
    assert node.given == [tests[3], tests[1], tests[2]]
    for done in (3, 1):
        made.mark_test_complete(node, done)  # type: ignore[arg-type]
    assert node.given == [tests[3], tests[1], tests[2], tests[0]]
    assert not made.workqueue
