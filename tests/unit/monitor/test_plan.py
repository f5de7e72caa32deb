"""What a DAG says of its nodes, with the rescue file that its last run began with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.graph.model import DONE
from condor_pydagman.graph.parts import Tolerance
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import read_dag, read_plan
from condor_pydagman.trace.run_history import NodePlan
from tests.dag_logs import DagLogs

DAG = """\
JOB A a.sub
JOB B a.sub DONE
SUBDAG EXTERNAL C inner.dag
RETRY A 3
SCRIPT PRE A x
SCRIPT POST A x
PRE_SKIP A 5
"""


def plans(directory: Path) -> dict[str, NodePlan]:
    return read_plan(find_dag(str(directory / "t.dag"), ask=False)).nodes


def test_what_a_dag_says(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG)
    assert plans(tmp_path) == {
        "A": NodePlan(retries=3, has_pre=True, has_post=True, pre_skip=5),
        "B": NodePlan(done=True),
        "C": NodePlan(is_subdag=True),
    }


def test_which_failures_are_for_good(tmp_path: Path) -> None:
    lines = "JOB A a.sub\nRETRY A 3 UNLESS-EXIT 4\nABORT-DAG-ON A 2\nTOLERANCE A 50%\n"
    (tmp_path / "t.dag").write_text(lines)
    tolerance = Tolerance(50, percent=True)
    plan = NodePlan(retries=3, tolerance=tolerance, unless_exit=(4,), abort_on=2)
    assert plans(tmp_path) == {"A": plan}


def test_the_rescue_file_of_the_last_run(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG)
    (tmp_path / "t.dag.rescue001").write_text("DONE A\n")
    logs = DagLogs(tmp_path)
    logs.start()
    assert not plans(tmp_path)["A"].done
    logs.say("** x (CONDOR_DAGMAN) STARTING UP")
    logs.say("USING RESCUE DAG t.dag.rescue001")
    logs.say("MultiLogFiles: truncating log file x")
    assert plans(tmp_path)["A"].done
    (tmp_path / "t.dag.rescue001").unlink()
    assert not plans(tmp_path)["A"].done


@pytest.mark.parametrize(
    ("options", "left_out"),
    [("", ["A"]), ("-choose_from A", []), ("-choose_all", []), ("-choose_only A", ["C"])],
)
def test_what_is_left_out(tmp_path: Path, options: str, left_out: list[str]) -> None:
    lines = DAG + "PARENT A CHILD C\nPARENT B CHILD C\nCHOOSE FROM C\n"
    (tmp_path / "t.dag").write_text(lines)
    submitted = f'arguments = "-p 0 -f -l . -Dag t.dag {options}"\n'
    (tmp_path / "t.dag.condor.sub").write_text(submitted)
    DagLogs(tmp_path).start()
    assert [name for name, plan in plans(tmp_path).items() if plan.done and name != "B"] == left_out


def test_a_dag_that_can_t_be_read(tmp_path: Path) -> None:
    DagLogs(tmp_path)
    with pytest.raises(PydagmanError, match=r"t\.dag"):
        plans(tmp_path)
    (tmp_path / "t.dag").write_text("JOB A\n")
    with pytest.raises(PydagmanError, match="JOB"):
        plans(tmp_path)


def test_a_rescue_file_of_a_dag_that_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it names stands in the file beside it."""
    shutil.copytree(Path(__file__).parents[2] / "old_runs/runs/9c2d7cb/removed", tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    dag = read_dag(find_dag("t.dag", ask=False), "t.dag.rescue001")
    assert dag.flags[dag.ids["part-z"]] & DONE
