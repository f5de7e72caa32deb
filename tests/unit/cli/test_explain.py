"""condor_pydagman explain: the text, the JSON, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters.request_client import SteeringAnswer
from condor_pydagman.cli import pydagman
from condor_pydagman.cli.explain import text_of
from condor_pydagman.explain.explanation import Explanation, Moment
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.names import logged_name
from tests.dag_logs import DagLogs
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


def test_a_node_that_was_added_while_the_dag_runs(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(dag: str, command: str, *, prefix: str) -> SteeringAnswer:
        assert (dag, command) == (str(Path("t.dag").absolute()), "names")
        found = [name for name in ("A", "B") if name.startswith(prefix)]
        return SteeringAnswer(1, (), 0, {"names": found})

    monkeypatch.setattr("condor_pydagman.explain.explained.steer", names)
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
