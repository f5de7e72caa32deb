"""Which DAG is meant, and where its files are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman import dag_status
from condor_pydagman.errors import FileError, PoolError, UsageError
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_dag import find_dag, find_here, started_in
from tests import log_samples
from tests.dag_logs import DagLogs

pytestmark = pytest.mark.usefixtures("work_directory")


SUB = "arguments = \"-f -l . -Lockfile x.lock -Dag {} -CsdVersion $CondorVersion:' '25$\"\n"


@pytest.mark.parametrize("name", ["t.dag.dagman.out", "t.dag.nodes.log", "t.dag.rescue002"])
def test_a_file_that_dagman_has_made_names_its_dag(work_directory: Path, name: str) -> None:
    (work_directory / "t.dag").touch()
    DagLogs(work_directory)
    assert find_dag(name).name == "t.dag"


def test_the_submit_directory_by_the_command_line(work_directory: Path) -> None:
    (work_directory / "sub").mkdir()
    (work_directory / "sub" / "t.dag").touch()
    (work_directory / "sub" / "t.dag.condor.sub").write_text(SUB.format("sub/t.dag -Dag other.dag"))
    found = find_dag("sub/t.dag")
    assert found.directory == str(work_directory)
    assert found.files == ("sub/t.dag", "other.dag")
    assert found.paths.multi
    (work_directory / "sub" / "t.dag.condor.sub").write_text(SUB.format("t.dag"))
    assert find_dag("sub/t.dag").directory == str(work_directory / "sub")


@pytest.mark.parametrize("given", ["../../etc/t.dag", "/etc/t.dag", "old/t.dag", ""])
def test_a_command_line_of_another_dag_is_not_believed(work_directory: Path, given: str) -> None:
    """It was copied or moved with the DAG, or somebody else has written it."""
    (work_directory / "t.dag").touch()
    (work_directory / "t.dag.condor.sub").write_text(SUB.format(f"{given} -UseDagDir"))
    found = find_dag("t.dag")
    assert (found.directory, found.files) == (str(work_directory), ("t.dag",))
    assert not found.options.use_dag_dir


def test_the_nodes_log_of_a_dag_that_was_copied(work_directory: Path) -> None:
    (work_directory / "copy").mkdir()
    for directory in (work_directory, work_directory / "copy"):
        (directory / "t.dag").touch()
        logs = DagLogs(directory)
        logs.submit("A", 7)
        logs.say(f"Default node log file is: <{work_directory}/t.dag.nodes.log>")
    assert find_dag("copy/t.dag").nodes_log == f"{work_directory}/copy/t.dag.nodes.log"
    (work_directory / "copy" / "t.dag.nodes.log").unlink()
    assert find_dag("copy/t.dag").nodes_log == f"{work_directory}/t.dag.nodes.log"


def test_where_the_logs_are(work_directory: Path) -> None:
    (work_directory / "t.dag").touch()
    (work_directory / "logs").mkdir()
    (work_directory / "logs" / "nodes").touch()
    environment = 'environment = "_CONDOR_DAGMAN_LOG=logs/t.dag.dagman.out"\n'
    (work_directory / "t.dag.condor.sub").write_text(SUB.format("t.dag") + environment)
    logs = DagLogs(work_directory / "logs")
    logs.say(f"Default node log file is: <{work_directory}/logs/nodes>")
    found = find_dag("t.dag")
    assert found.out == str(work_directory / "logs" / "t.dag.dagman.out")
    assert found.nodes_log == f"{work_directory}/logs/nodes"
    (work_directory / "logs" / "nodes").unlink()
    assert find_dag("t.dag").nodes_log == f"{work_directory}/t.dag.nodes.log"


def test_a_dag_whose_file_is_gone_is_known_by_its_logs(work_directory: Path) -> None:
    logs = DagLogs(work_directory).start()
    logs.end(1)
    found = find_dag("t.dag")
    assert (found.state, found.exit_code, found.ended) == (DagState.FAILED, 1, True)


@pytest.mark.parametrize("name", ["t.dag.condor.sub", "t.dag.dagman.out", "t.dag.nodes.log"])
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(work_directory: Path, name: str) -> None:
    (work_directory / "t.dag").touch()
    os.mkfifo(name)
    if name.endswith(".out"):
        with pytest.raises(FileError, match=r"dagman\.out is not a regular file"):
            find_dag("t.dag", ask=False)
    else:
        assert find_dag("t.dag", ask=False).state is DagState.NOT_STARTED


def test_what_is_no_dag(work_directory: Path) -> None:
    with pytest.raises(FileError, match=r"there is no DAG file x.dag; no DAG was started in this"):
        find_dag("x.dag")
    (work_directory / "z.dag").touch()
    with pytest.raises(FileError, match=r"started in this directory, which has z.dag; `condor_"):
        find_dag("x.dag")
    DagLogs(work_directory, "y.dag")
    with pytest.raises(
        FileError, match=r"no DAG file x.dag; DAGs started in this directory: y.dag"
    ):
        find_dag("x.dag")
    with pytest.raises(UsageError, match=r"is a directory; DAGs started in .*: "):
        find_dag(str(work_directory))


def test_the_only_dag_of_a_directory(work_directory: Path) -> None:
    with pytest.raises(UsageError, match="name a DAG: no DAG was started"):
        find_here()
    DagLogs(work_directory)
    assert find_here().name == "t.dag"
    DagLogs(work_directory, "u.dag")
    with pytest.raises(UsageError, match="name a DAG: DAGs started in this directory: "):
        find_here()
    assert set(started_in(".")) == {"t.dag", "u.dag"}
    nested = 'Job submitted from host: <x>\n    [ DAGNodeName = "S" ]\n'
    (work_directory / "u.dag.dagman.log").write_text(log_samples.event(0, nested))
    assert find_here().name == "t.dag"


AD = {
    "ClusterId": 7,
    "Arguments": "-f -l . -Lockfile t.dag.lock -Dag t.dag -CsdVersion x",
    "Environment": "_CONDOR_DAGMAN_LOG=t.dag.dagman.out",
    "JobStatus": 5,
}


def test_a_dag_by_its_job(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        schedd_queries, "dagman_ad", lambda cluster: {**AD, "Iwd": str(work_directory)}
    )
    for what in ("7", "7.0"):
        found = find_dag(what)
        assert (found.name, found.cluster, found.state) == ("t.dag", 7, DagState.HELD)
        assert found.out == str(work_directory / "t.dag.dagman.out")


def test_what_the_schedd_says_of_an_interrupted_dag(
    work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work_directory / "t.dag").touch()
    (work_directory / "t.dag.lock").write_text("7\n")
    ad: dict[str, Any] = {**AD, "Iwd": str(work_directory)}
    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", lambda cluster: ad)
    found = find_dag("t.dag")
    assert (found.cluster, found.state, found.ad) == (7, DagState.HELD, ad)
    ad["Iwd"] = "/elsewhere"
    assert (find_dag("t.dag").state, find_dag("t.dag").ad) == (DagState.INTERRUPTED, {})

    def silent(cluster: int) -> dict[str, Any]:
        raise PoolError("no answer", transient=True)

    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", silent)
    found = find_dag("t.dag")
    assert (found.state, found.schedd_problem) == (DagState.INTERRUPTED, "no answer")
    assert find_dag("t.dag", ask=False).schedd_problem == ""


def test_an_interrupted_dag_that_is_submitted_again(
    work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first job was removed while it was held; the new one recovers its run."""
    (work_directory / "t.dag").touch()
    (work_directory / "t.dag.lock").write_text("6\n")
    logs = DagLogs(work_directory).start()
    (work_directory / "t.dag.condor.sub").write_text(SUB.format("t.dag"))
    os.utime(logs.out, (1, 1))
    ad = {**AD, "Iwd": str(work_directory), "JobStatus": 1, "QDate": 50}
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda: [ad])
    found = find_dag("t.dag", ask=False)
    assert (found.state, found.cluster, found.submitted) == (DagState.IDLE, 7, 50.0)
    told = dag_status("t.dag")
    assert (told.state, told.cluster, told.counts) == (DagState.IDLE, 7, None)


def test_a_file_of_a_dag_of_several(work_directory: Path) -> None:
    for name in ("t.dag", "u.dag"):
        (work_directory / name).touch()
    (work_directory / "t.dag.condor.sub").write_text(SUB.format("t.dag -Dag u.dag"))
    DagLogs(work_directory).start()
    found = find_dag("u.dag", ask=False)
    assert (found.name, found.files) == ("t.dag", ("t.dag", "u.dag"))
