"""CACHE over many runs of a DAG, as its author sees it."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.pool.scenes import Scene, Stage

STAGE = Stage()
DAG = """\
JOB A step.sub
JOB B step.sub
JOB C step.sub
PARENT A CHILD B
VARS A seed="1"
VARS B seed="1"
VARS C seed="1"
CACHE ALL_NODES
#== step.sub
universe = scheduler
executable = step.sh
arguments = $(JOB) $(seed)
queue
#== step.sh
#!/bin/sh
echo "$1" >> ran
"""
CHANGED = "arguments in its submit description has changed"


def again(s: Scene, edit: Callable[[str], str] = str, file: str = "step.sub") -> list[str]:
    """The nodes that ran when the DAG was run again after a change of a file."""
    (s.work / file).write_text(edit((s.work / file).read_text()))
    for name in ("ran", "t.dag.dagman.out"):
        (s.work / name).unlink()
    (s.work / "ran").touch()
    s.submit_again("-f")
    assert s.ends() == 0, s.out()[-4000:]
    return sorted(s.text("ran").split())


@STAGE.scene
def only_what_makes_a_difference_runs_again(s: Scene) -> None:
    s.submit(DAG)
    assert s.ends() == 0, s.out()[-4000:]
    for number in range(2, 20):  # what an author writes differently, a run each
        _write_differently(s, number)
    assert again(s, lambda text: f"# the twentieth run\n\n{text}") == []
    assert again(s, lambda text: text.replace('A seed="1"', 'A seed="2"'), "t.dag") == ["A", "B"]
    assert f"CACHE: node A is to run: {CHANGED}" in s.out()
    assert "CACHE: node B is to run: its parent A has run" in s.out()
    (s.work / "step.sub").write_text(s.text("step.sub").replace("$(seed)", "$(seed) --quiet"))
    taken = s.run("condor_pydagman", "rescue", "t.dag", "--take", "--all")
    lines = [
        f"{name}: taken as it is, though {CHANGED}: its word 3 is --quiet now" for name in "ABC"
    ]
    assert taken.splitlines() == [*lines, "3 taken, 0 had not changed, 0 not taken"]
    assert again(s) == []
    me = s.run("id", "-un").strip()
    said = rf"node C is done already: its result was taken as it is by {me} on \d{{4}}-"
    assert re.search(said, s.out())
    assert f"its result was taken as it is by {me} on" in s.text("t.dag.nodes.log")
    assert f'"taken":"{me} on ' in s.text("t.dag.cache")


def _write_differently(s: Scene, number: int) -> None:
    """One of some changes that make no difference; the looks at them are quick, runs are not."""
    text = f"# {number}\n{s.text('step.sub')}"
    if number % 3 == 0:
        text = text.replace("queue", f"request_memory = {number}M\npriority = {number}\nqueue")
    (s.work / "step.sub").write_text(text)
    found = s.run("condor_pydagman", "dry-run", "t.dag")
    assert "CACHE: A B C: done already: nothing has changed since the last run" in found, found


test_cache = STAGE.tests()
