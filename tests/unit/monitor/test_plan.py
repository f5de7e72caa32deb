"""What a DAG says of its nodes, with the rescue file that its last run began with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.follower import Plan
from condor_pydagman.graph.model import DONE
from condor_pydagman.monitor import plan as plan_module
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import known_plan, read_dag, read_plan, read_small_plan
from tests.dag_logs import DagLogs

DAG = """\
JOB A a.sub
JOB B a.sub DONE
SUBDAG EXTERNAL C inner.dag
"""


def plan(directory: Path) -> Plan:
    return read_plan(find_dag(str(directory / "t.dag"), ask=False))


def done(directory: Path) -> set[str]:
    """The nodes that are done when the run begins."""
    dag = plan(directory).dag
    return {name for name, flags in zip(dag.names, dag.flags) if flags & DONE}


def test_what_a_dag_says(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG)
    assert list(plan(tmp_path).dag.names) == ["A", "B", "C"]
    assert done(tmp_path) == {"B"}
    assert not plan(tmp_path).is_unknown


def test_the_rescue_file_of_the_last_run(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG)
    (tmp_path / "t.dag.rescue001").write_text("DONE A\n")
    logs = DagLogs(tmp_path).start()
    assert done(tmp_path) == {"B"}
    logs.say("** x (CONDOR_DAGMAN) STARTING UP")
    logs.say("USING RESCUE DAG t.dag.rescue001")
    logs.say("MultiLogFiles: truncating log file x")
    assert done(tmp_path) == {"A", "B"}
    (tmp_path / "t.dag.rescue001").unlink()
    assert done(tmp_path) == {"B"}


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
    assert done(tmp_path) == {"B", *left_out}


def test_a_dag_that_can_t_be_read(tmp_path: Path) -> None:
    DagLogs(tmp_path)
    with pytest.raises(PydagmanError, match=r"t\.dag"):
        plan(tmp_path)
    assert known_plan(find_dag(str(tmp_path / "t.dag"), ask=False)).is_unknown
    (tmp_path / "t.dag").write_text("JOB A\n")
    with pytest.raises(PydagmanError, match="JOB"):
        plan(tmp_path)


def test_a_dag_that_is_too_big_to_be_read_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.dag").write_text(DAG)
    found = find_dag(str(tmp_path / "t.dag"), ask=False)
    assert not read_small_plan(found).is_unknown
    monkeypatch.setattr(plan_module, "MAX_SMALL_BYTES", 10)
    assert read_small_plan(found).is_unknown


def test_a_rescue_file_of_a_dag_that_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it names stands in the file beside it."""
    shutil.copytree(Path(__file__).parents[2] / "old_runs/runs/9c2d7cb/removed", tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    dag = read_dag(find_dag("t.dag", ask=False), "t.dag.rescue001")
    assert dag.flags[dag.ids["part-z"]] & DONE
