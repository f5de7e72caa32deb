"""What is refused before the bindings are asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import htcondor2
import pytest

from condor_pydagman.dagman_job import submit_to_schedd
from condor_pydagman.errors import PoolError
from condor_pydagman.names import DagPaths


@pytest.mark.parametrize(
    ("directory", "text", "shown"),
    [
        (b"d", "# Filename: x.dag\narguments = -Dag \udcff.dag\n", "arguments = -Dag \udcff.dag"),
        (b"d\xff", "# Filename: x.dag\n", "d\udcff"),
    ],
)
def test_a_name_that_is_not_utf_8(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    directory: bytes,
    text: str,
    shown: str,
) -> None:
    """condor_dagman, which reads the nodes log through the bindings, could never run it."""
    place = os.path.join(os.fsencode(tmp_path), directory)
    os.mkdir(place)
    monkeypatch.chdir(os.fsdecode(place))
    with pytest.raises(PoolError, match="what is not UTF-8: ") as caught:
        submit_to_schedd.prepare_submit(text, DagPaths("x.dag"), "", None)
    assert shown in str(caught.value)
    assert "Rename the file or the directory" in str(caught.value)


class Taking:
    """A schedd that takes a job, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}

    def submit(self, description: Any, *, spool: bool) -> SimpleNamespace:
        self.given = dict(description.items())
        return SimpleNamespace(cluster=lambda: 7, num_procs=lambda: 1)

    def spool(self, result: Any) -> None:
        """The files have come."""


def test_a_value_of_several_lines_reaches_the_schedd() -> None:
    """The bindings write a description as one line for each key, and read that again."""
    text = 'executable = a\nMY.Note @=end\n"one\ntwo"\n@end\nqueue\n'
    schedd = Taking()
    prepared = submit_to_schedd.PreparedSubmit(htcondor2.Submit(text), text, schedd, spool=False)
    submit_to_schedd.submit(prepared, DagPaths("x.dag"), htcondor2)
    (key,) = (key for key in schedd.given if key.startswith("MY.Note"))
    assert key.startswith("MY.Note @=")
    assert '"one\ntwo"' in key


@pytest.mark.parametrize(
    ("line", "file", "is_told"),
    [
        ("", "x.dag", True),
        ("transfer_input_files = a.sub, ./x.dag", "x.dag", False),
        ("transfer_input_files = a.sub", "x.dag", True),
        ("", "/shared/x.dag", False),
    ],
)
def test_a_dag_file_that_does_not_come_along(line: str, file: str, is_told: bool) -> None:
    text = f"executable = a\n{line}\nqueue\n"
    prepared = submit_to_schedd.PreparedSubmit(htcondor2.Submit(text), text, Taking(), spool=True)
    job = submit_to_schedd.submit(prepared, DagPaths(file), htcondor2)
    assert [warning[:37] for warning in job.warnings] == (
        ["WARNING: the schedd has no copy of x."] if is_told else []
    )


class Bindings:
    """The bindings, and a schedd that has one job, in a state."""

    HTCondorException = RuntimeError

    def __init__(self, *states: int) -> None:
        self.states = states
        self.asked: list[str] = []

    def query(self, constraint: str, projection: list[str], limit: int) -> list[dict[str, int]]:
        self.asked.append(constraint)
        if 0 in self.states:
            raise RuntimeError("no answer")
        return [{"ClusterId": 42, "JobStatus": state} for state in self.states]


@pytest.mark.parametrize(
    ("state", "told"),
    [(5, "is on hold. To continue where it stopped: `condor_release 42`"), (1, "is in the queue")],
)
def test_a_dag_whose_job_waits_in_the_queue(work_directory: Path, state: int, told: str) -> None:
    """A second DAGMan would end the DAG, and the first then begin it anew."""
    Path("x.dag.lock").write_text("42\nrescue 0\n")
    bindings = Bindings(state)
    with pytest.raises(PoolError) as caught:
        submit_to_schedd._refuse_waiting(bindings, DagPaths("x.dag"), bindings)
    assert f"ERROR: Job 42, which runs x.dag, {told}" in str(caught.value)
    assert "condor_rm 42" in str(caught.value)
    assert f'UserLog == "{work_directory}/x.dag.dagman.log"' in bindings.asked[0]
    assert "ClusterId == 42" in bindings.asked[0]


def test_a_dag_whose_job_has_never_begun(work_directory: Path) -> None:
    """It has no lock file yet; -f would put a second DAGMan into the queue."""
    bindings, paths = Bindings(1), DagPaths("x.dag")
    Path("x.dag.condor.sub").write_text("")
    with pytest.raises(PoolError) as caught:
        submit_to_schedd._refuse_waiting(bindings, paths, bindings)
    assert "ERROR: Job 42, which runs x.dag, is in the queue and will start it." in str(
        caught.value
    )
    assert f'UserLog == "{work_directory}/x.dag.dagman.log"' in bindings.asked[0]
    assert "ClusterId" not in bindings.asked[0]
    Path("x.dag.dagman.out").write_text("")
    os.utime("x.dag.condor.sub", (1, 1))
    submit_to_schedd._refuse_waiting(bindings, paths, bindings)
    assert len(bindings.asked) == 1  # it has begun, and ended


@pytest.mark.parametrize("states", [(), (0,)])
def test_a_lock_file_whose_job_is_gone_stops_nothing(
    work_directory: Path, states: tuple[int, ...]
) -> None:
    bindings = Bindings(*states)
    submit_to_schedd._refuse_waiting(bindings, DagPaths("x.dag"), bindings)
    assert not bindings.asked
    for text in ("42\n", "", "what\n"):
        Path("x.dag.lock").write_text(text)
        submit_to_schedd._refuse_waiting(bindings, DagPaths("x.dag"), bindings)
    assert len(bindings.asked) == 1


def test_what_reads_dags_is_not_loaded_to_hand_a_job_over() -> None:
    """It takes longer to load than the schedd takes to accept the job."""
    code = "import sys; from condor_pydagman.cli import submit_dag; "
    code += "from condor_pydagman.dagman_job import submit_to_schedd, prepare_job; "
    code += "from condor_pydagman.adapters import descriptions; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "condor_pydagman.adapters.descriptions" in loaded
    assert not {"condor_pydagman.graph.model", "condor_pydagman.language.bulk"} & loaded
