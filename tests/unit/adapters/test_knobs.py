"""Where the values of knobs come from and which one wins.

The bindings keep the configuration for the whole process, so each test has one of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.adapters import knobs
from tests.waiting import LIMIT_S

SHOW = """\
import sys
from condor_pydagman.adapters import config_file, knobs
config_file.READING_CPU_S = 1
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


CIRCLE = "AAA = $(BBB)\nBBB = $(AAA)x\nDAGMAN_MAX_JOBS_IDLE = $(AAA)\n"


def test_macros_that_refer_to_each_other(tmp_path: Path) -> None:
    """HTCondor's library would expand them for ever."""
    assert "macros refer to each other in a circle" in load(tmp_path, dag_config=CIRCLE).stderr


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
    text += "DAGMAN_AUTO_RESCUE = False\nSOME_OTHER_KNOB = x = y\n"
    done = load(tmp_path, text)
    assert done.stdout.split() == ["4", "20", "False", "a", "&&", "b"], done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\nDAGMAN_MAX_JOBS_IDLE = many\n", ["IDLE = many", "dag.config, line 2", "whole number"]),
        ("DAGMAN_MAX_JOBS_IDLE = -1\n", ["IDLE = -1", "dag.config, line 1", "0 or more"]),
        ("DAGMAN_MAX_JOBS_IDLE = 1/0\n", ["DAGMAN_MAX_JOBS_IDLE = 1/0", "whole number"]),
        ('DAGMAN_MAX_JOBS_IDLE = "5"\n', ['DAGMAN_MAX_JOBS_IDLE = "5"', "whole number"]),
        ("DAGMAN_MAX_JOBS_IDLE = undefined\n", ["IDLE = undefined", "whole number"]),
        ("DAGMAN_AUTO_RESCUE = maybe\n", ["DAGMAN_AUTO_RESCUE = maybe", "True or False"]),
        ("\nDAGMAN_MAX_JOBS_IDLE 5\n", ["dag.config, line 2: not understood", "IDLE 5"]),
        ("= 5\n", ["dag.config, line 1", "Illegal Identifier"]),
        ("include : nosuch\n", ["can't open file nosuch"]),
        ("use ROLE:Nosuch\n", ["use ROLE:Nosuch", "dag.config, line 1"]),
        ("if true\nA=1\n", ["dag.config, line 2", "endif"]),
        ("error : not today\n", ["dag.config, line 1: not today"]),
        ("A = \0\n", ["dag.config", "NUL"]),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, text: str, words: list[str]) -> None:
    done = load(tmp_path, text)
    assert done.returncode == 1
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("DAGMAN_MAX_JOBS_IDLE = 5*10\n", "50"),
        ("DAGMAN_MAX_JOBS_IDLE = $(FOO)\nFOO = 6\n", "6"),
        ("FOO = 8\n", "8"),
        ("DAGMAN_MAX_JOBS_IDLE = $(DAGMAN_MAX_JOBS_IDLE)1\n", "71"),
        ("DAGMAN_MAX_JOBS_IDLE = $(NOPE)\n", "1000"),
        ("DAGMAN_MAX_JOBS_IDLE =\n", "1000"),
        ("if defined FOO\nDAGMAN_MAX_JOBS_IDLE = 9\nelse\nDAGMAN_MAX_JOBS_IDLE = 3\nendif\n", "9"),
        ("include : {inner}\n", "44"),
        ("include ifexist : /no/such\nuse ROLE:Personal\n", "7"),
        ("DAGMAN_MAX_JOBS_IDLE : 5\n", "5"),
        ("TOOL.DAGMAN_MAX_JOBS_IDLE = 4\n", "4"),
        ("SOMETHING @=end\nDAGMAN_MAX_JOBS_IDLE = 1\n@end\n", "7"),
    ],
)
def test_the_language_of_a_config_file(tmp_path: Path, text: str, idle: str) -> None:
    """What stock's condor_dagman made of the same lines."""
    (tmp_path / "inner").write_text("DAGMAN_MAX_JOBS_IDLE = 44\n")
    pool = "FOO = 7\nDAGMAN_MAX_JOBS_IDLE = $(FOO)\n"
    done = load(tmp_path, text.format(inner=tmp_path / "inner"), pool)
    assert done.stdout.split()[:1] == [idle], done.stderr


