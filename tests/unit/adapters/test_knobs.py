"""Where the values of knobs come from and which one wins.

The bindings keep the configuration for the whole process, so each test has one of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SHOW = """\
import sys
from condor_pydagman.adapters import knobs
from condor_pydagman.errors import PydagmanError
try:
    config = knobs.load(sys.argv[1])
except PydagmanError as error:
    sys.exit(str(error))
print(config.max_jobs_idle, config.max_pre_scripts, config.auto_rescue, config.on_exit_remove)
"""


def load(
    tmp_path: Path, dag_config: str | None = None, pool: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    (tmp_path / "condor_config").write_text(pool + "\n")
    name = ""
    if dag_config is not None:
        name = str(tmp_path / "dag.config")
        (tmp_path / "dag.config").write_text(dag_config)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("_CONDOR_")}
    variables = {f"_CONDOR_{name}": value for name, value in environment.items()}
    return subprocess.run(
        [sys.executable, "-c", SHOW, name],
        env={**clean, "CONDOR_CONFIG": str(tmp_path / "condor_config"), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_defaults(tmp_path: Path) -> None:
    assert load(tmp_path).stdout.split()[:3] == ["1000", "20", "True"]


def test_later_layers_win(tmp_path: Path) -> None:
    pool = "DAGMAN_MAX_JOBS_IDLE = 1\nDAGMAN_MAX_PRE_SCRIPTS = 1\nDAGMAN_AUTO_RESCUE = False"
    done = load(
        tmp_path,
        "DAGMAN_MAX_JOBS_IDLE = 3\n",
        pool,
        DAGMAN_MAX_JOBS_IDLE="2",
        DAGMAN_MAX_PRE_SCRIPTS="2",
    )
    assert done.stdout.split()[:3] == ["3", "2", "False"], done.stderr


def test_a_config_file_with_everything_in_it(tmp_path: Path) -> None:
    text = "# a comment\n\n  dagman_max_jobs_idle=4  \nDAGMAN_ON_EXIT_REMOVE = a \\\n  && b\n"
    text += "DAGMAN_AUTO_RESCUE = no\nSOME_OTHER_KNOB = x = y\n"
    done = load(tmp_path, text)
    assert done.stdout.split() == ["4", "20", "False", "a", "&&", "b"], done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("DAGMAN_MAX_JOBS_IDLE = many\n", ["DAGMAN_MAX_JOBS_IDLE = many", "expected an integer"]),
        ("DAGMAN_MAX_JOBS_IDLE = -1\n", ["DAGMAN_MAX_JOBS_IDLE = -1", "must be from 0"]),
        ("DAGMAN_AUTO_RESCUE = maybe\n", ["DAGMAN_AUTO_RESCUE = maybe", "True or False"]),
        ("\nDAGMAN_MAX_JOBS_IDLE 5\n", ["dag.config:2", "expected NAME = value", "IDLE 5"]),
        ("= 5\n", ["dag.config:1", "expected NAME = value"]),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    done = load(tmp_path, text)
    assert done.returncode == 1
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr


def test_a_config_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "dag.config").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(tmp_path / "nosuch")],
        env={**os.environ, "CONDOR_CONFIG": "ONLY_ENV"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Can't read DAGMan config file" in done.stderr
    assert str(tmp_path / "nosuch") in done.stderr


UNCOVERED = """\
import sys
from condor_pydagman.adapters import knobs

NAMES = ("DAGMAN_MAX_JOBS_IDLE", "DAGMAN_AUTO_RESCUE", "DAGMAN_INSERT_SUB_FILE", "FOO", "BAR")

def show():
    print(*(knobs.lookup(name) for name in NAMES))

knobs.load(sys.argv[1])
show()
try:
    with knobs.uncovered():
        show()
        knobs.load(sys.argv[2])
        show()
        raise KeyError
except KeyError:
    show()
with knobs.uncovered():
    show()
"""


def test_another_dags_configuration_and_ours_again(tmp_path: Path) -> None:
    (tmp_path / "condor_config").write_text("DAGMAN_MAX_JOBS_IDLE = 7\n")
    ours, other = tmp_path / "ours", tmp_path / "other"
    ours.write_text("dagman_max_jobs_idle = 8\nDAGMAN_AUTO_RESCUE = False\nFOO = 1\n")
    other.write_text("DAGMAN_MAX_JOBS_IDLE = 9\nDAGMAN_INSERT_SUB_FILE = x\nBAR = 1\nBAR = 2\n")
    done = subprocess.run(
        [sys.executable, "-c", UNCOVERED, str(ours), str(other)],
        env={**os.environ, "CONDOR_CONFIG": str(tmp_path / "condor_config")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "8 False None 1 None",
        "7 True None None None",
        "9 True x None 2",
        "8 False None 1 None",
        "7 True None None None",
    ]
