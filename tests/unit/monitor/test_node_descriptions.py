"""What submit descriptions of nodes say: whether their jobs are submitted on hold."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from condor_pydagman.monitor import node_descriptions
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.node_descriptions import SubmittedOnHold
from condor_pydagman.monitor.plan import read_plan
from condor_pydagman.monitor.watched_dag import WatchedDag
from tests import locks
from tests.dag_logs import BEGIN, DagLogs


def on_hold(directory: Path, submit: str, *, lines: str = "", proc: int = 0) -> bool:
    (directory / "a.sub").write_text(submit)
    (directory / "t.dag").write_text(f"JOB A a.sub\n{lines}")
    found = find_dag(str(directory / "t.dag"), ask=False)
    return SubmittedOnHold(found, read_plan(found).dag)(0, proc, time.time())


@pytest.mark.parametrize("command", ["hold = true", "  Hold=1", "hold = True\nhold = $(hold)"])
def test_jobs_that_are_submitted_on_hold(tmp_path: Path, command: str) -> None:
    expected = "$(" not in command  # which refers to itself: nobody knows
    assert on_hold(tmp_path, f"executable = x\n{command}\nqueue\n") is expected


@pytest.mark.parametrize(
    "text",
    ["executable = x\n", "# hold = true\n", "hold = false\n", "hold = true\nhold = false\n",
     "threshold = true\n", "if defined X\nhold = true\nendif\n", "hold = $(UNKNOWN)\n",
     "include : other.sub\nhold = true\n"],
)  # fmt: skip
def test_jobs_that_are_not_as_far_as_can_be_told(tmp_path: Path, text: str) -> None:
    assert not on_hold(tmp_path, f"{text}queue\n")


def test_a_macro_decides(tmp_path: Path) -> None:
    text = "executable = x\nhold = $(H)\nqueue 2\n"
    assert on_hold(tmp_path, text, lines='VARS A H="true"\n')
    assert not on_hold(tmp_path, text, lines='VARS A H="false"\n')


def test_a_default_counts_for_no_macro_that_is_set(tmp_path: Path) -> None:
    assert not on_hold(tmp_path, "hold = $(H:true)\nqueue H in (false)\n")
    assert not on_hold(tmp_path, "hold = $(DAG_STATUS:true)\nqueue\n")
    assert on_hold(tmp_path, "hold = $(H:true)\nqueue\n")


def test_a_description_in_the_dag_file_and_one_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text("JOB A {\nhold = true\n}\nJOB B gone.sub\n")
    found = find_dag(str(tmp_path / "t.dag"), ask=False)
    is_on_hold = SubmittedOnHold(found, read_plan(found).dag)
    assert [is_on_hold(node, 0, time.time()) for node in range(2)] == [True, False]


def test_a_file_that_was_changed_later_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("hold = true\nqueue\n")
    (tmp_path / "t.dag").write_text("JOB A a.sub\n")
    found = find_dag(str(tmp_path / "t.dag"), ask=False)
    assert not SubmittedOnHold(found, read_plan(found).dag)(0, 0, BEGIN)


def test_a_file_is_read_once_for_all_its_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.sub").write_text("hold = true\nqueue 9\n")
    (tmp_path / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\n")
    found = find_dag(str(tmp_path / "t.dag"), ask=False)
    is_on_hold = SubmittedOnHold(found, read_plan(found).dag)
    assert is_on_hold(0, 0, time.time())
    monkeypatch.setattr(node_descriptions, "read_text", None)
    assert all(is_on_hold(node, proc, time.time()) for node in range(2) for proc in range(9))


def test_a_job_is_shown_held_until_it_is_released(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("executable = x\nhold = true\nqueue\n")
    os.utime(tmp_path / "a.sub", (BEGIN, BEGIN))
    (tmp_path / "t.dag").write_text("JOB A a.sub\n")
    logs = DagLogs(tmp_path).start()
    with locks.held(tmp_path / "t.dag.lock", "7\n"):
        dag = WatchedDag(find_dag(str(tmp_path / "t.dag"), ask=False))
        logs.submit("A", 7)
        seen = dag.look()
        assert (seen.counts["held"], seen.counts["idle"]) == (1, 0)
        assert "submitted on hold" in seen.notices[0].sentence
        logs.event(13, "Job was released.\n\tvia condor_release\n", "007.000.000")
        seen = dag.look()
    assert (seen.counts["held"], seen.counts["idle"], seen.notices) == (0, 1, ())
    (hold,) = dag.tally.run.nodes["A"].attempts[0].holds
    assert (hold.code, bool(hold.released)) == (15, True)
