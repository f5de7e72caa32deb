"""-Dot and -SetupOnly run nothing, and touch nothing of another run."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.daemon import no_run_modes
from condor_pydagman.daemon.initialize import Settings
from tests.unit.daemon.starts import KNOBS, Place, Schedd


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(monkeypatch, tmp_path, Schedd({}))


def draw(place: Place) -> int:
    out = place.out()
    code = no_run_modes.draw(Settings(place.options("-Dot"), KNOBS, KNOBS), out)
    out.flush()
    return code


def test_dot_draws_the_dag_and_takes_no_lock(place: Place) -> None:
    place.dag("JOB A a.sub\nJOB B a.sub DONE\nPARENT A CHILD B\nDOT t.dot OVERWRITE\n")
    assert draw(place) == 0
    assert '"A" -> "B"' in Path("t.dot").read_text()
    assert not Path("t.dag.lock").exists()
    assert not Path("t.dag.nodes.log").exists()


def test_dot_without_a_dot_command_says_so(place: Place) -> None:
    assert draw(place) == 0
    assert "Unable to write .dot file, no DOT filename specified" in place.said()


def test_setup_only_submits_nothing_and_leaves_no_lock_file(place: Place) -> None:
    run = place.prepare("-SetupOnly")
    assert no_run_modes.set_up(run) == 0
    run.out.flush()
    assert "Exiting after DAG setup (-SetupOnly)." in place.said()
    assert "Submitting" not in place.said()
    assert not Path("t.dag.lock").exists()


def test_setup_only_reads_an_old_log(place: Place) -> None:
    place.release_lock(place.prepare())
    Path("t.dag.nodes.log").write_text(
        "000 (007.000.000) 2026-11-21 11:56:29 Job submitted from host: <127.0.0.1:9618>\n"
        "    DAG Node: A\n...\n"
    )
    run = place.prepare("-SetupOnly")
    assert run.recovering
    assert no_run_modes.set_up(run) == 0
    run.out.flush()
    assert "ULOG_SUBMIT for HTCondor Node A (7.0.0)" in place.said()
    assert Path("t.dag.lock").exists()
