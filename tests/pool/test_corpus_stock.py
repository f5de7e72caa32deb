"""That tests/corpus/stock.json still is what the stock programs say.

A fifth of the cases is enough here: what changes in DAGMan shows in many of them.
tools/record_corpus.py does them all.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pool.access_point import AccessPoint
from tools.record_corpus import RECORDING, cases, record_all

pytestmark = pytest.mark.pool

EVERY = 5


@pytest.mark.parametrize("submits", [False, True])
def test_the_recording_still_holds(access_point: AccessPoint, work: Path, submits: bool) -> None:
    stock = Path(access_point.stock_dagman).parent
    recorded = json.loads(RECORDING.read_text(encoding="utf-8"))

    def run(
        command: Sequence[str], directory: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        return access_point.run(
            str(stock / command[0]),
            *command[1:],
            cwd=directory,
            environment=environment,
            check=False,
        )

    wanted = [case for case in cases() if case.submits == submits][::EVERY]
    found = record_all(wanted, work, run)
    assert found == {case.name: recorded[case.name] for case in wanted}