def test_a_warning_of_a_config_file_is_shown(tmp_path: Path) -> None:
    done = load(tmp_path, "warning : mind the gap\n")
    assert "mind the gap" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("pool", "environment", "words"),
    [
        ("\nDAGMAN_AUTO_RESCUE = perhaps", {}, "set in {dir}/condor_config, line 2"),
        ("", {"DAGMAN_AUTO_RESCUE": "perhaps"}, "the environment, as _CONDOR_DAGMAN_AUTO_RESCUE"),
        ("LOCAL_CONFIG_FILE = {dir}/more", {}, "set in {dir}/more, line 3"),
        ("LOCAL_CONFIG_DIR = {dir}/d", {}, "set in {dir}/d/50-ours, line 1"),
    ],
)
def test_where_a_wrong_value_was_set(
    tmp_path: Path, pool: str, environment: dict[str, str], words: str
) -> None:
    (tmp_path / "more").write_text("A = 1\n\ndagman_auto_rescue=perhaps\n")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "50-ours").write_text("DAGMAN_AUTO_RESCUE @=x\nperhaps\n@x\n")
    done = load(tmp_path, None, pool.format(dir=tmp_path), **environment)
    assert done.returncode == 1
    assert words.format(dir=tmp_path) in done.stderr


BE = """\
from condor_pydagman.adapters import knobs
print(knobs.load().max_jobs_idle)
knobs.set_subsystem("DAGMAN")
print(knobs.load().max_jobs_idle)
"""


def test_what_is_set_for_one_program_alone(tmp_path: Path) -> None:
    """Stock's condor_submit_dag is TOOL, its condor_dagman is DAGMAN."""
    text = "TOOL.DAGMAN_MAX_JOBS_IDLE = 4\nDAGMAN.DAGMAN_MAX_JOBS_IDLE = 5\n"
    (tmp_path / "condor_config").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", BE],
        env={**os.environ, "CONDOR_CONFIG": str(tmp_path / "condor_config")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["4", "5"]


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


def test_a_mistake_leaves_no_copy_of_the_configuration_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may hold secrets, and the bindings end the process that reads it."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    done = load(tmp_path, "this is no assignment\n")
    assert "there is a mistake in the DAG's CONFIG file" in done.stderr
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize(("place", "what"), [("pipe", "a pipe"), ("/dev/zero", "a device")])
def test_what_has_no_end_in_place_of_a_config_file_is_not_waited_for(
    tmp_path: Path, place: str, what: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(tmp_path / place)],
        env={**os.environ, "CONDOR_CONFIG": "ONLY_ENV"},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert f"is not a file, but {what}" in done.stderr


@pytest.mark.parametrize(
    ("text", "meant"),
    [("True", True), (" yes", True), ("1", True), ("F", False), ("no", False), ("auto", None)],
)
def test_switches(text: str, meant: bool | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "lookup", {"SWITCH": text}.get)
    assert knobs.truth("SWITCH") is meant
    assert knobs.truth("ANOTHER") is None


UNCOVERED = """\
import sys
from condor_pydagman.adapters import knobs

NAMES = ("DAGMAN_MAX_JOBS_IDLE", "DAGMAN_AUTO_RESCUE", "DAGMAN_INSERT_SUB_FILE", "FOO", "BAR")

def show():
    print(*(knobs.lookup(name) for name in NAMES))

knobs.load(sys.argv[1])
show()
try:
    with knobs.without_config_file():
        show()
        knobs.load(sys.argv[2])
        show()
        raise KeyError
except KeyError:
    show()
with knobs.without_config_file():
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
        "7 true None None None",
        "9 true x None 2",
        "8 False None 1 None",
        "7 true None None None",
    ]


READ_DIRECTLY = re.compile(r"\bparam(\.get\(|\[(?!OWN_MACRO))(?!OWN_MACRO)(?!.*\] = )")


def test_no_value_is_read_by_its_own_name() -> None:
    """Bindings before 25.1 end the process then, if the value is of the wrong type."""
    package = Path(knobs.__file__).parents[1]
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if READ_DIRECTLY.search(line) and "del " not in line
    ]
    assert found == [
        "adapters/config_file.py: value: Any = expanded(name) if _WORD.fullmatch(name) else"
        " htcondor2.param.get(name)",
        # a process of its own
        "pool/choice.py: _ASK_CONFIGURATION ="
        " \"import htcondor2; print(htcondor2.param.get('RELEASE_DIR', ''))\"",
    ]
