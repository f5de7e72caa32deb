"""`condor_pydagman knobs`: what it shows, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.adapters.config_file import refuse_foreign
from condor_pydagman.cli.knobs_command import Row, table
from condor_pydagman.config import Kind, Knob
from condor_pydagman.errors import ConfigError
from tests.opened import Opened

POOL = "DAGMAN_MAX_PRE_SCRIPTS = 3\nDAGMAN.DAGMAN_MAX_JOBS_IDLE = 90\nTOOL.DAGMAN_VERBOSITY = 5\n"


def knobs(
    tmp_path: Path, *words: str, pool: str = POOL, **environment: str
) -> subprocess.CompletedProcess[str]:
    (tmp_path / "condor_config").write_text(pool)
    clean = {k: v for k, v in os.environ.items() if not k.upper().startswith("_CONDOR_")}
    return subprocess.run(
        [sys.executable, "-m", "condor_pydagman.cli.pydagman", "knobs", *words],
        cwd=tmp_path,
        env={
            **clean,
            "CONDOR_CONFIG": str(tmp_path / "condor_config"),
            "PYTHONPATH": str(Path(__file__).resolve().parents[3]),
            "COLUMNS": "80",
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_knobs_that_are_set_are_shown(tmp_path: Path) -> None:
    done = knobs(tmp_path, _CONDOR_DAGMAN_ALWAYS_RUN_POST="True")
    config = tmp_path / "condor_config"
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(maxsplit=2) for line in heads] == [
        ["KNOB", "VALUE", "FROM"],
        ["DAGMAN_MAX_JOBS_IDLE", "90", f"configuration ({config}, line 2)"],
        ["DAGMAN_MAX_PRE_SCRIPTS", "3", f"configuration ({config}, line 1)"],
        ["DAGMAN_ALWAYS_RUN_POST", "True", "environment (_CONDOR_DAGMAN_ALWAYS_RUN_POST)"],
    ]
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_set(tmp_path: Path) -> None:
    done = knobs(tmp_path, pool="")
    assert done.stdout == "No knob of DAGMan is set; -all shows the defaults\n"
    assert "DAGMAN_USE_STRICT" in knobs(tmp_path, "-all", pool="").stdout


def test_a_default_that_limits_a_config_file_is_shown(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("DAGMAN_MAX_JOBS_IDLE = 5000\n")
    (row,) = json.loads(knobs(tmp_path, "-config", "c", "-json", pool="").stdout)
    assert (row["name"], row["value"], row["from"]) == ("DAGMAN_MAX_JOBS_IDLE", 1000, "default")
    assert row["notes"][-1].endswith("sets 5000; the administrator's 1000 is the limit.")


def test_of_a_dag_and_its_config_file(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text("JOB A a.sub\nCONFIG c\n")
    (tmp_path / "c").write_text("DAGMAN_MAX_JOBS_SUBMITTED = 40*2\nDAGMAN_MAX_PRE_SCRIPTS = 9\n")
    rows = json.loads(knobs(tmp_path, "-dag", "x.dag", "-json").stdout)
    found = {row["name"]: row for row in rows}
    nodes, pre = found["DAGMAN_MAX_JOBS_SUBMITTED"], found["DAGMAN_MAX_PRE_SCRIPTS"]
    assert (nodes["value"], nodes["from"]) == (80, "CONFIG file")
    assert nodes["where"] == f"{tmp_path}/c, line 1"
    assert (pre["value"], pre["from"]) == (3, "configuration")
    assert "the administrator's 3 is the limit" in pre["notes"][-1]
    for words in (["--config", "c"], ["x.dag"], ["--dag=x.dag"], ["-DAG", "x.dag"]):
        assert json.loads(knobs(tmp_path, *words, "-json").stdout) == rows
    (one,) = json.loads(knobs(tmp_path, "x.dag", "MAX_PRE", "-json").stdout)
    assert one == pre


def test_what_others_can_write_is_not_read(tmp_path: Path) -> None:
    """To read it could run their programs as whoever looks."""
    (tmp_path / "mine").write_text(f"include : {tmp_path}/theirs\n")
    (tmp_path / "theirs").write_text("include command : touch ran\n")
    (tmp_path / "theirs").chmod(0o666)
    for name in ("theirs", "mine"):
        done = knobs(tmp_path, "-config", name)
        assert done.returncode == 1
        assert "theirs is not read, since others than you can write it" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_what_others_can_write_opens_nothing(tmp_path: Path) -> None:
    """What it includes would be opened, which its author can see; a FIFO would never end."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "mine").write_text(f"include : {tmp_path}/theirs\n")
    (tmp_path / "theirs").write_text(f"include : {tmp_path}/seen\ninclude : {tmp_path}/fifo\n")
    (tmp_path / "seen").touch()
    (tmp_path / "theirs").chmod(0o666)
    with Opened(tmp_path) as opened:
        for name in ("theirs", "mine", "fifo"):
            assert knobs(tmp_path, "-config", name).returncode == 1
    assert "seen" not in opened.names


