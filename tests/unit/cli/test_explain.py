"""condor_pydagman explain: the text, the JSON, exit codes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from condor_pydagman.adapters.request_client import SteeringAnswer
from condor_pydagman.cli import pydagman
from condor_pydagman.cli.explain import text_of
from condor_pydagman.explain.explanation import Explanation, Moment
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.names import logged_name
from tests.dag_logs import BEGIN, DagLogs
from tests.locks import held


@pytest.fixture
def logs(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> DagLogs:
    monkeypatch.setenv("COLUMNS", "80")
    Path("t.dag").write_text("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n")
    made = DagLogs(work_directory).start()
    made.submit("A", 7)
    made.execute(7)
    return made


def explain(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = pydagman.main(["explain", *words])
    return code, capsys.readouterr().out


def test_a_failed_dag(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    logs.terminate(7, value=3)
    logs.end(1)
    code, out = explain(capsys, "t.dag")
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(BEGIN))
    assert code == 1
    assert out.splitlines()[:5] == [
        "t.dag failed after 0 s: 2 nodes, 1 failed, 1 unable to run after a failure.",
        "",
        "1. Node A failed: its job ended with exit code 3.",
        f"   - t.dag.nodes.log, {when}: job 7.0 of A on slot1@one: exit code",
        "     3",
    ]
    code, out = explain(capsys, "t.dag", "B")
    assert (code, out.splitlines()[0]) == (
        1, "Node B of t.dag can't run, because an ancestor failed."
    )  # fmt: skip


def test_a_dag_that_has_succeeded(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    logs.terminate(7)
    logs.submit("B", 8)
    logs.terminate(8)
    logs.end(0)
    assert explain(capsys) == (0, "t.dag succeeded after 0 s: 2 nodes, 2 done.\n")
    code, out = explain(capsys, "t.dag", "A", "--json")
    read = json.loads(out)
    assert (code, read["wrong"], read["node"]) == (0, False, "A")
    assert [moment["text"] for moment in read["life"]] == [
        "1 job submitted (7.0)", "running on slot1@one", "ended with exit code 0"
    ]  # fmt: skip


def test_a_node_that_was_added_while_the_dag_runs(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(dag: str, command: str, *, prefix: str) -> SteeringAnswer:
        assert (dag, command) == (str(Path("t.dag").absolute()), "names")
        found = [name for name in ("A", "B") if name.startswith(prefix)]
        return SteeringAnswer(1, (), 0, {"names": found})

    monkeypatch.setattr("condor_pydagman.cli.explain.steer", names)
    with open("t.dag", "a") as file:
        file.write("JOB C c.sub\n")
    with held("t.dag.lock", ""):
        assert explain(capsys, "t.dag", "B")[0] == 0
        assert pydagman.main(["explain", "t.dag", "C"]) == 1
    said = capsys.readouterr().err
    assert "node C was added to the DAG files of t.dag after DAGMan had read them" in said
    assert "condor_pydagman steer add t.dag FILE" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["t.dag", "a"], "t.dag has no node a; did you mean A?\n"),
        (["t.dag", "zzz"], "t.dag has no node zzz; it has 2 nodes\n"),
        (["t.dag", "\x1b[2J"], "t.dag has no node \\x1b[2J"),
        (["x.dag"], "there is no DAG file x.dag"),
        (["."], ". is a directory"),
    ],
)
def test_what_is_not_there(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert pydagman.main(["explain", *words]) == 1
    assert f"condor_pydagman: {message}" in capsys.readouterr().err


def test_nothing_is_known_of_nodes(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (logs.log, logs.log.with_name("t.dag")):
        path.unlink()
    assert pydagman.main(["explain", "t.dag", "A"]) == 1
    assert "the nodes of t.dag are not known: The DAG files" in capsys.readouterr().err


def test_odd_names_and_bytes_can_be_printed(
    logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "n\u00f6de\udcff"
    Path("t.dag").write_bytes(f"JOB {name} a.sub\n".encode("utf-8", "surrogateescape"))
    logs.terminate(7)
    logs.submit(logged_name(name), 9)
    logs.terminate(9, value=1)
    code, out = explain(capsys, "t.dag", name)
    assert (code, out.splitlines()[0]) == (1, "Node n\u00f6de\\xff of t.dag failed.")
    assert explain(capsys, "t.dag", "--json")[0] == 1


def test_lines_are_wrapped_and_those_of_sub_dags_are_indented() -> None:
    inner = Explanation("in.dag", "in.dag has failed.", (Notice("unknown", Weight.NOTE, "x"),))
    finding = Notice(
        "node.subdag",
        Weight.PROBLEM,
        "word " * 20,
        evidence=(Evidence("err", "its last lines:", lines=("a" * 90, "b")),),
        advice=("do " * 20,),
        inner=(inner,),
    )
    life = (Moment(0.0, "begins " * 10),)
    lines = list(text_of(Explanation("t.dag", "head", (finding,), "A", life), 40))
    assert [line for line in lines if len(line) > 40] == ["       " + "a" * 90]
    assert lines[-4:] == ["", "   | in.dag has failed.", "   |", "   | 1. x"]
    assert any(line.startswith("   => do do") for line in lines)


def test_a_node_without_its_dag(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    assert pydagman.main(["explain", "A"]) == 1
    hint = "to explain a node of t.dag: condor_pydagman explain t.dag A"
    assert hint in capsys.readouterr().err


def test_a_node_that_a_rescue_file_says_is_done(
    logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("t.dag").write_text("JOB A a.sub\nJOB B b.sub DONE\n")
    assert "Node B of t.dag is done: the DAG file says so." in explain(capsys, "t.dag", "B")[1]


def say_failed(logs: DagLogs) -> None:
    """What DAGMan writes of A, which has failed."""
    logs.say("Node A job proc (7.0.0) failed with status 3.")
    logs.counts(2, 0, 0, 0, 0, 0, 0, 1, 1)


def test_the_nodes_log_is_missing(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    say_failed(logs)
    logs.say("ERROR: the following job(s) failed:")
    logs.say("      Node Name: A")
    logs.say("          Error: Job proc (7.0.0) failed with status 3")
    logs.say("---------------------------------------\t<END>")
    logs.say("Writing Rescue DAG to t.dag.rescue001...")
    logs.end(1)
    logs.log.unlink()
    code, out = explain(capsys, "t.dag", "--json")
    told = json.loads(out)
    assert code == 1
    assert told["headline"] == (
        "t.dag failed after 0 s: 2 nodes, 1 failed, 1 unable to run after a failure."
    )
    first = told["findings"][0]
    assert (first["cause"], first["nodes"], first["sentence"]) == (
        "node.failed",
        ["A"],
        "Node A failed, t.dag.dagman.out says; the nodes log, which would say more, is missing"
        " (t.dag.nodes.log).",
    )
    assert first["evidence"][0]["text"] == "A: Job proc (7.0.0) failed with status 3"
    assert "A log is missing" in told["findings"][-1]["sentence"]
    _, out = explain(capsys, "t.dag", "A")
    assert out.startswith("The state of node A of t.dag is not known.\n\n1. Node A failed, t.dag.")
    _, out = explain(capsys, "t.dag", "B")
    assert "failed" not in out


def test_the_nodes_log_is_missing_while_the_dag_runs(
    logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    say_failed(logs)
    logs.say("Node B job proc (8.0.0) failed with status 1.")
    logs.log.unlink()
    _, out = explain(capsys, "t.dag", "--json")
    (failed, *_) = json.loads(out)["findings"]
    assert failed["sentence"].startswith("1 node failed, t.dag.dagman.out says;")
    assert [each["text"] for each in failed["evidence"]] == [
        "A: job failed with status 3", "B: job failed with status 1",
    ]  # fmt: skip
    _, out = explain(capsys, "t.dag", "A")
    assert "Node A failed, perhaps not for good" in out


def test_no_node_failed_and_the_nodes_log_is_missing(
    logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.counts(2, 2, 0, 0, 0, 0, 0, 0, 0)
    logs.say("ERROR: disk full")
    logs.end(1)
    logs.log.unlink()
    _, out = explain(capsys, "t.dag", "--json")
    first = json.loads(out)["findings"][0]
    assert first["sentence"] == "condor_dagman ended with exit code 1, and no node failed."
    assert first["evidence"][0]["lines"] == ["ERROR: disk full"]
