"""The first lines of `.dagman.out`, and the knobs of a run."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import htcondor2
import pytest

from condor_pydagman import __version__
from condor_pydagman.adapters import knobs, outlog
from condor_pydagman.config import Config
from condor_pydagman.daemon import initialize
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine import FORM


@pytest.fixture(autouse=True)
def dagman_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("_CONDOR_DAGMAN_LOG", "t.dag.dagman.out")
    monkeypatch.delenv("_CONDOR_DAGMAN_CONFIG_FILE", raising=False)
    return work_directory


def said() -> str:
    return Path("t.dag.dagman.out").read_text()


def test_the_log_is_where_the_environment_says(dagman_directory: Path) -> None:
    """The banner is in it at once: pegasus-monitord gives up on an empty file within a second."""
    out = initialize.open_log()
    assert (
        out.path == str(dagman_directory / "t.dag.dagman.out") == os.environ["_CONDOR_DAGMAN_LOG"]
    )
    assert f"PID = {os.getpid()}" in said()
    assert "** Log last touched time unavailable" in said()


def test_a_dagman_started_by_hand_has_a_log_of_its_own(
    dagman_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("_CONDOR_DAGMAN_LOG")
    assert outlog.log_path() == str(dagman_directory / outlog.DEFAULT_LOG)


def test_a_log_that_was_there_says_when_it_was_written() -> None:
    Path("t.dag.dagman.out").write_text("before\n")
    initialize.open_log()
    assert said().startswith("before\n")
    assert "** Log last touched " in said()
    assert "unavailable" not in said()


@pytest.mark.parametrize("wanted", [True, False, None])
def test_the_command_line_goes_before_the_knobs(wanted: bool | None) -> None:
    options = DagmanOptions(always_run_post=wanted, suppress_notification=wanted)
    config = Config(always_run_post=True, suppress_notification=False)
    found = initialize.with_options(config, options)
    assert found.always_run_post is (True if wanted is None else wanted)
    assert found.suppress_notification is bool(wanted)


@pytest.fixture
def loaded_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that knobs were read from."""
    files: list[str] = []

    def load(file: str) -> Config:
        files.append(file)
        return Config(max_jobs_submitted=len(files), max_pre_scripts=1, verbosity=4)

    monkeypatch.setattr(knobs, "load", load)
    monkeypatch.setattr(knobs, "set_subsystem", lambda name: None)
    monkeypatch.setattr(knobs, "lookup", lambda name: None)
    return files


def test_knobs_are_read_with_and_without_the_config_file_of_the_dag(
    loaded_files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_CONDOR_DAGMAN_CONFIG_FILE", "t.config")
    out = initialize.open_log()
    settings = initialize.configure(DagmanOptions(), out)
    out.flush()
    assert loaded_files == ["", "t.config"]
    assert settings.admin.max_jobs_submitted == 1
    assert "Using DAGMan config file: t.config" in said()
    assert "DAGMAN_MAX_JOBS_SUBMITTED setting: " in said()
    for knob in ("DAGMAN_MAX_JOBS_SUBMITTED", "DAGMAN_MAX_PRE_SCRIPTS"):
        assert f" {knob} = 1, set in " in said()


@pytest.mark.parametrize(("debug", "level"), [(None, 4), (6, 6), (-1, 0)])
@pytest.mark.usefixtures("loaded_files")
def test_verbosity(debug: int | None, level: int) -> None:
    out = initialize.open_log()
    initialize.configure(DagmanOptions(debug=debug), out)
    assert out.verbosity == level


def test_the_log_says_which_versions_dagman_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initialize, "schedd_version", lambda: "$CondorVersion: 23.9.6 2026 $")
    out = initialize.open_log()
    initialize.configure(DagmanOptions(), out)
    out.flush()
    bindings = htcondor2.version().split()[1]
    python = platform.python_version()
    met = f"condor_pydagman {__version__} ({FORM}), Python {python}, bindings {bindings}"
    assert f"{met}, schedd 23.9.6\n" in said()
    assert "Warning: DAGMan has not been tested with an HTCondor before 24.12\n" in said()
