"""condor_pydagman dry-run --commands: what each node would run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman

pytestmark = pytest.mark.usefixtures("work_directory")

SUBMIT = """\
executable = a.sh
arguments = "$(JOB) $(RETRY) '$(v:none)'"
input = $(JOB).in
output = $(JOB).$(Cluster).$(Process)
error = /dev/null
queue
"""


def blocks(capsys: pytest.CaptureFixture[str], dag: str, **files: str) -> str:
    """What is said of the commands, without indentation."""
    Path("t.dag").write_text(dag)
    for name, text in {"a": SUBMIT, **files}.items():
        Path(f"{name}.sub").write_text(text)
    pydagman.main(["dry-run", "--commands", "t.dag"])
    said = capsys.readouterr().out.partition("Commands:\n")[2].partition("Nothing was")[0]
    return "\n".join(line[4:] for line in said.splitlines())


def of_json(capsys: pytest.CaptureFixture[str]) -> Any:
    pydagman.main(["dry-run", "--commands", "--json", "t.dag"])
    return json.loads(capsys.readouterr().out)["commands"]


def test_nodes_of_splices_with_directories(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d").mkdir()
    Path("d/s.dag").write_text("JOB B {\nexecutable = b\ninitialdir = $(JOB)\n}\n")
    Path("d/c.sub").write_text("executable = c\n")
    said = blocks(capsys, "SPLICE S s.dag DIR d\nJOB C c.sub DIR d\n")
    assert said == "C, in d\n    c\nS+B, in d\n    b  # initialdir S+B"


def test_what_only_the_pool_knows_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    submit = """\
executable = b
arguments = $(Cluster) $INT(ClusterId) $$(Memory) $RANDOM_CHOICE(1,2) $random_integer(1,9) $(r)
r = $RANDOM_CHOICE(3,4) $ENV(HOME)
"""
    assert blocks(capsys, "JOB B b.sub\n", b=submit) == (
        "B\n    b '$(Cluster)' '$(Cluster)' '$$(Memory)' '$RANDOM_CHOICE(1,2)'"
        " '$random_integer(1,9)' '$RANDOM_CHOICE(3,4)' '$ENV(HOME)'"
    )


def test_macros_that_htcondor_sets(capsys: pytest.CaptureFixture[str]) -> None:
    submit = "executable = b\narguments = $(YEAR:1999) $(day) $(Cluster:5) $(Row:4) $(none:3)\n"
    said = blocks(capsys, 'JOB B b.sub\nVARS B Process="seven"\n', b=f"{submit}output=$(process)")
    assert said == "B\n    b '$(YEAR)' '$(DAY)' '$(Cluster)' 0 3 > seven"


def test_names_are_shown_as_codes(capsys: pytest.CaptureFixture[str]) -> None:
    said = blocks(capsys, "JOB A b.sub\n", b="executable = b\narguments = \x1b[2J\n")
    assert "\x1b" not in said
    assert "\\x1b[2J" in said


def test_nodes_stand_in_the_order_in_which_they_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "FINAL End a.sub\nJOB C a.sub\nJOB B a.sub\nJOB A a.sub\nSERVICE S a.sub\n"
    blocks(capsys, f"{lines}PARENT A B CHILD C\nPRIORITY A 5\n")
    assert [one["node"] for one in of_json(capsys)] == ["S", "A", "B", "C", "End"]
    pydagman.main(["dry-run", "t.dag"])
    assert "\nFirst: A, B\n" in capsys.readouterr().out


def test_a_script_for_held_jobs_stands_before_that_behind_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = blocks(capsys, "JOB A a.sub\nSCRIPT POST A post\nSCRIPT HOLD A hold\n")
    assert [line.split()[0] for line in said.splitlines()[-2:]] == ["HOLD:", "POST:"]
