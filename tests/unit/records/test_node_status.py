"""Node status files, written, and read back as ads."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from condor_pydagman.engine.report import Deferrals, NodeReport, Report, Shown
from condor_pydagman.features.feeder.report import FeederReport
from condor_pydagman.graph.model import DONE, LEFT_OUT, USER_DONE, Dag
from condor_pydagman.records import node_status
from condor_pydagman.records.node_status import asctime, node_status_text
from condor_pydagman.records.node_status_ads import OUTCOME, node_status_ads
from condor_pydagman.vocabulary import DagStatus, NodeKind, NodeStatus
from tests.waiting import ending

NOW = 1795253067.9
LOCAL = (2026, 11, 21, 9, 24, 27, 5, 325, 0)
NEXT = (2026, 12, 1, 0, 0, 9, 1, 335, 0)


def small_dag() -> Dag:
    dag = Dag(files=["t.dag", 'q".dag'])
    dag.add_node("A", "n.sub", flags=DONE | USER_DONE)
    dag.add_node("B", "n.sub")
    dag.add_node("V", "n.sub", NodeKind.SERVICE)
    dag.finish()
    return dag


def node(number: int, name: str, status: NodeStatus, **more: object) -> NodeReport:
    plain = NodeReport(number, name, status, 0, 0, 0, 0, 0, False, "", "")
    return plain._replace(**more)  # type: ignore[arg-type]


def counts(**more: int) -> Report:
    zero = Report(2, 1, 0, 0, 0, 0, 0, 0, 0, 0, DagStatus.OK, False, 0, 0, 0, 0, 0, Deferrals())
    return zero._replace(**more)  # type: ignore[arg-type]


def text(
    report: Report, nodes: Iterable[NodeReport], final: bool = False, outcome: str = ""
) -> str:
    pieces = node_status_text(
        small_dag(), report, nodes, now=NOW, now_local=LOCAL, final=final, outcome=outcome
    )
    return "".join(pieces)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(DagStatus.RM, "removed"), (DagStatus.ABORT, "aborted"), (DagStatus.NODE_FAILED, "")],
)
def test_while_final_runs_the_file_says_what_came_before(status: DagStatus, outcome: str) -> None:
    found = text(counts()._replace(dag_status=status), [])
    assert f'DagStatus = 3; /* "STATUS_SUBMITTED ({outcome})" */' in found


def test_what_is_enough() -> None:
    enough = Shown("Enough", 'ENOUGH "x" 1; ENOUGH ALL_NODES 2')
    report = counts()._replace(shown=(enough, Shown("NodesNotNeeded", 3)))
    shown = text(report, [])
    assert '  Enough = "ENOUGH \\"x\\" 1; ENOUGH ALL_NODES 2";\n  NodesNotNeeded = 3;\n' in shown
    assert "Enough" not in text(counts()._replace(shown=(Shown("Enough", ""),)), [])


def test_a_brake_that_acts() -> None:
    report = counts()._replace(shown=(Shown("Brake", 'sick: "A"'),))
    assert '  Brake = "sick: \\"A\\"";\n' in text(report, [])
    assert "Brake" not in text(counts()._replace(shown=(Shown("Brake", ""),)), [])


def test_what_a_node_waits_for_is_told() -> None:
    nodes = [node(1, "B", NodeStatus.READY, details="retry 2 of 3 starts at 12:00:00")]
    assert 'StatusDetails = "retry 2 of 3 starts at 12:00:00";' in text(counts(), nodes)


def test_the_site_of_a_node_is_told_if_it_has_one() -> None:
    nodes = [node(0, "A", NodeStatus.DONE, site="north"), node(1, "B", NodeStatus.DONE)]
    shown = text(counts(), nodes)
    assert shown.count('  JobProcsHeld = 0;\n  Site = "north";\n]\n') == 1
    assert shown.count("Site") == 1


def test_whole_file_of_a_finished_dag() -> None:
    nodes = [
        node(0, "A", NodeStatus.DONE),
        node(1, "B", NodeStatus.DONE, retries_done=2),
        node(2, "V", NodeStatus.SUBMITTED),
    ]
    assert text(counts(done=2), nodes, final=True, outcome="success") == (
        "[\n"
        '  Type = "DagStatus";\n'
        "  DagFiles = {\n"
        '    "t.dag",\n'
        '    "q\\".dag"\n'
        "  };\n"
        '  Timestamp = 1795253067; /* "Sat Nov 21 09:24:27 2026" */\n'
        '  DagStatus = 5; /* "STATUS_DONE (success)" */\n'
        "  NodesTotal = 2;\n"
        "  NodesDone = 2;\n"
        "  NodesPre = 0;\n"
        "  NodesQueued = 0;\n"
        "  NodesPost = 0;\n"
        "  NodesReady = 0;\n"
        "  NodesUnready = 0;\n"
        "  NodesFutile = 0;\n"
        "  NodesFailed = 0;\n"
        "  JobProcsHeld = 0;\n"
        "  JobProcsIdle = 0; /* includes held */\n"
        "]\n"
        "[\n"
        '  Type = "NodeStatus";\n'
        '  Node = "A";\n'
        '  NodeStatus = 5; /* "STATUS_DONE" */\n'
        '  StatusDetails = "User defined as DONE";\n'
        "  RetryCount = 0;\n"
        "  JobProcsQueued = 0;\n"
        "  JobProcsHeld = 0;\n"
        "]\n"
        "[\n"
        '  Type = "NodeStatus";\n'
        '  Node = "B";\n'
        '  NodeStatus = 5; /* "STATUS_DONE" */\n'
        '  StatusDetails = "";\n'
        "  RetryCount = 2;\n"
        "  JobProcsQueued = 0;\n"
        "  JobProcsHeld = 0;\n"
        "]\n"
        "[\n"
        '  Type = "StatusEnd";\n'
        '  EndTime = 1795253067; /* "Sat Nov 21 09:24:27 2026" */\n'
        '  NextUpdate = 0; /* "none" */\n'
        "]\n"
    )


@pytest.mark.parametrize(
    ("final", "outcome", "state"),
    [
        (False, "", '3; /* "STATUS_SUBMITTED ()" */'),
        (False, "removed", '3; /* "STATUS_SUBMITTED (removed)" */'),
        (True, "held", '3; /* "STATUS_SUBMITTED (held)" */'),
        (True, "removed", '6; /* "STATUS_ERROR (removed)" */'),
        (True, "aborted", '6; /* "STATUS_ERROR (aborted)" */'),
        (True, "cycle", '6; /* "STATUS_ERROR (cycle)" */'),
        (True, "failed", '6; /* "STATUS_ERROR (failed)" */'),
    ],
)
def test_state_of_the_dag(final: bool, outcome: str, state: str) -> None:
    assert f"  DagStatus = {state}\n" in text(counts(), [], final, outcome)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("été", "\\303\\251t\\303\\251"),
        ("caf\udce9", "caf\\351"),
        ("\x01\x7f1", "\\001\\1771"),
        ("a\tb\vc", "a\\tb\\vc"),
        ('b\\s"q', 'b\\\\s\\"q'),
        ("a?'b", "a?'b"),
    ],
)
def test_names_are_written_as_by_stock_and_read_back(name: str, written: str) -> None:
    """Each byte that is not printable ASCII as an octal number (measured, 25.14.1)."""
    found = text(counts(), [node(0, name, NodeStatus.DONE)], False, "")
    assert f'  Node = "{written}";\n' in found
    assert [ad["Node"] for ad in node_status_ads(found) if "Node" in ad] == [name]


def test_a_node_that_is_left_out() -> None:
    dag = small_dag()
    dag.flags[0] |= DONE | LEFT_OUT
    pieces = node_status_text(
        dag, counts(), [node(0, "A", NodeStatus.DONE)], now=NOW, now_local=LOCAL
    )
    assert '  StatusDetails = "Left out by CHOOSE";\n' in "".join(pieces)


def test_next_update_is_told_while_running() -> None:
    pieces = node_status_text(
        small_dag(), counts(), [], now=NOW, now_local=LOCAL, next_update=NOW + 60, next_local=NEXT
    )
    assert "".join(pieces).endswith(
        '  NextUpdate = 1795253127; /* "Tue Dec  1 00:00:09 2026" */\n]\n'
    )


@pytest.mark.parametrize(
    ("report", "number", "name", "details"),
    [
        (node(1, "B", NodeStatus.SUBMITTED, procs_queued=2), 3, "SUBMITTED", "idle"),
        (node(1, "B", NodeStatus.SUBMITTED, proc_running=True), 3, "SUBMITTED", "not_idle"),
        (node(1, "B", NodeStatus.FUTILE), 7, "FUTILE", "Had an ancestor node fail"),
        (node(1, "B", NodeStatus.ERROR, error='said "no"'), 6, "ERROR", r"said \"no\""),
        (node(1, "B", NodeStatus.READY, waiting_parents=1), 0, "NOT_READY", ""),
        (node(1, "B", NodeStatus.READY), 1, "READY", ""),
        (node(1, "B", NodeStatus.PRERUN), 2, "PRERUN", ""),
    ],
)
def test_details_of_a_node(report: NodeReport, number: int, name: str, details: str) -> None:
    assert (
        f'  NodeStatus = {number}; /* "STATUS_{name}" */\n  StatusDetails = "{details}";\n'
    ) in text(counts(), [report])


@pytest.mark.parametrize("outcome", ["success", "failed", "aborted", "cycle", "removed"])
def test_every_end_shows_nodes_at_work_as_failed(outcome: str) -> None:
    report = counts(pre=1, queued=2, post=1, failed=3, procs_held=1, procs_idle=4)
    busy = node(1, "B", NodeStatus.SUBMITTED, procs_queued=2, procs_held=1, retries_done=1)
    shown = text(report, [busy], final=True, outcome=outcome)
    for line in ("NodesPre = 0", "NodesQueued = 0", "NodesPost = 0", "NodesFailed = 7"):
        assert f"  {line};\n" in shown
    assert "  JobProcsHeld = 0;\n  JobProcsIdle = 0; /* includes held */\n" in shown
    assert (
        '  NodeStatus = 6; /* "STATUS_ERROR" */\n'
        '  StatusDetails = "Was STATUS_SUBMITTED";\n'
        "  RetryCount = 1;\n  JobProcsQueued = 0;\n  JobProcsHeld = 0;\n"
    ) in shown


def test_a_held_dag_shows_nodes_as_they_are() -> None:
    busy = node(1, "B", NodeStatus.SUBMITTED, procs_queued=2)
    shown = text(counts(queued=1), [busy], final=True, outcome="held")
    assert "NodesQueued = 1;" in shown
    assert '"STATUS_SUBMITTED" */' in shown


def test_asctime_pads_the_day_with_a_blank() -> None:
    assert asctime((2026, 1, 5, 3, 4, 5, 0)) == "Mon Jan  5 03:04:05 2026"


def test_many_different_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of nodes in one state are kept, but not for ever; that must not show."""
    nodes = [
        node(number % 2, "AB"[number % 2], NodeStatus.ERROR, error=f"{number % 7}")
        for number in range(50)
    ]
    plain = text(counts(), nodes)
    assert re.findall(r'StatusDetails = "(\d)"', plain) == [str(n % 7) for n in range(50)]
    monkeypatch.setattr(node_status, "MAX_CACHED_TAILS", 2)
    assert text(counts(), nodes) == plain


