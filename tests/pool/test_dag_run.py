"""`DagRun` on a real pool: the end of a run however it comes, commands to its job, notebooks."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pool.access_point import AccessPoint
from tests.pool.test_python_interface import example

SUBMIT = """\
executable = /bin/sh
arguments = "-c 'until test -e go; do sleep 0.1; done; echo no such sample >&2; exit $(code:0)'"
error = $(Cluster).err
universe = local
queue
"""
EVIL = "<script>alert(1)</script>"
DAG = f"""\
JOB A a.sub
JOB {EVIL} a.sub
JOB C a.sub
PARENT A CHILD C
VARS {EVIL} code="3"
"""
# What each program ends with: what it has seen.
TELL = "\nimport json; print(json.dumps(told))\n"
BEGIN = """\
import asyncio, os, signal
from condor_pydagman import DagRun, DagState, DagTimeout, PydagmanError, submit_dag
from condor_pydagman.adapters.files import living_holder
told = []
run = submit_dag("my.dag").run
by_file = DagRun("my.dag")
def is_at(state):
    return lambda status: status.state is state and status.counts
for one in run, by_file:
    told.append(one.wait(until=is_at(DagState.RUNNING)).state.name)
"""
HELD = """
run.hold("lunch")
for one in by_file, run:
    told.append(one.wait(until=is_at(DagState.HELD)).state.name)
    try:
        one.wait(0)
    except DagTimeout as error:
        told.append("lunch" in str(error))
told.append("has been held" in run._repr_mimebundle_()["text/html"])
by_file.release()
told.append(by_file.wait(until=is_at(DagState.RUNNING)).state.name)
os.kill(living_holder("my.dag.lock").pid, signal.SIGKILL)

async def both():
    names = [event.name async for event in run.events_async()]
    return names.count("dag.start"), (await by_file.wait_async()).exit_code

open("go", "w").close()
told += asyncio.run(both())
told.append(run.wait().exit_code)
"""
NOTEBOOK = """\
import json, sys
import nbformat
from nbclient import NotebookClient

cells = [nbformat.v4.new_code_cell(code) for code in json.load(open("cells.json"))]
client = NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300, kernel_name="python3")
updates = 0
process_message = client.process_message

def count(message, *others):
    global updates
    updates += message["msg_type"] == "update_display_data"
    return process_message(message, *others)

client.process_message = count
client.execute()
told = [updates, [[output.get("data") for output in cell.outputs] for cell in cells]]
"""


@pytest.fixture
def work(work: Path) -> Path:
    (work / "a.sub").write_text(SUBMIT)
    (work / "my.dag").write_text(DAG)
    return work


def told_by(access_point: AccessPoint, work: Path, program: str) -> list[Any]:
    done = access_point.run(sys.executable, "-c", program + TELL, cwd=work)
    told: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_run_that_is_held_killed_and_goes_on(access_point: AccessPoint, work: Path) -> None:
    told = told_by(access_point, work, BEGIN + HELD)
    assert told == [
        *("RUNNING", "RUNNING"),
        *("HELD", True, "HELD", True, True),
        *("RUNNING", 3, 1, 1),
    ]


def test_the_example_of_the_page(access_point: AccessPoint, work: Path) -> None:
    (work / "go").touch()
    done = access_point.run(sys.executable, "-c", example("needs a pool: a run"), cwd=work)
    lines = done.stdout.splitlines()
    assert "DagState.FAILED 1" in lines
    assert [line.split()[:2] for line in lines if line.startswith(("A ", EVIL))] == [
        ["A", "0"], [EVIL, "0"]
    ]  # fmt: skip
    assert (work / lines[-1]).exists()


def test_a_notebook(access_point: AccessPoint, work: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    more = ["open('go', 'w').close(); run.wait(300).state.name", "run", "run.report()"]
    (work / "cells.json").write_text(json.dumps([example("needs a notebook"), *more]))
    updates, cells = told_by(access_point, work, NOTEBOOK)
    (picture, live), (state,), (shown,), (report,) = cells
    assert updates
    assert picture["image/svg+xml"].startswith("<svg")
    assert "nodes, 1 edge" in picture["text/plain"]
    assert "my.dag" in live["text/plain"]
    assert state["text/plain"] == "'FAILED'"
    assert "exit code 3" in shown["text/html"]
    assert "no such sample" in shown["text/html"]
    for data in picture, live, report:
        assert "<script" not in data.get("text/html", "") + data.get("image/svg+xml", "")
