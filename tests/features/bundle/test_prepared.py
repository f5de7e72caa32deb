"""What the job of a bundle needs is written: the list of tasks, links, the description."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.errors import FileError
from condor_pydagman.features.bundle.adapters.look import (
    Looker,
    LookOrder,
    added_commands,
)
from condor_pydagman.features.bundle.adapters.prepared import PrepareOrder, prepare
from condor_pydagman.features.bundle.adapters.program import program as program_text
from condor_pydagman.features.bundle.messages import Look, Prepare
from condor_pydagman.features.bundle.one_bundle import number_of
from condor_pydagman.features.bundle.tasks import CannotBundle, NodeOrder

PLAIN = "executable = job\narguments = $(n)\nrequest_memory = 10\noutput = $(job).out\nqueue\n"


class Dag:
    """The files of a DAG."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.looker = Looker()
        self.texts: dict[str, str] = {}
        (path / "n.sub").write_text(PLAIN)
        (path / "job").touch()

    def node(self, number: int, submit: str = "n.sub", **fields: Any) -> NodeOrder:
        name = "ABCDE"[number]
        before = [("n", str(number))]
        order = NodeOrder(number, name, 0, str(self.path), submit, before, [], [0])
        return order._replace(**fields)

    def look(self, *nodes: NodeOrder) -> list[Look]:
        return self.looker.look_at(LookOrder(nodes, self.texts))

    def prepare(self, *nodes: NodeOrder, parallel: int = 1) -> str:
        """The description of the job of bundle 3."""
        limits = [0, 50, 0, 0, 0][: len(nodes)]
        look, directory = LookOrder(nodes, self.texts), str(self.path / "x.dag.bundles")
        added = "dag_node_name = A\nMy.DAGManNodeRetry = 5", 'My.DAGParentNodeNames = "Z"\n+x = 1'
        asked = Prepare(3, (), parallel, tuple(limits), 7.5)
        order = PrepareOrder(asked, directory, look, *added)
        return prepare(order, self.looker).text

    @property
    def home(self) -> Path:
        return self.path / "x.dag.bundles" / "3"

    def head(self) -> dict[str, Any]:
        return self.tasks()[0]

    def tasks(self) -> list[dict[str, Any]]:
        lines = (self.home / "tasks").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def dag(tmp_path: Path) -> Dag:
    return Dag(tmp_path)


def test_the_list_has_a_line_for_each_task(dag: Dag) -> None:
    dag.prepare(dag.node(0), dag.node(2), parallel=2)
    head, first, second = dag.tasks()
    about = {"format": 1, "bundle": 3, "parallel": 2, "home": str(dag.home)}
    assert head == {**about, "release": 7.5, "stream": True}
    assert first == {
        "n": 1,
        "name": "A",
        "program": f"{dag.path}/job",
        "sandboxed": "i1",
        "arguments": ["0"],
        "environment": {},
        "directory": str(dag.path),
        "input": "",
        "output": "A.out",
        "error": "",
        "inputs": [],
        "outputs": None,
        "remaps": {},
        "timeout": 0,
        "success": 0,
    }
    differs = {"n": 2, "name": "C", "arguments": ["2"], "output": "C.out", "timeout": 50}
    assert second == {**first, **differs}


@pytest.mark.parametrize("name", ["3", "runner", "runner.tmp"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("kept")])
def test_what_tasks_put_in_the_way_is_not_opened(
    dag: Dag, name: str, make: Callable[[Path], None]
) -> None:
    path = dag.home.parent / name
    (path.parent / "kept").mkdir(parents=True)
    make(path)
    if name == "3":
        with pytest.raises(FileError, match=f"{path} is in the way: Not a directory"):
            dag.prepare(dag.node(0))
    else:
        dag.prepare(dag.node(0))
        assert (dag.home.parent / "runner").read_text() == program_text()
    assert os.listdir(path.parent / "kept") == []


