"""Completion in a real bash: what it offers where."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.waiting import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
COMPLETIONS = ROOT / "share/bash-completion/completions"

# $1 is the command; the last of the words is the one to complete.
SCRIPT = """\
source "$0"
command=$1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
"_$command"
printf '%s\\n' "${COMPREPLY[@]}"
"""

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("my.dag", "with blank.dag", "notes.txt", "my.dag.rescue001"):
        (tmp_path / name).write_text("")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "inner.dag").write_text("")
    (tmp_path / "save_files").mkdir()
    (tmp_path / "save_files" / "half").write_text("")
    return tmp_path


def offered(place: Path, *words: str) -> list[str]:
    """What is offered for the last of `words`, a command line."""
    done = subprocess.run(
        ["bash", "--norc", "-u", "-c", SCRIPT, str(COMPLETIONS / words[0]), *words],
        cwd=place,
        env={"PATH": f"{place}/bin:/usr/bin:/bin", "MY_VARIABLE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    assert not done.stderr
    return sorted(filter(None, done.stdout.splitlines()))


DAGS = ["deeper", "my.dag", "save_files", "with blank.dag"]


@pytest.mark.parametrize("command", ["condor_submit_dag", "condor_dagman", "condor_dag_checker"])
def test_dag_files_are_offered(place: Path, command: str) -> None:
    assert offered(place, command, "") == DAGS
    assert offered(place, command, "m") == ["my.dag"]
    assert offered(place, command, "deeper/") == ["deeper/inner.dag"]
    assert offered(place, command, "nosuch") == []


def test_any_file_is_offered_where_there_is_no_dag_file(place: Path) -> None:
    assert offered(place, "condor_submit_dag", "not") == ["notes.txt"]


def test_options_are_spelled_as_stock_spells_them_whatever_was_typed(place: Path) -> None:
    for typed in ("-maxj", "-MAXJ", "-MaxJ"):
        assert offered(place, "condor_submit_dag", typed) == ["-MaxJobs"]
    assert offered(place, "condor_submit_dag", "-max") == [
        "-MaxHold", "-MaxIdle", "-MaxJobs", "-MaxPost", "-MaxPre",
    ]  # fmt: skip
    assert offered(place, "condor_dag_checker", "-checks") == ["-CheckScripts", "-CheckSubDags"]
    assert "-Dag" in offered(place, "condor_dagman", "-da")
    assert "-Append" not in offered(place, "condor_dagman", "-")


def test_no_option_is_offered_behind_a_dag_file_of_condor_submit_dag(place: Path) -> None:
    assert offered(place, "condor_submit_dag", "my.dag", "-") == []
    assert offered(place, "condor_submit_dag", "my.dag", "") == DAGS
    assert offered(place, "condor_dag_checker", "my.dag", "-j") == ["-json", "-JoinNodes"] or (
        offered(place, "condor_dag_checker", "my.dag", "-j") == ["-JoinNodes", "-json"]
    )


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("-Notification", ""), ["always", "complete", "error", "never"]),
        (("-notif", "n"), ["never"]),  # abbreviated
        (("-maxjobs", ""), []),  # a number
        (("-m", ""), []),  # -MaxHold, as in stock
        (("-autor", ""), ["0", "1"]),
        (("-outfile_dir", ""), ["deeper", "save_files"]),
        (("-RescueFile", ""), ["deeper", "my.dag.rescue001", "save_files"]),
        (("-load_save", "ha"), ["half"]),
        (("-config", "not"), ["notes.txt"]),
        (("-include_env", "MY_"), ["MY_VARIABLE"]),
        (("-maxjobs", "5", "m"), ["my.dag"]),
        (("-force", "m"), ["my.dag"]),
        (("-f", "m"), ["my.dag"]),
        (("-nosuch", "m"), ["my.dag"]),
    ],
)
def test_arguments_of_options(place: Path, words: tuple[str, ...], values: list[str]) -> None:
    assert offered(place, "condor_submit_dag", *words) == values


def test_the_commands_of_condor_pydagman(place: Path) -> None:
    commands = offered(place, "condor_pydagman", "")
    assert {"pool", "draw", "flatten"} <= set(commands)
    assert offered(place, "condor_pydagman", "pool", "st") == ["start", "status", "stop"]
    assert offered(place, "condor_pydagman", "pool", "start", "--s") == ["--slots"]
    assert offered(place, "condor_pydagman", "pool", "start", "--slots", "") == []
    assert offered(place, "condor_pydagman", "pool", "start", "--dir", "d") == ["deeper"]
    assert offered(place, "condor_pydagman", "draw", "m") == ["my.dag"]
    assert offered(place, "condor_pydagman", "draw", "--direction", "") == ["LR", "TB"]
    assert offered(place, "condor_pydagman", "draw", "my.dag", "--no") == ["--no-status"]
    assert "condor_pydagman" not in offered(place, "condor_pydagman", "pool", "run", "ech")
    assert "echo" in offered(place, "condor_pydagman", "pool", "run", "ech")


NAMES = """\
#!/bin/sh
[ "$1 $2 $3" = "steer names my.dag" ] || exit 1
printf '%s\\n' align_1 align_2 'odd$name' | grep "^$4"
"""


def test_nodes_of_a_dag_that_runs(place: Path) -> None:
    """DAGMan names them; a program that answers as it does is on the path here."""
    program = place / "bin" / "condor_pydagman"
    program.parent.mkdir()
    program.write_text(NAMES)
    program.chmod(0o755)
    steer = ("condor_pydagman", "steer")
    assert offered(place, *steer, "cancel", "m") == ["my.dag"]
    assert offered(place, *steer, "cancel", "my.dag", "al") == ["align_1", "align_2"]
    assert offered(place, *steer, "rerun", "--descendants", "my.dag", "align_1", "o") == [
        r"odd\$name"
    ]
    assert offered(place, *steer, "cancel", "other.dag", "") == []
    assert offered(place, *steer, "halt", "m") == ["my.dag"]
