"""How long DAGMan's own work takes, as stock shows it."""

from __future__ import annotations

import classad2
import pytest

from condor_pydagman.records import run_statistics
from condor_pydagman.records.run_statistics import Statistics, block


def test_before_any_measurement_the_line_is_stocks() -> None:
    assert Statistics().line() == (
        "DAGMan Runtime Statistics: [EventCycleTimeSum=0.000; SleepCycleTimeSum=0.000;"
        " SubmitCycleTimeSum=0.000; EventCycleTimeCount=0.000; SleepCycleTimeCount=0.000;"
        " SubmitCycleTimeCount=0.000; LogProcessCycleTimeSum=0.000;"
        " LogProcessCycleTimeCount=0.000; ]"
    )


def test_after_one_the_deviation_is_the_minimum_as_in_stock() -> None:
    statistics = Statistics()
    statistics.add(run_statistics.SUBMIT, 0.014)
    assert (
        " SubmitCycleTimeAvg=0.014; SubmitCycleTimeMax=0.014; SubmitCycleTimeMin=0.014;"
        " SubmitCycleTimeStd=0.014; SubmitCycleTimeSum=0.014;"
    ) in statistics.line()


def test_statistics_of_several_measurements() -> None:
    statistics = Statistics()
    for seconds in (1.0, 2.0, 6.0):
        statistics.add(run_statistics.EVENTS, seconds)
    ad = classad2.ClassAd(statistics.expression())
    found = {name[len("EventCycleTime") :]: ad[name] for name in ad if name.startswith("Event")}
    assert found.pop("Std") == pytest.approx(7**0.5)
    assert found == {"Count": 3.0, "Sum": 9.0, "Avg": 3.0, "Max": 6.0, "Min": 1.0}


def test_tiny_measurements_are_legal_numbers_for_the_schedd() -> None:
    statistics = Statistics()
    statistics.add(run_statistics.SLEEP, 9.5e-07)
    statistics.add(run_statistics.SLEEP, 9.5e-07)
    ad = classad2.ClassAd(statistics.expression())
    assert ad["SleepCycleTimeMin"] == 9.5e-07
    assert ad["SleepCycleTimeStd"] == pytest.approx(0.0, abs=1e-9)


def test_a_name_that_stock_does_not_have() -> None:
    with pytest.raises(KeyError):
        Statistics().add("IdleTime", 1.0)


# The block of DAGMAN_DEBUG_PARSE_TIMING, as stock writes it.


STOCKS = """\
DAGMAN_DEBUG_PARSE_TIMING (1 DAG file(s)):
  Phase                           Wall (s)  Peak RSS (KiB)
  DAG file parsing                   0.001           18084
  LiftSplices + AdjustEdges          0.000           18084
  Total                              0.001           18084
  RSS before parse                                   17956"""


def test_the_block() -> None:
    assert block(1, 0.0012, 17956, 18084) == STOCKS
