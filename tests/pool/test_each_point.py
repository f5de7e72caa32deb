"""Some of the points at which DAGMan can be killed, and of the files that can fail.

`python -m tests.torture.each_point` goes through all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pool.access_point import AccessPoint
from tests.torture import each_point

CHOSEN = (
    "whole-after-Exit-kill",  # the lock file is gone, the exit code not yet heard of
    "whole-end-lock-about-to-go-kill",
    "whole-submit-reply-kill",
    "whole-half-AppendJournalRecord-kill",
    "whole-nodes-log-open-ENOSPC-start-2",
    "whole-nodes-log-open-EMFILE",
    "whole-dagman-out-open-ENOSPC",
    "whole-lock-file-open-EIO-start-2",
    "whole-submit-file-of-a-sub-DAG-rename-ENOSPC",
    "growing-after-ReadPiece-kill",
    "growing-after-EvaluateConditions-kill",
    "growing-after-RunFeeder-kill",
    "aborted-rescue-file-torn-EIO",
    "together-submit-reply-kill",
    "together-submit-reply-lose",
)


@pytest.fixture(scope="module")
def outcomes(access_point: AccessPoint, place: Path) -> dict[str, list[str]]:
    cases = {case.name: case for case in each_point.cases()}
    wanted = [cases[name] for name in CHOSEN]
    done = each_point.EachPoint(access_point, place / "points").run(wanted)
    return {outcome.case.name: outcome.wrong for outcome in done}


@pytest.mark.parametrize("name", CHOSEN)
def test_nothing_is_lost_and_nothing_runs_twice(outcomes: dict[str, list[str]], name: str) -> None:
    assert outcomes[name] == []
