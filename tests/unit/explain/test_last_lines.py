"""The last lines of what failed jobs and scripts have written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.explain.failed_nodes import failure_of
from condor_pydagman.explain.known_facts import Excerpt
from condor_pydagman.explain.last_lines import excerpt_of, last_lines
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import attempt

pytestmark = pytest.mark.usefixtures("work_directory")
ME = os.getuid(), os.getgid()


@pytest.fixture(autouse=True)
def history(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the history of the schedd says."""
    ad: dict[str, Any] = {}

    def ended_job(*_: Any) -> Any:
        if not ad:
            raise PoolError("away", transient=True)
        return ad

    monkeypatch.setattr(schedd_queries, "ended_job", ended_job)
    return ad


def excerpt(text: str, submit: str, last: Attempt) -> Excerpt | None:
    """Of node A, of a DAG of this text."""
    Path("t.dag").write_text(text)
    Path("a.sub").write_text(submit)
    dag = build(["t.dag"], lambda path: iter([text]), BuildOptions())
    node = NodeRun("A", NodeStatus.ERROR)
    node.attempts = [last]
    return excerpt_of(failure_of(node, Run(), dag), find_dag("t.dag", ask=False), dag)


def test_the_last_lines_of_a_file(work_directory: Path) -> None:
    (work_directory / "err").write_text("".join(f"line {n}\n" for n in range(1000)) + "\n\x1b[2J\n")
    found = last_lines(str(work_directory / "err"), ME)
    assert found == Excerpt("err", ("line 996", "line 997", "line 998", "line 999", "\\x1b[2J"))
    (work_directory / "long").write_text("x" * 100_000)
    assert [len(line) for line in last_lines("long", ME).lines] == [200]


def test_files_that_can_t_be_read(work_directory: Path) -> None:
    os.mkfifo(work_directory / "pipe")
    assert last_lines("pipe", ME).problem == "is not a regular file"
    (work_directory / "core").write_bytes(b"\x7fELF\0\xff\xfe\nmore")
    assert last_lines("core", ME) == Excerpt("core", problem="is no text")
    assert last_lines("absent", ME).problem == "can't be read: No such file or directory"
    assert last_lines(".", ME).problem.startswith(("is not", "can't be read"))
    Path("core").write_bytes(bytes(range(256)) * 9)
    assert last_lines("core", ME) == Excerpt("core", problem="is no text")
    Path("latin1").write_bytes("Größe überschritten\n".encode("latin-1"))
    assert last_lines("latin1", ME).lines == ("Gr\\xf6\\xdfe \\xfcberschritten",)


def test_the_error_file_of_the_submit_file() -> None:
    Path("A-x-8-0-1.err").write_text("bad\n")
    submit = "initialdir = .\nerror = $(JOB)-$(v)-$(ClusterId)-$(Process)-$(RETRY).err\nqueue\n"
    found = excerpt('JOB A a.sub\nVARS A v="x"\n', submit, attempt(1, 3))
    assert found == Excerpt("A-x-8-0-1.err", ("bad",))


def test_a_node_with_a_directory_and_a_description_in_the_dag_file() -> None:
    Path("d").mkdir()
    Path("d/err").write_text("bad\n")
    text = "SUBMIT-DESCRIPTION S {\nerror = err\n}\nJOB A S DIR d\n"
    assert excerpt(text, "", attempt(value=3)) == Excerpt("d/err", ("bad",))


@pytest.mark.parametrize("submit", ["queue\n", "error = /dev/null\n", "garbage\n= 3 (\n"])
def test_no_error_file_is_known(submit: str) -> None:
    assert excerpt("JOB A a.sub\n", submit, attempt(value=3)) is None


def test_no_command_is_run_to_read_a_submit_file() -> None:
    submit = "include : touch ran |\nerror = err\n"
    assert excerpt("JOB A a.sub\n", submit, attempt(value=3)) is None
    assert not Path("ran").exists()


def test_the_history_knows_the_file_that_the_submit_file_does_not_tell(
    work_directory: Path, history: dict[str, Any]
) -> None:
    (work_directory / "other").write_text("bad\n")
    history.update(Err="other", Iwd=str(work_directory), DAGNodeName="A")
    assert excerpt("JOB A a.sub\n", "queue\n", attempt(value=3)) == Excerpt("other", ("bad",))
    history.update(DAGNodeName="B")  # of another DAG, in a schedd that was set up anew
    assert excerpt("JOB A a.sub\n", "queue\n", attempt(value=3)) is None
    history.update(Err="/dev/null", DAGNodeName="A")
    assert excerpt("JOB A a.sub\n", "queue\n", attempt(value=3)) is None


def test_the_history_does_not_know_the_file_of_a_task_of_a_bundle(
    work_directory: Path, history: dict[str, Any]
) -> None:
    history.update(Err="runner.err", Iwd=str(work_directory), DAGNodeName="A")
    assert excerpt("JOB A a.sub\n", "queue\n", attempt(value=3, noop=2)) is None


def of_a_worker(lines: list[str]) -> Excerpt | None:
    """Of node A, a DATA node whose worker printed these lines."""
    Path("t.dag.placements").mkdir(exist_ok=True)
    text = "".join(f"11/23/26 10:52:54 {line}\n" for line in lines)
    Path("t.dag.placements/A.out").write_text(text)
    return excerpt("DATA A a.dap\n", 'dap_type = "release"\n', attempt(value=12))


def test_failed_placements_with_their_reasons() -> None:
    long = f"FAILED: http://h/{'x' * 300} -> /b: the source is not there"
    earlier = ["FAILED: old: refused", "0 placements done; 1 failed; 0 s"]
    found = of_a_worker(
        [*earlier, long, "done: a -> b: 6 bytes", "1 placement done; 1 failed; 0 s"]
    )
    expected = (f"11/23/26 10:52:54 {long}",)
    assert found == Excerpt("t.dag.placements/A.out", expected, what="what failed:")


def test_a_failed_placement_with_a_line_for_each_way() -> None:
    failed = ["FAILED: foo://h/a -> /b: there is no way between the two URLs:"]
    failed += ["    module: none", "    direct: fsspec does not know foo"]
    found = of_a_worker([*failed, "    done: no", "waits", "    x", "0 placements done; 1 failed"])
    assert found is not None
    assert [line[18:] for line in found.lines] == [*failed, "    done: no"]


def test_a_worker_that_did_not_come_to_its_end() -> None:
    found = of_a_worker(["FAILED: old: no", "0 placements done; 1 failed; 0 s", "ERROR: a.dap:1"])
    assert found is not None
    assert found.lines[-1] == "11/23/26 10:52:54 ERROR: a.dap:1"
    assert found.what == "its last lines:"
