"""A DAG that runs, for tests of the page's server."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.dag_logs import DagLogs

DAG = """\
JOB A a.sub
JOB B a.sub
JOB C a.sub
JOB D a.sub
VARS A x="one" y="two"
RETRY B 1
SCRIPT DEBUG b.debug ALL POST B post.sh
PARENT A CHILD B C
PARENT B C CHILD D
"""


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DagLogs:
    """A runs; B, C and D wait."""
    monkeypatch.setattr("condor_pydagman.web.live_dag.INTERVAL_S", 0.05)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.dag").write_text(DAG)
    (tmp_path / "a.sub").write_text(
        "executable = /bin/true\noutput = $(x).$(Cluster).out\nerror = err.$(Cluster)\n"
        "log = a.log\nqueue\n"
    )
    made = DagLogs(tmp_path)
    made.now = time.time() - 60
    made.start()
    made.submit("A", 7)
    made.execute(7)
    return made


@pytest.fixture
def dag_file(logs: DagLogs) -> Path:
    return logs.log.with_name("t.dag")
