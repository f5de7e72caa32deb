"""Jobs of DATA nodes: the request is checked, and an order is written for the worker."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import detached_process
from condor_pydagman.config import Config
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_text import read_requests
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.work_order import (
    FINAL,
    FINAL_STATUS,
    Ended,
    WorkOrder,
    parse_work_order,
)
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.data import jobs
from condor_pydagman.features.data.jobs import DataNodes
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.names import DagPaths
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.vocabulary import DagStatus

DAG = 'DATA in in.dap\nVARS in file="a b" My.X="1"\n'
REQUEST = "dap_type = transfer\nsrc_url = http://me:geheim@h/$(file)\ndest_url = $(JOB)\n"


@pytest.fixture
def data_run(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(jobs, "lookup", lambda name: f"/{name}")
    said: list[str] = []
    return SimpleNamespace(
        dag=build(["t.dag"], lambda _path: DAG, BuildOptions()),
        paths=DagPaths("t.dag"),
        workflow=Workflow(7, "/log", Config()),
        config=Config(),
        resumes=False,
        rescue_number=0,
        extras=None,
        said=said,
        out=SimpleNamespace(say=lambda text, level=3: said.append(text)),
    )


def test_the_first_node_may_come_with_a_piece_of_the_old_log(data_run: Any) -> None:
    placements: Any = DagRun.placements
    grown, data_run._placements = data_run.dag, None
    data_run.dag = build(["t.dag"], lambda _path: "JOB A a.sub\n", BuildOptions())
    assert placements.fget(data_run) is None
    data_run.dag = grown
    assert isinstance(placements.fget(data_run), DataNodes)


def action(retry: int = 0) -> SubmitNode:
    return SubmitNode(0, retry, DagStatus.OK, 0)


def order(tmp_path: Path) -> WorkOrder:
    found = parse_work_order((tmp_path / "t.dag.placements/in.order").read_text())
    assert isinstance(found, WorkOrder)
    return found


def test_an_ordinary_submit_file_stays_one(data_run: Any, tmp_path: Path) -> None:
    assert DataNodes(data_run).template(action(), "executable = a\nqueue\n") is None
    assert not (tmp_path / "t.dag.placements").exists()


def test_a_final_node_may_release(data_run: Any, tmp_path: Path) -> None:
    data_run.dag = build(["t.dag"], lambda _path: DAG + "FINAL free free.dap\n", BuildOptions())
    final = SubmitNode(1, 0, DagStatus.NODE_FAILED, 1)
    request = '[ dap_type = "release"; dest_host = "/scratch"; allocation_id = "a"; ]'
    nodes = DataNodes(data_run)
    assert nodes.template(final, "arguments = dap_type\n") is None, "HTCondor says what is wrong"
    assert nodes.template(final, "executable = a\nqueue\n") is None
    template = nodes.template(final, request)
    assert template is not None
    assert "description = release 1" in template[0][0]
    found = parse_work_order((tmp_path / "t.dag.placements/free.order").read_text())
    assert isinstance(found, WorkOrder)
    assert FINAL in found.environment
    assert found.environment[FINAL_STATUS] == str(int(DagStatus.NODE_FAILED))


def test_allocations_of_a_removed_dag(
    data_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that outlives DAGMan releases them; its trouble is none of DAGMan's."""
    started: list[tuple[str, WorkOrder | Ended]] = []
    start = lambda module, order: started.append(  # noqa: E731
        (module, parse_work_order(order.decode()))
    )
    monkeypatch.setattr(detached_process, "start", start)
    (tmp_path / "t.dag.placements").mkdir()
    DataNodes(data_run).end(removed=False)
    DataNodes(data_run).end(removed=True)
    ((module, found),) = started
    assert module == "condor_pydagman.placement.dag_allocations"
    assert isinstance(found, WorkOrder)
    assert found.directory == str(tmp_path / "t.dag.placements")
    assert not found.left
    nodes = DataNodes(data_run)
    nodes.leave([0])
    nodes.end(removed=False)  # once more, in case that it could not be done
    left = [order.left for _, order in started[1:] if isinstance(order, WorkOrder)]
    assert [list(one) for one in left] == [[data_run.dag.names[0]]] * 2

    def fails(module: str, order: bytes) -> None:
        raise OSError(12, "no memory")

    monkeypatch.setattr(detached_process, "start", fails)
    DataNodes(data_run).end(removed=True)
    assert "are not released" in data_run.said[-1]


