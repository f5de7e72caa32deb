"""condor_pydagman nodes: the nodes of a DAG as a list."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.cli.autoformat import AutoFormat
from condor_pydagman.report.node_list import FIELDS
from tests import locks
from tests.dag_logs import BEGIN, DagLogs
from tests.schemas import check
from tools.schemas import files

# What condor_q -jobads FILE -af:LETTERS A B C L N of HTCondor 25.14.1 prints of two jobs.
ROWS = [["x", 1.5, True, ["a", "b"], None], ['a "b" c', 100000000.0, False, [], 3]]
IDS = ("7.0", "12.0")
BY_CONDOR_Q = {
    "": 'x 1.5 true { "a","b" } undefined\na "b" c 100000000.0 false {  } 3\n',
    "j": '7.0 x 1.5 true { "a","b" } undefined\n12.0 a "b" c 100000000.0 false {  } 3\n',
    "l": 'A = x B = 1.5 C = true L = { "a","b" } N = undefined\n'
    'A = a "b" c B = 100000000.0 C = false L = {  } N = 3\n',
    "V": '"x" 1.5 true { "a","b" } undefined\n"a \\"b\\" c" 100000000.0 false {  } 3\n',
    "r": '"x" 1.5 true { "a","b" } undefined\n"a \\"b\\" c" 100000000.0 false {  } 3\n',
    ",": 'x, 1.5, true, { "a","b" }, undefined\na "b" c, 100000000.0, false, {  }, 3\n',
    "t": 'x\t1.5\ttrue\t{ "a","b" }\tundefined\na "b" c\t100000000.0\tfalse\t{  }\t3\n',
    "n": 'x\n 1.5\n true\n { "a","b" }\n undefined\na "b" c\n 100000000.0\n false\n {  }\n 3\n',
    "g": '\nx1.5true{ "a","b" }undefined\n\na "b" c100000000.0false{  }3\n',
    "lrng": '\nA = "x"\nB = 1.5\nC = true\nL = { "a","b" }\nN = undefined\n'
    '\nA = "a \\"b\\" c"\nB = 100000000.0\nC = false\nL = {  }\nN = 3\n',
    "jl": 'ID = 7.0 A = x B = 1.5 C = true L = { "a","b" } N = undefined\n'
    'ID = 12.0 A = a "b" c B = 100000000.0 C = false L = {  } N = 3\n',
    ",t": 'x,\t1.5,\ttrue,\t{ "a","b" },\tundefined\na "b" c,\t100000000.0,\tfalse,\t{  },\t3\n',
    "tn": 'x\n\t1.5\n\ttrue\n\t{ "a","b" }\n\tundefined\n'
    'a "b" c\n\t100000000.0\n\tfalse\n\t{  }\n\t3\n',
}


@pytest.mark.parametrize("letters", BY_CONDOR_Q)
def test_letters_mean_what_they_mean_to_condor_q(letters: str) -> None:
    form = AutoFormat(letters, list("ABCLN"))
    rows = [[job, *row] if "j" in letters else row for job, row in zip(IDS, ROWS)]
    assert "".join(f"{line}\n" for line in form.lines(lambda: rows)) == BY_CONDOR_Q[letters]


Said = tuple[int, str, str]
Words = tuple[str, ...]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def of(*words: str) -> Said:
        try:
            code = pydagman.main(["nodes", "t.dag", *words])
        except SystemExit as end:
            code = int(str(end.code))
        return (code, *capsys.readouterr())

    return of


@pytest.fixture(autouse=True)
def logs(work_directory: Path) -> DagLogs:
    """A has failed, B is held, C waits, D was done before."""
    text = "JOB A a.sub\nJOB B b.sub\nJOB C c.sub\nJOB D d.sub DONE\nPARENT A B CHILD C\n"
    (work_directory / "t.dag").write_text(f"{text}CATEGORY B few\n")
    made = DagLogs(work_directory).start()
    for cluster, node in enumerate("AB", 7):
        made.submit(node, cluster)
        made.execute(cluster)
    made.now += 5
    made.terminate(7, value=3)
    made.hold(8, reason="no such file")
    return made


def test_the_table(said: Callable[..., Said]) -> None:
    code, out, err = said()
    assert (code, err) == (0, "")
    assert [line.split(maxsplit=5) for line in out.splitlines()] == [
        ["node", "state", "attempts", "job", "value", "reason"],
        ["A", "failed", "1", "7.0", "3", "exit code 3"],
        ["B", "held", "1", "8.0", "-", "no such file"],
        ["C", "futile", "0", "-", "-", "-"],
        ["D", "done", "0", "-", "-", "-"],
    ]
    assert len({line.index(word) for line, word in zip(out.splitlines(), ("state", "failed"))}) == 1


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("-state", "failed,held"), "AB"),
        (("-state", "FUTILE , Done"), "CD"),
        (("-state", "pre script,POST script"), ""),
        (("B", "[CD]"), "BCD"),
        (("*", "-state", "held"), "B"),
        (("x*",), ""),
    ],
)
def test_which(said: Callable[..., Said], words: Words, names: str) -> None:
    assert said(*words, "-af", "node") == (0, "".join(f"{name}\n" for name in names), "")


def test_autoformat(said: Callable[..., Said], logs: DagLogs) -> None:
    assert said("-af:jlV", "Node", "CATEGORY", "hosts", "-state", "held")[1] == (
        'ID = "8.0" node = "B" category = "few" hosts = { "slot1@one" }\n'
    )
    assert said("--AutoFormat:h,", "node", "since", "kind", "--state", "held")[1] == (
        f"node, since       , kind\nB   , {BEGIN}, JOB\n"
    )
    logs.say("Running PRE script of Node C...")
    assert said("C", "-af", "attempts", "job")[1] == "1 undefined\n"


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("E",), 1, "t.dag has no node E; it has 4 nodes"),
        (("b",), 1, "did you mean B?"),
        (("-state", "hold"), 2, "there is no state hold; did you mean held?"),
        (("-state", "x"), 2, "there is no state x; choose one of waiting, ready, pre, idle"),
        (("-af", "foo"), 2, "there is no attribute foo; choose one of node, state"),
        (("-af", "node", "t.dag"), 2, "no attribute (the DAG comes before -af) t.dag"),
        (("-af:q", "node"), 2, "-af has no letter q; those of condor_q are jlhVr,tng"),
        (("-af:lh", "node"), 2, "-af takes only one of the letters l and h"),
    ],
)
def test_what_is_wrong(said: Callable[..., Said], words: Words, code: int, why: str) -> None:
    found, out, err = said(*words)
    assert (found, out) == (code, "")
    assert why in err


def test_json(said: Callable[..., Said]) -> None:
    rows = [json.loads(line) for line in said("--json")[1].splitlines()]
    for row in rows:
        check("nodes", row)
        assert set(row) == {"v", *FIELDS}
    assert [(row["node"], row["state"], row["status"], row["running_s"]) for row in rows] == [
        ("A", "failed", "ERROR", 5.0),
        ("B", "held", "SUBMITTED", 5.0),
        ("C", "futile", "FUTILE", None),
        ("D", "done", "DONE", None),
    ]
    some = json.loads(said("A", "-json", "-af", "Job", "value")[1])
    check("nodes", some)
    assert some == {"v": 1, "node": "A", "job": "7.0", "value": 3}
    schema: dict[str, Any] = json.loads(files()["condor_pydagman/schemas/nodes.json"])
    assert set(schema["properties"]) == {"v", *FIELDS}


def test_a_dag_that_nobody_has_submitted(
    work_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (work_directory / "u.dag").write_text("JOB A a.sub\nJOB B b.sub DONE\n")
    assert pydagman.main(["nodes", "u.dag", "-af", "node", "state"]) == 0
    assert capsys.readouterr().out == "A ready\nB done\n"


def test_a_dag_whose_file_is_gone(said: Callable[..., Said]) -> None:
    Path("t.dag").unlink()
    code, out, err = said("-af", "node", "state", "kind")
    assert (code, out) == (0, "A failed undefined\nB held undefined\n")
    assert "states of nodes may be missing" in err


def test_a_hold_script_that_is_put_off(
    said: Callable[..., Said], logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.say("Running HOLD script of Node B...")
    logs.say("Deferring HOLD script of node B for 60 seconds (exit status was 4)...")

    def explained() -> str:
        pydagman.main(["explain", "t.dag", "B"])
        return " ".join(capsys.readouterr().out.split())

    with locks.held(Path("t.dag.lock"), "7\n"):
        assert "The HOLD script of node B asked to be put off, and runs again" in explained()
        assert said("B", "-af", "reason")[1] == "no such file\n"
        logs.say("Running HOLD script of Node B...")
        assert "put off" not in explained()
        for seconds in (90, 60, 70):
            logs.say(
                f"Deferring HOLD script of node B for {seconds} seconds (exit status was 4)..."
            )
        assert "3 scripts of node B asked to be put off; the first runs again" in explained()
        logs.say("Running HOLD script of Node B...")
        assert "2 scripts of node B asked to be put off" in explained()
