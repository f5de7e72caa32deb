"""The files of cases that are compared with the stock program, and the facts that they wait for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import recordings
from tests.pool import cases
from tests.pool.stock import file_of

OUT = """\
** condor_dagman (CONDOR_DAGMAN) STARTING UP
Event: ULOG_EXECUTE for HTCondor Node A (17.0.0) {now}
Event: ULOG_JOB_TERMINATED for HTCondor Node A (17.1.0) {now}
"""


def test_every_case_is_recorded() -> None:
    """`python -m tools.record_stock "compare::test_same[TOPIC/NAME]"` records one."""
    for name, case in cases.load().items():
        topic, _, short = name.partition("/")
        if case.comparable():
            recorded = recordings.load(file_of(f"compare/{topic}"))[short]
            assert set(recorded) == set(case.comparable()), name


def test_a_case_that_does_not_say_why_is_refused() -> None:
    with pytest.raises(AssertionError, match="why"):
        cases.Case("t/x", "#: partial jobstate\nJOB A a\n")
    case = cases.Case(
        "t/x", "#: partial jobstate: two ends\n#: differs dot: ours is better\nJOB A a\n"
    )
    assert case.partial == {"jobstate": "two ends"}
    assert "dot" not in case.comparable()


@pytest.mark.parametrize(
    ("facts", "there"),
    [
        ("A:EXECUTE", True),
        ("A/0:EXECUTE&A/1:JOB_TERMINATED", True),
        ("A/0:EXECUTE&A/0:JOB_TERMINATED", False),
        ("A:runs", True),
        ("A/1:runs", False),
        ("run*A:EXECUTE", True),
        ("2*A:EXECUTE", False),
        ("^pre.A&STARTING.UP", True),
        ("never", False),
    ],
)
def test_facts(tmp_path: Path, facts: str, *, there: bool) -> None:
    (tmp_path / "t.dag.dagman.out").write_text(OUT)
    (tmp_path / "ledger").write_text("A 0 start 1.0\n")
    (tmp_path / "scripts").write_text("pre A\n")
    # What it would wait for is not there once it finds that its own file is gone.
    done = subprocess.run(["sh", "-c", cases.FACTS, "facts.sh", facts], cwd=tmp_path, check=False)
    assert (done.returncode == 0) is there
