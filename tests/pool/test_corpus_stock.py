"""That what is recorded of the DAGs of tests/corpus still is what the stock programs say.

A fifth of the cases is enough here: what changes in DAGMan shows in many of them.
tools/record_corpus.py does them all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import recordings
from tests.corpora import dag_cases
from tests.pool.access_point import AccessPoint
from tools.record_corpus import FILE, record_all, stock_programs

EVERY = 5


@pytest.mark.parametrize("submits", [False, True])
def test_the_recording_still_holds(access_point: AccessPoint, work: Path, submits: bool) -> None:
    recorded = recordings.load(FILE)
    wanted = [case for case in dag_cases().values() if case.submits == submits][::EVERY]
    found = record_all(wanted, work, stock_programs(access_point))
    assert found == {case.name: recorded[case.name] for case in wanted}