def test_a_pipe_in_place_of_the_directory_of_bundles(dag: Dag) -> None:
    os.mkfifo(dag.home.parent)
    with pytest.raises(FileError, match=str(dag.home.parent)):
        dag.prepare(dag.node(0))


def test_the_description_is_one_that_the_bindings_take(dag: Dag) -> None:
    submit = htcondor2.Submit(dag.prepare(dag.node(0), dag.node(1)))
    found = {
        name: submit.expand(name)
        for name in (
            *("executable", "arguments", "initialdir", "request_memory", "dag_node_name"),
            *("transfer_input_files", "transfer_output_files", "My.DAGManBundleNodes"),
            *("My.DAGManBundleNames", "My.DAGManNodeRetry", "My.DAGParentNodeNames", "My.x"),
            *("submit_event_notes", "description", "output", "when_to_transfer_output"),
            "stream_output",
        )
    }
    assert found == {
        "executable": str(dag.path / "x.dag.bundles" / "runner"),
        "arguments": "tasks",
        "initialdir": str(dag.home),
        "request_memory": "10",
        "dag_node_name": "bundle 3",
        "transfer_input_files": "tasks,in/i1",
        "transfer_output_files": "results,out",
        "My.DAGManBundleNodes": "2",
        "My.DAGManBundleNames": '"A B"',
        "My.DAGManNodeRetry": "0",
        "My.DAGParentNodeNames": '""',
        "My.x": "1",
        "submit_event_notes": "DAG Node: bundle 3",
        "description": "2 nodes: A B",
        "output": "live",
        "when_to_transfer_output": "ON_EXIT",
        "stream_output": "true",
    }


@pytest.mark.parametrize(
    ("line", "when"),
    [
        ("", "ON_EXIT"),
        ("should_transfer_files = IF_NEEDED", "ON_EXIT"),
        ("should_transfer_files = $(unknown:)", "ON_EXIT"),
        ("should_transfer_files = Yes", "ON_EXIT_OR_EVICT"),
        ("ShouldTransferFiles = always", "ON_EXIT_OR_EVICT"),
    ],
)
def test_files_are_transferred_where_jobs_of_their_own_would_transfer_them(
    dag: Dag, line: str, when: str
) -> None:
    """HTCondor takes ON_EXIT_OR_EVICT for "in any case", and refuses it with IF_NEEDED."""
    (dag.path / "n.sub").write_text(PLAIN.replace("queue", f"{line}\nqueue"))
    submit = htcondor2.Submit(dag.prepare(dag.node(0), dag.node(1)))
    assert submit.expand("when_to_transfer_output") == when


def test_results_are_streamed_if_they_are_not_here_while_the_job_runs(dag: Dag) -> None:
    (dag.path / "n.sub").write_text(f"should_transfer_files = NO\n{PLAIN}")
    dag.prepare(dag.node(0), dag.node(1))
    assert (dag.head()["stream"], dag.head()["release"]) == (False, 7.5)
    assert [one.is_live for one in dag.look(dag.node(0))] == [True]


def test_an_input_of_many_is_transferred_once_and_names_may_be_the_same(dag: Dag) -> None:
    text = PLAIN.replace("queue", "input = in\ntransfer_input_files = /data/x, y$(n)/z\nqueue")
    (dag.path / "n.sub").write_text(text)
    description = dag.prepare(dag.node(0), dag.node(1))
    links = {path.name: os.readlink(path) for path in (dag.home / "in").iterdir()}
    assert links == {
        "i1": "/data/x",
        "i2": f"{dag.path}/y0/z",
        "i3": f"{dag.path}/in",
        "i4": f"{dag.path}/job",
        "i5": f"{dag.path}/y1/z",
    }
    first, second = dag.tasks()[1:]
    assert first["inputs"] == [["i1", "x"], ["i2", "z"], ["i3", "in"]]
    assert second["inputs"] == [["i1", "x"], ["i5", "z"], ["i3", "in"]]
    assert "transfer_input_files = tasks,in/i1,in/i2,in/i3,in/i4,in/i5" in description