def test_a_feeder() -> None:
    shown = Shown("Feeder", FeederReport("ended", 2, 1).text)
    report = counts()._replace(shown=(shown,))
    assert '  Feeder = "ended, 2 feedings, 1 node";\n' in text(report, [])


# Node status files read back, as ads.


TEXT = """[
  Type = "DagStatus";
  DagFiles = {
    "a }; b.dag",
    "c\\".dag"
  };
  Timestamp = 5; /* "Type = 3;" */
  DagStatus = 3; /* "STATUS_SUBMITTED (removed)" */
]
[
  Type = "NodeStatus";
  Node = "x; NodeStatus = 9;\\n\\\\";
  NodeStatus = 5; /* "STATUS_DONE" */
  RetryCount = -1;
  Odd = 3 + 4;
]
[ Type = "StatusEnd"; NextUpdate = 0; /* "none" */ ]
"""


def test_ads_with_their_values() -> None:
    head, node, end = node_status_ads(TEXT)
    assert head == {
        "Type": "DagStatus", "DagFiles": ("a }; b.dag", 'c".dag'), "Timestamp": 5,
        "DagStatus": 3, OUTCOME: "removed",
    }  # fmt: skip
    assert node == {
        "Type": "NodeStatus", "Node": "x; NodeStatus = 9;\n\\", "NodeStatus": 5, "RetryCount": -1,
    }  # fmt: skip
    assert end == {"Type": "StatusEnd", "NextUpdate": 0}


def test_nothing_is_made_of_other_text() -> None:
    assert list(node_status_ads("JOB A a.sub\n")) == []


def test_text_that_never_ends_a_string_takes_linear_time() -> None:
    with ending("a read in more than linear time"):
        assert list(node_status_ads('Node = "' + "\\" * 1_000_001)) == []
        assert list(node_status_ads("DagFiles = {" + '"a", ' * 200_000)) == []
