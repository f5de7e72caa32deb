"""How tests are spread over processes: files stay whole, long units come first."""

from __future__ import annotations

import pytest

from tests.scheduling import APART, INSTALLATION, LONGEST, POOL, ROOT, SCENES, TOGETHER, unit_of

SMALL = "tests/unit/test_errors.py"
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