def test_without_file_transfer_nothing_is_asked_to_be_transferred(dag: Dag) -> None:
    (dag.path / "n.sub").write_text(PLAIN.replace("queue", "should_transfer_files = no\nqueue"))
    description = dag.prepare(dag.node(0), dag.node(1))
    assert "transfer_input_files" not in description
    assert htcondor2.Submit(description).expand("should_transfer_files") == "no"


@pytest.mark.parametrize(
    ("line", "key", "want"),
    [
        ("request_memory = 10", "request_cpus", "3"),
        ("request_memory = 10", "request_memory", "30"),
        ("request_memory = 1.5 GB", "request_memory", "4.5GB"),
        ("request_memory = 10\nrequest_cpus = 2", "request_cpus", "6"),
        ("request_memory = ifThenElse(x, 1, 2)", "request_memory", "(ifThenElse(x, 1, 2)) * 3"),
        ("m = 2 GB\nrequest_memory = $(m)", "request_memory", "6GB"),
        ("request_memory = 1048577", "request_memory", "3145731"),
        ("RequestCpus = 2\nRequestMemory = 10", "request_cpus", "6"),
        ("RequestCpus = 2\nRequestMemory = 10", "request_memory", "30"),
        ("request_licences = 2", "request_licences", "6"),
        ("+RequestMemory = 10", "My.RequestMemory", "30"),
        ("concurrency_limits = a, b:2", "concurrency_limits", "a:3, b:6"),
    ],
)
def test_side_by_side_they_need_as_much_as_all_of_them(
    dag: Dag, line: str, key: str, want: str
) -> None:
    (dag.path / "n.sub").write_text(PLAIN.replace("request_memory = 10", line))
    submit = htcondor2.Submit(dag.prepare(dag.node(0), dag.node(1), parallel=3))
    assert submit.expand(key) == want


def test_side_by_side_they_need_as_often_the_default(dag: Dag) -> None:
    """JOB_DEFAULT_REQUESTMEMORY: a number, with the bindings of some versions an expression."""
    (dag.path / "n.sub").write_text(PLAIN.replace("request_memory = 10", ""))
    submit = htcondor2.Submit(dag.prepare(dag.node(0), dag.node(1), parallel=3))
    default = htcondor2.param["JOB_DEFAULT_REQUESTMEMORY"]
    product = str(int(default) * 3) if default.isdigit() else f"({default}) * 3"
    assert submit.expand("request_memory") == product


def test_the_image_is_that_of_the_nodes_directory(dag: Dag) -> None:
    (dag.path / "n.sub").write_text(f"container_image = a.sif\n{PLAIN}")
    submit = htcondor2.Submit(dag.prepare(dag.node(0), dag.node(1)))
    assert submit.expand("container_image") == f"{dag.path}/a.sif"


def test_the_runner_is_there_and_is_that_of_this_version(dag: Dag) -> None:
    runner = dag.path / "x.dag.bundles" / "runner"
    dag.prepare(dag.node(0), dag.node(1))
    first = runner.stat()
    assert os.access(runner, os.X_OK)
    dag.prepare(dag.node(0), dag.node(1))
    assert runner.stat().st_ino == first.st_ino
    runner.write_text("old")
    dag.prepare(dag.node(0), dag.node(1))
    assert runner.read_text() != "old"


def test_what_an_earlier_run_has_left_is_gone(dag: Dag) -> None:
    dag.home.mkdir(parents=True)
    for name in ("results", "tasks", "old"):
        (dag.home / name).write_text('{"ended": 1}')
    dag.prepare(dag.node(0), dag.node(1))
    assert sorted(path.name for path in dag.home.iterdir()) == ["in", "tasks"]