def test_a_link_to_a_file_of_another_user(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    file.touch()
    if os.geteuid() == 0:
        os.chown(file, 12345, 12345)
    link.symlink_to(file if os.geteuid() == 0 else "/etc/passwd")
    with pytest.raises(ConfigError, match="others than you"):
        refuse_foreign(str(link))


def test_a_knob_that_later_versions_lack_is_told_of_if_set(tmp_path: Path) -> None:
    done = knobs(tmp_path, pool="DAGMAN_COPY_TO_SPOOL = true\n")
    assert "DAGMan has no knob DAGMAN_COPY_TO_SPOOL" in done.stderr


def test_values_that_are_wrong(tmp_path: Path) -> None:
    text = "DAGMAN_USE_STRICT = much\nDAGMAN_AUTO_RESCUE = perhaps\nDAGMAN_VERBOSITY = 9\n"
    done = knobs(tmp_path, pool=text + "DAGMAN_MAX_JOB_IDLE = 5\n")
    assert done.returncode == 1
    assert "DAGMAN_USE_STRICT = much" in done.stderr
    assert "DAGMAN_AUTO_RESCUE = perhaps" in done.stderr, "all mistakes are shown"
    assert "no knob DAGMAN_MAX_JOB_IDLE; did you mean DAGMAN_MAX_JOBS_IDLE?" in done.stderr
    assert "out of range; 7 is taken instead" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("job_table", ["DAGMAN_PRINT_JOB_TABLE_INTERVAL"]),
        ("*_EXE", ["DAGMAN_CONDOR_SUBMIT_EXE", "DAGMAN_CONDOR_RM_EXE"]),
        (
            "PYDAGMAN_*",
            [
                "PYDAGMAN_SLEEP_AFTER",
                "PYDAGMAN_MAX_STARTS",
                "PYDAGMAN_PRE_SCRIPTS_PER_SECOND",
                "PYDAGMAN_ASK_HISTORY",
                "PYDAGMAN_MAX_NODES_IN_CLUSTER",
                "PYDAGMAN_NOTIFY",
                "PYDAGMAN_SYSLOG_COMMANDS",
                "PYDAGMAN_CHECK_DAG",
                "PYDAGMAN_PLACEMENT_WAYS",
                "PYDAGMAN_PLACEMENT_MODULES",
                "PYDAGMAN_PLACEMENT_DIR",
                "PYDAGMAN_PLACEMENT_MAX",
                "PYDAGMAN_PLACEMENT_MAX_PER_HOST",
                "PYDAGMAN_PLACEMENT_MAX_PER_PROTOCOL",
                "PYDAGMAN_PLACEMENT_LIMITS",
                "PYDAGMAN_PLACEMENT_STREAMS",
                "PYDAGMAN_PLACEMENT_MAX_RETRIES",
                "PYDAGMAN_PLACEMENT_FIRST_DELAY",
                "PYDAGMAN_PLACEMENT_MAX_DELAY",
                "PYDAGMAN_PLACEMENT_CONNECT_TIMEOUT",
                "PYDAGMAN_PLACEMENT_STALL_TIMEOUT",
                "PYDAGMAN_PLACEMENT_MODULE_TIMEOUT",
                "PYDAGMAN_PLACEMENT_HOST_REST",
                "PYDAGMAN_PLACEMENT_CACHE_DIR",
                "PYDAGMAN_PLACEMENT_CACHE_SIZE",
                "PYDAGMAN_PLACEMENT_CAPACITY",
                "PYDAGMAN_PLACEMENT_FSYNC",
                "PYDAGMAN_SITES_INTERVAL",
                "PYDAGMAN_SITES_DIR",
                "PYDAGMAN_SHARED_LIMITS",
                "PYDAGMAN_APPLIED_LIMITS",
                "PYDAGMAN_LIMITS_DIR",
                "PYDAGMAN_MAX_STARTS_PER_MINUTE",
                "PYDAGMAN_ALL_PRE_SCRIPTS_PER_SECOND",
                "PYDAGMAN_MAX_BUNDLE_SIZE",
                "PYDAGMAN_MAX_GROWN_NODES",
                "PYDAGMAN_MAX_PIECE_MB",
            ],
        ),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, names: list[str]) -> None:
    rows = json.loads(knobs(tmp_path, "-json", pattern).stdout)
    assert [row["name"] for row in rows] == names


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["DAGMAN_MAX_JOB_IDLE"], 1, "did you mean DAGMAN_MAX_JOBS_IDLE?"),
        (["-config", "nosuch"], 1, "Can't read DAGMan config file"),
        (["-dag", "nosuch"], 1, "nosuch"),
        (["-config", "a", "-dag", "b"], 2, "not allowed with"),
        (["-nosuch"], 2, "unknown option -nosuch"),
        (["-jsn"], 2, "did you mean -json?"),
        (["-config", "a", "b.dag"], 2, "not allowed with"),
        (["nosuch.dag"], 1, "does not exist: nosuch.dag"),
        (["IDLE", "SUBMITTED"], 2, "one pattern only"),
    ],
)
def test_bad_command_lines(tmp_path: Path, words: list[str], code: int, says: str) -> None:
    done = knobs(tmp_path, *words)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_is_aligned_and_wrapped() -> None:
    rows = [
        Row(Knob("LONG_NAME", Kind.INTEGER, 1, "word " * 30 + "end.", 0), 5, "default"),
        Row(Knob("A", Kind.TEXT, "", "Text."), "x" * 40, "environment", "_CONDOR_A"),
    ]
    lines = list(table(rows, 60))
    assert lines[0] == "KNOB       VALUE             FROM"
    assert lines[1] == "LONG_NAME  5                 default"
    assert all(len(line) <= 60 for line in lines)
    assert f"    = {'x' * 40}" in lines
