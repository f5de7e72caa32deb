"""Where jobs write their output, by their submit descriptions."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.job_files import by_description
from condor_pydagman.monitor.plan import read_plan


@pytest.mark.parametrize(
    ("output", "lines", "names"),
    [
        ("o.$(Cluster:0).$(Process:9)", "", ["o.12.0", "o.12.1"]),
        ("o.$(JobId).$(Row)$(Step)", "", ["o.12.0.00", "o.12.1.01"]),
        ("o.$(process).$(row:3)", 'VARS A Process="seven"\n', ["o.seven.0", "o.seven.0"]),
        ("o.$(YEAR:1)-$(MONTH)-$(DAY)", "", ["o.2024-05-06", "o.2024-05-06"]),
    ],
)
def test_macros_that_htcondor_sets(
    tmp_path: Path, output: str, lines: str, names: list[str]
) -> None:
    (tmp_path / "a.sub").write_text(f"executable = j\noutput = {output}\nqueue 2\n")
    (tmp_path / "t.dag").write_text(f"JOB A a.sub\n{lines}")
    found = find_dag(str(tmp_path / "t.dag"), ask=False)
    attempt = Attempt(0)
    attempt.cluster, attempt.procs = 12, 2
    attempt.submitted = time.mktime((2024, 5, 6, 12, 0, 0, 0, 0, -1))
    jobs = by_description(found, read_plan(found).dag, 0, attempt, most=2)
    assert [job.files["output"] for job in jobs] == [str(tmp_path / name) for name in names]