def test_the_job_and_its_order(data_run: Any, tmp_path: Path) -> None:
    template = DataNodes(data_run).template(action(2), REQUEST)
    assert template is not None
    ((text, queue),) = template
    assert "universe = local" in text
    assert "description = transfer a b" in text
    assert "geheim" not in text
    assert queue == "queue\n"
    made = order(tmp_path)
    assert (made.node, made.retry, made.nodes_log, made.directory) == (
        "in",
        2,
        "/log",
        str(tmp_path),
    )
    assert made.macros["file"] == "a b"
    assert made.macros["JOB"] == "in"
    assert made.settings.module_directories == ("/LIBEXEC",)
    mode = os.stat(tmp_path / "t.dag.placements").st_mode
    assert stat.S_IMODE(mode) == 0o700


def test_a_wrong_request_is_said_with_its_place(data_run: Any) -> None:
    with pytest.raises(PoolError, match=r"in.dap:2: \$\(fil\) is not|src_url: \$\(fil\)") as error:
        DataNodes(data_run).template(action(), REQUEST.replace("$(file)", "$(fil)"))
    assert not error.value.transient
    assert "did you mean $(file)?" in str(error.value)
    assert any("^" in line for line in data_run.said)
    assert not any("geheim" in line for line in data_run.said)


def test_notes_of_earlier_runs(data_run: Any, tmp_path: Path) -> None:
    """Count in a rescue run, and after a restart."""
    directory = tmp_path / "t.dag.placements"
    for resumes, rescue_number, stays in ((False, 0, False), (True, 0, True), (False, 1, True)):
        directory.mkdir(exist_ok=True)
        (directory / "in.journal").write_text("")
        data_run.resumes, data_run.rescue_number = resumes, rescue_number
        DataNodes(data_run).template(action(), REQUEST)
        assert (directory / "in.journal").exists() is stays


def test_a_directory_that_can_not_be_used(data_run: Any, tmp_path: Path) -> None:
    (tmp_path / "t.dag.placements").write_text("")
    with pytest.raises(FileError, match=r"t\.dag\.placements"):
        DataNodes(data_run).template(action(), REQUEST)


def test_a_wrong_knob(data_run: Any) -> None:
    data_run.config = Config(placement_limits="x")
    with pytest.raises(PoolError, match="PYDAGMAN_PLACEMENT_LIMITS"):
        DataNodes(data_run).template(action(), REQUEST)


def test_the_command_of_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "condor_pydagman"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(tmp_path / "condor_dagman")])
    assert jobs.worker_command().program == str(program)
    monkeypatch.setattr("sys.argv", ["condor_dagman"])  # not the one of the working directory
    monkeypatch.chdir(tmp_path)
    assert jobs.worker_command().program != str(program)
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    command = jobs.worker_command()
    assert (command.program, command.arguments[0]) == ("/nowhere/python", "-c")


class Site:
    """What the site of every node gives."""

    def macros(self, _action: SubmitNode) -> dict[str, str]:
        return {"MATCH_Door": "https://n.example.org"}

    def environment(self, _action: SubmitNode) -> dict[str, str]:
        return {"MATCH_Door": "https://n.example.org", "AREA": "/scratch/n", "HOME": "/home/n"}


