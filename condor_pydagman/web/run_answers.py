"""The runs of a DAG, and where two of them differ: read by a process of its own.

Runs before the last are in `.dagman.out` alone, which may be large, and a comparison may be with
another DAG: the thread for files of the page is not kept busy with that.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.run_model import Run
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import with_logs
from condor_pydagman.monitor.told_runs import (
    Told,
    check_has_run,
    compared_run,
    earlier_runs,
    end_of,
    told_of,
)
from condor_pydagman.report.comparison import comparison, times_of

MAX_RUNS = 50  # that are told of, the last ones


def _told(path: str) -> Told:
    """Raises:
    PydagmanError: nothing is known of a run.
    """
    told = told_of(with_logs(find_dag(path, ask=False)))
    check_has_run(told)
    return told


def _rows(told: Told) -> Iterator[dict[str, Any]]:
    runs: list[Run] = [*earlier_runs(told.found), told.last]
    first = max(len(runs) - MAX_RUNS, 0)
    for number, run in enumerate(runs[first:], first + 1):
        end = end_of(run, told)
        times = times_of(run, end).values()
        state = "" if run.exit_code is None else "failed" if run.exit_code else "succeeded"
        yield {
            "number": number,
            "begun": run.begun,
            "ended": run.ended,
            "took_s": max(end - run.begun, 0.0),
            "state": told.found.state.value if run is told.last else state or "interrupted",
            "exit_code": run.exit_code,
            "nodes": sum(one.attempts > 0 for one in times),
            "attempts": sum(one.attempts for one in times),
            "failed": sum(one.failed for one in times),
            "ran_s": sum(one.ran for one in times),
        }


def main(words: Sequence[str]) -> int:
    """The child process.

    Args:
        words: a DAG file, the numbers of two of its runs, from 1 on, or 0 for the last ones, and
            the file of another DAG, whose last run is then the first of the two, or ''.
    """
    path, one, other, elsewhere = words
    try:
        told = _told(path)
        runs = list(_rows(told))
        b = int(other) or runs[-1]["number"]
        a = 0 if elsewhere else int(one) or b - 1
        answer: dict[str, Any] = {"runs": runs, "rows": [], "a": a, "b": b}
        if a or elsewhere:
            with_it = (_told(elsewhere), -1, elsewhere) if elsewhere else (told, a, f"run {a}")
            pair = compared_run(*with_it), compared_run(told, b, f"run {b}")
            answer["rows"] = list(comparison(*pair))
    except (PydagmanError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(answer))
    return 0