@pytest.mark.parametrize("line", ["executable = no", "input = no", "transfer_input_files = no"])
def test_a_node_runs_alone_whose_input_is_not_there(dag: Dag, line: str) -> None:
    (dag.path / "m.sub").write_text(
        f"arguments = 1\n{line}\n{'' if 'exec' in line else 'executable = job'}\nqueue\n"
    )
    (found,) = dag.look(dag.node(0, "m.sub"))
    assert found.why == f"it transfers a file that is not there, or not to be read: {dag.path}/no"
    order = LookOrder([dag.node(0, "m.sub")], {})
    assert dag.looker.look_at(order, ready=False)[0].kind
    shared = f"should_transfer_files = no\nexecutable = job\n{line}\nqueue\n"
    (dag.path / "m.sub").write_text(shared)
    assert dag.look(dag.node(0, "m.sub"))[0].kind
    (dag.path / "m.sub").write_text(
        f"arguments = 1\n{line}\n{'' if 'exec' in line else 'executable = job'}\nqueue\n"
    )
    (dag.path / "no").touch()
    assert dag.look(dag.node(0, "m.sub"))[0].kind


def test_descriptions_that_have_changed_since_make_no_bundle(dag: Dag) -> None:
    (dag.path / "m.sub").write_text(PLAIN)
    looked = dag.look(dag.node(0), dag.node(1, "m.sub"))
    assert looked[0].kind == looked[1].kind != ""
    (dag.path / "m.sub").write_text(PLAIN.replace("10", "200"))
    with pytest.raises(FileError):
        dag.prepare(dag.node(0), dag.node(1, "m.sub"))
    (dag.path / "m.sub").write_text(PLAIN.replace("queue", "queue 2"))
    with pytest.raises(CannotBundle):
        dag.prepare(dag.node(0), dag.node(1, "m.sub"))


def test_nodes_are_looked_at(dag: Dag) -> None:
    (dag.path / "m.sub").write_text(PLAIN.replace("queue", "queue 2"))
    dag.texts["inline"] = PLAIN
    first, several, inline, missing, other = dag.look(
        dag.node(0),
        dag.node(1, "m.sub"),
        dag.node(2, "inline"),
        dag.node(3, "no.sub"),
        dag.node(4, equal=[7]),
    )
    assert first.kind == inline.kind != other.kind
    assert several == Look(1, "", "its queue statement is not for one job: queue 2")
    assert missing == Look(3, "", "its submit file can't be read: No such file or directory")


def test_a_file_is_read_once_while_it_is_as_it_was(dag: Dag) -> None:
    (kind,) = {one.kind for one in dag.look(dag.node(0), dag.node(1))}
    path = dag.path / "n.sub"
    info = path.stat()
    path.write_text(PLAIN.replace("10", "20"))
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert dag.look(dag.node(0))[0].kind == kind
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns + 1))
    assert dag.look(dag.node(0))[0].kind != kind


@pytest.mark.parametrize("bindings_only", [False, True])
@pytest.mark.parametrize(
    "note", ["    DAG Node: bundle 7", '    [ DAGNodeName = "bundle 7"; JobBatchName = "b" ]']
)
def test_the_log_has_the_number_of_a_bundle(tmp_path: Path, note: str, bindings_only: bool) -> None:
    path = tmp_path / "log"
    head = "000 (009.000.000) 2026-11-27 10:00:00 Job submitted from host: <127.0.0.1:9618>"
    path.write_text(f"{head}\n{note}\n...\n")
    log = NodesLog(str(path), bindings_only=bindings_only)
    log.open(truncate=False)
    (event,) = log.read()
    assert isinstance(event, LogEvent)
    assert number_of(event.node) == 7


def test_names_that_are_no_bundles() -> None:
    names = ("", "A", "bundle", "bundle ", "bundle x", "bundle \u0663", "bundle 12345678901", "A 7")
    assert not any(map(number_of, names))


def test_commands_that_the_access_point_has_added(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '[ Project = "a"; LongRun=true; ]'
    monkeypatch.setitem(htcondor2.param, "EXTENDED_SUBMIT_COMMANDS", text)
    assert added_commands() == {"project", "longrun"}
