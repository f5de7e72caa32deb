"""FEEDER, as far as scenes can't say it (`feeder.scene`): after a rescue DAG, and what it says."""

from __future__ import annotations

import pytest

from condor_pydagman.features.feeder.run import Fed, RunFeeder
from condor_pydagman.features.growth.commands import Feeding, GrownPiece, GrowthOfDag
from tests import make

TEXT = "A\nFEEDER BELOW 1 PROGRAM feed\n"


@pytest.mark.parametrize("last", [False, True])
def test_a_rescue_dag_goes_on_where_the_last_run_was(last: bool) -> None:
    dag = make.dag(f"{TEXT}DONE A")
    GrowthOfDag.put(dag).pieces.append(GrownPiece(1, "d1", "", 1, Feeding(4, last)))
    harness = make.EngineHarness(dag).begin()
    assert [one.number for one in harness.ever(RunFeeder)] == ([] if last else [5])


def test_what_the_program_says_can_do_no_harm() -> None:
    harness = make.harness_of(f"{TEXT}DONE A")
    harness.tell(Fed(1, error="\x1b[2J" + "x" * 1000))
    report = harness.engine.run.features["feeder"].report()
    assert "\x1b" not in report.error
    assert len(report.error) == 300


def test_a_dag_without_one_has_no_report() -> None:
    assert "feeder" not in make.harness_of("A").engine.run.features
