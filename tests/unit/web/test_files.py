"""Which files a node's jobs and scripts write."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import read_plan
from condor_pydagman.web.files import files_of_node

pytest.importorskip("htcondor2")


def files_of(directory: Path, node: str, *attempts: Attempt) -> dict[str, str]:
    found = find_dag(str(directory / "t.dag"), ask=False)
    dag = read_plan(found).dag
    return files_of_node(found, dag, dag.ids[node], attempts)


@pytest.fixture
def dag_directory(tmp_path: Path) -> Path:
    (tmp_path / "t.dag").write_text(
        'JOB A a.sub DIR sub\nVARS A name="x y"\nSCRIPT DEBUG p.txt ALL PRE A x\n'
        "JOB B gone.sub\nJOB C command.sub\n"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.sub").write_text(
        "executable = /bin/true\ninitialdir = deep\noutput = $(name).$(Cluster).$(Process)\n"
        "error = /abs/$(RETRY).err\nlog = /dev/null\nqueue\n"
    )
    (tmp_path / "command.sub").write_text("include command : touch ran\nqueue\n")
    return tmp_path


def test_with_the_numbers_of_the_attempt(dag_directory: Path) -> None:
    attempt = Attempt(2)
    attempt.cluster, attempt.proc = 77, 1
    assert files_of(dag_directory, "A", attempt) == {
        "output": str(dag_directory / "sub" / "deep" / "x y.77.1"),
        "error": "/abs/2.err",
        "script-pre": str(dag_directory / "sub" / "p.txt"),
    }


def test_earlier_attempts_have_files_of_their_own(dag_directory: Path) -> None:
    attempts = [Attempt(number) for number in range(3)]
    for attempt in attempts:
        attempt.cluster = 7
    files = files_of(dag_directory, "A", *attempts)
    assert files["output"].endswith("x y.7.0")  # all write the same
    errors = {kind: path for kind, path in files.items() if path.startswith("/abs/")}
    assert errors == {"error": "/abs/2.err", "error-2": "/abs/1.err", "error-1": "/abs/0.err"}


def test_descriptions_that_tell_nothing(dag_directory: Path) -> None:
    assert files_of(dag_directory, "B") == {}
    assert files_of(dag_directory, "C") == {}
    assert not (dag_directory / "ran").exists()