def test_a_name_is_no_macro_of_a_request(
    data_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job may have given it, also to a parent of the node."""
    monkeypatch.setenv("THEIR_SECRET", "geheim")
    text = "JOB $ENV(THEIR_SECRET) a\nDATA in in.dap\nPARENT $ENV(THEIR_SECRET) CHILD in\n"
    data_run.dag = build(["t.dag"], lambda _path: text, BuildOptions())
    request = "dap_type = transfer\nsrc_url = http://h/$(DAG_PARENT_NAMES)\ndest_url = b\n"
    assert DataNodes(data_run).template(action()._replace(node=1), request) is not None
    made = order(tmp_path)
    assert "THEIR_SECRET" not in made.environment
    again = read_requests(made.text, "", Macros(made.macros, {"THEIR_SECRET": "geheim"}), "/")
    (one,) = again.placements
    assert isinstance(one, Transfer)
    assert one.source.path == "/$ENV(THEIR_SECRET)"


OF_SITE = "dap_type = transfer\nsrc_url = $(MATCH_Door)/a\ndest_url = $ENV(AREA)/$(JOB)\n"


def test_the_site_of_its_group(data_run: Any, tmp_path: Path) -> None:
    """Macros and variables count when the request is checked, and are in the worker's order."""
    with pytest.raises(PoolError, match=r"\$\(MATCH_Door\) is not defined"):
        DataNodes(data_run).template(action(), OF_SITE)
    data_run.extras = Site()
    template = DataNodes(data_run).template(action(), OF_SITE)
    assert template is not None
    made = order(tmp_path)
    assert made.macros["MATCH_Door"] == "https://n.example.org"
    assert {"AREA": "/scratch/n", "HOME": "/home/n"}.items() <= made.environment.items()
    again = read_requests(made.text, "", Macros(made.macros, made.environment), "/")
    (one,) = again.placements
    assert isinstance(one, Transfer)
    assert (one.source.host, one.destination.path) == ("n.example.org", "/scratch/n/in")


def test_variables_that_a_request_names_reach_its_worker(
    data_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THEIR_AREA", "/area")
    monkeypatch.setenv("THEIR_NAME", "name")
    monkeypatch.setenv("THEIR_OTHER", "secret")
    data_run.dag = build(
        ["t.dag"], lambda _path: DAG.replace("a b", "$ENV(THEIR_NAME)"), BuildOptions()
    )
    request = REQUEST.replace("$(JOB)", "$ENV(THEIR_AREA)/b")
    assert DataNodes(data_run).template(action(), request) is not None
    variables = order(tmp_path).environment
    assert (variables["THEIR_AREA"], variables["THEIR_NAME"]) == ("/area", "name")
    assert "THEIR_OTHER" not in variables


GROUPED = (
    "DATA in in.dap\nDATA out in.dap\nDATA odd in.dap\n"
    "SITE_GROUP kept NODES in\nSITE_GROUP free NODES out\n"
)


def test_notes_of_a_group_that_has_left_its_site(data_run: Any, tmp_path: Path) -> None:
    """What they say is at another site."""
    data_run.dag = build(["t.dag"], lambda _path: GROUPED, BuildOptions())
    apply_progress(data_run.dag, "SITE_MATCHED kept north 1\n", "t.dag.rescue001")
    data_run.rescue_number = 1
    directory = tmp_path / "t.dag.placements"
    directory.mkdir()
    journals = [directory / f"{name}.journal" for name in ("in", "out", "odd")]
    for journal in journals:
        journal.write_text("")
    nodes = DataNodes(data_run)
    nodes.template(action(), REQUEST.replace("$(file)", "f"))
    assert [journal.exists() for journal in journals] == [True, False, True]
    nodes.forget([0, 1])
    assert [journal.exists() for journal in journals] == [False, False, True]
    assert not data_run.said
    journals[1].mkdir()
    nodes.forget([1])
    assert str(journals[1]) in data_run.said[0]


def test_orders_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("a.order", "b.order", "a.journal", "a.out"):
        (tmp_path / name).write_text("")
    jobs.remove_work_orders(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"a.journal", "a.out"}
    jobs.remove_work_orders(str(tmp_path / "not there"))
