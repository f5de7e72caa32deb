"""What earlier versions have left on disk and in the queue is read and continued by this one."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.feature_table import RECORDS
from condor_pydagman.vocabulary import CORE_RECORDS
from tests.installation import CHECKOUT
from tests.old_runs.readers import expectations
from tests.old_runs.runs import all_runs, json_text, lay_out, text_of

RUNS = all_runs()
NEWER_RECORDS = frozenset(
    {"CONFIG", "BUNDLED", "UNBUNDLED", "TASK_FAILED", "HOLD_ENDED", "LATE", "DEFERRED"}
    | {"LIMITS_APPLIED", "DAG_STEERED"}
)  # that no kept version has written
# Modules whose `main` a process of 9c2d7cb starts by name, in a new process.
STARTED_MODULES = (
    "condor_pydagman.cli.pydagman",  # the page's server
    "condor_pydagman.monitor.notifier",  # DAGMan, for NOTIFY
    "condor_pydagman.monitor.subscription",  # DAGMan, for a client of its socket
    "condor_pydagman.transfer.data_node",  # the job of a DATA node, where no command is installed
    "condor_pydagman.transfer.placement_ad",  # the worker of a DATA node
    "condor_pydagman.web.queue_answers",  # the page's server
)
# Files that it starts by their path, with an interpreter that finds no packages.
STARTED_FILES = ("pool/step_down.py", "transfer/child_supervisor.py")
# Modules that `python -m` runs, each with words that change nothing.
RUN_AS_PROGRAMS = {
    "condor_pydagman.cli.dagman": "-version",
    "condor_pydagman.cli.pydagman": "--help",
}
COMMANDS = {
    "condor_dag_checker": "-help",
    "condor_dagman": "-version",
    "condor_pydagman": "transfer --help",
    "condor_submit_dag": "-help",
}


def name_of(kept: Path) -> str:
    return f"{kept.parent.name}/{kept.name}"


@pytest.mark.parametrize("kept", RUNS, ids=name_of)
def test_a_run_is_read_and_continued(kept: Path) -> None:
    expected = json.loads((kept / "expected.json").read_text())
    assert json_text(expectations(kept)).splitlines() == json_text(expected).splitlines()


def test_the_runs_have_every_journal_record() -> None:
    logs = "".join(path.read_text() for kept in RUNS for path in kept.glob("t.dag.nodes.log"))
    found = set(re.findall('DAGManNote = "([A-Z_]+)"', logs)) - {"PLACEMENT"}
    assert found == (CORE_RECORDS | RECORDS) - NEWER_RECORDS


def test_no_path_or_name_of_the_machine_is_kept() -> None:
    for kept in RUNS:
        for path in kept.rglob("*"):
            text = path.read_text(errors="replace") if path.is_file() else ""
            assert str(CHECKOUT) not in text, path
            assert os.path.expanduser("~/") not in text, path


@pytest.mark.parametrize("module", STARTED_MODULES)
def test_a_module_that_is_started_by_its_name_has_a_main(module: str) -> None:
    assert callable(importlib.import_module(module).main)


@pytest.mark.parametrize("file", STARTED_FILES)
def test_a_file_that_is_started_by_its_path_runs_without_packages(file: str) -> None:
    path = CHECKOUT / "condor_pydagman" / file
    program = f"import runpy; runpy.run_path({str(path)!r}, run_name='loaded')"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)


@pytest.mark.parametrize("module", RUN_AS_PROGRAMS)
def test_a_module_is_run_as_a_program(module: str) -> None:
    words = [sys.executable, "-m", module, RUN_AS_PROGRAMS[module]]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_of_a_queued_job_can_be_run(command: str) -> None:
    done = run(command, *COMMANDS[command].split())
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout


def run(command: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of ours, without a pool."""
    return subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts" / command), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "CONDOR_CONFIG": os.devnull},
    )


WITH_WORKERS = [kept for kept in RUNS if kept.name == "data"]


@pytest.mark.parametrize("kept", WITH_WORKERS, ids=name_of)
def test_a_worker_in_the_queue_carries_out_its_order(kept: Path, work_directory: Path) -> None:
    lay_out(kept, work_directory)
    ads = json.loads(text_of(kept / "queue.json", work_directory))
    (ad,) = [one for one in ads if one.get("DAGNodeName") == "second"]
    words = shlex.split(ad["Arguments"])
    assert (Path(ad["Cmd"]).name, words[:2]) == ("condor_pydagman", ["transfer", "--order"])
    # No worker is there any more that waits for a turn, or has one.
    assert len(list(work_directory.glob("shared/turn.*"))) == 2
    done = run("condor_pydagman", *words)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert (work_directory / "e").read_text() == "some text\n"
    assert json.loads(Path(words[2]).read_text()) == {"version": 1, "exit_code": 0}
    assert not list(work_directory.glob("shared/turn.w.*"))
    log = (work_directory / "t.dag.nodes.log").read_text()
    assert re.search(r'DAGManNote = "PLACEMENT".* "second"', log)


@pytest.mark.parametrize("kept", WITH_WORKERS, ids=name_of)
def test_a_worker_that_is_started_again_ends_as_it_did(kept: Path, work_directory: Path) -> None:
    lay_out(kept, work_directory)
    order = work_directory / "t.dag.placements" / "bad.order"
    assert run("condor_pydagman", "transfer", "--order", str(order)).returncode == 12
    words = [sys.executable, "-m", "condor_pydagman.transfer.data_node", str(order)]
    assert subprocess.run(words, check=False, cwd=CHECKOUT).returncode == 12
