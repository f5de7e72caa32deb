"""The lines that open and close a run, as monitors look for them."""

from __future__ import annotations

import re

from condor_pydagman.config import Config, knobs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.records import banner
from tests import make

PROCESS = banner.Process(
    "/usr/bin/condor_dagman",
    "$CondorVersion: 25.14.1 2026-10-16 $",
    "$CondorPlatform: X86_64-Debian_ $",
    pid=24770,
    user_id=1001,
)


def test_start() -> None:
    lines = banner.start_lines(PROCESS)
    assert lines[0] == lines[-2] == "*" * 54
    assert lines[-1] == "Daemon Log is logging: D_ALWAYS D_ERROR D_STATUS"
    assert lines[1:-2] == [
        "** condor_dagman (CONDOR_DAGMAN) STARTING UP",
        "** /usr/bin/condor_dagman",
        "** SubsystemInfo: name=DAGMAN type=DAGMAN(9) class=CLIENT(2)",
        "** Configuration: subsystem:DAGMAN local:<NONE> class:CLIENT",
        "** $CondorVersion: 25.14.1 2026-10-16 $",
        "** $CondorPlatform: X86_64-Debian_ $",
        "** PID = 24770 RealUID = 1001",
        "** Log last touched time unavailable (No such file or directory)",
    ]


def test_start_of_a_later_run() -> None:
    process = PROCESS._replace(config_source="/etc/condor", last_touched="11/21 09:24:07")
    lines = banner.start_lines(process)
    assert "** Log last touched time 11/21 09:24:07" in lines
    assert lines[-2] == "Using config source: /etc/condor"


def test_monitors_find_pid_and_version() -> None:
    text = "\n".join(banner.start_lines(PROCESS))
    assert re.search(r"^\*\* PID = (\d+)\b", text, re.MULTILINE)
    assert re.search(r"^\*\* \$CondorVersion: ((\d+\.\d+)\.\d+)", text, re.MULTILINE)


def test_every_knob_has_its_line() -> None:
    lines = banner.setting_lines(Config(use_strict=2))
    assert len(lines) == len([knob for knob in knobs() if knob.label])
    assert "DAGMAN_USE_STRICT setting: 2" in lines
    assert "DAGMAN_USE_JOIN_NODES setting: True" in lines
    assert "DAGMAN_INHERIT_ATTRS setting: " in lines


def test_arguments() -> None:
    assert banner.argument_lines(["condor_dagman", "-Dag", "a b"]) == [
        'argv[0] == "condor_dagman"',
        'argv[1] == "-Dag"',
        'argv[2] == "a b"',
    ]


def test_workflow() -> None:
    lines = banner.workflow_lines(
        batch_id="1.0",
        batch_name="t.dag+1",
        accounting_group="",
        accounting_group_user="u",
        nodes_log="/d/./t.dag.nodes.log",
    )
    assert lines == [
        "Workflow batch-id: <1.0>",
        "Workflow batch-name: <t.dag+1>",
        "Workflow accounting_group: <>",
        "Workflow accounting_group_user: <u>",
        "Default node log file is: </d/./t.dag.nodes.log>",
    ]


def test_run_by_hand_there_is_no_batch() -> None:
    lines = banner.workflow_lines(
        batch_id="", batch_name="", accounting_group="", accounting_group_user="", nodes_log="/d/n"
    )
    assert lines == ["Default node log file is: </d/n>"]


def test_throttles() -> None:
    assert banner.throttle_lines(Throttles(idle=1000, pre=20, hold=21, post=22, submits=100)) == [
        "Setting DAGMan throttles:",
        "\tMaximum Idle Jobs-------------: 1000",
        "\tMaximum Pre Scripts-----------: 20",
        "\tMaximum Hold Scripts----------: 21",
        "\tMaximum Post Scripts----------: 22",
        "\tMaximum Submitted Nodes-------: 0",
        "\tMaximum Submits Per Interval--: 100",
    ]


def test_files() -> None:
    assert banner.file_lines("t.dag.lock", ["t.dag"]) == [
        "DAG Lockfile will be written to t.dag.lock",
        "DAG Input file is t.dag",
        "Parsing 1 dagfiles",
    ]
    assert "DAG Input files are a b" in banner.file_lines("a.lock", ["a", "b"])


def test_the_last_line_has_the_exit_code() -> None:
    assert banner.exit_line(12, 3) == (
        "**** condor_dagman (condor_DAGMAN) pid 12 EXITING WITH STATUS 3"
    )


def test_categories() -> None:
    made = make.dag("""
        A B C
        CATEGORY A b
        CATEGORY B b
        CATEGORY C S+a
        MAXJOBS b 2
        MAXJOBS ä 0
    """)
    assert list(banner.category_lines(made)) == [
        "CHECK CATEGORY S+a 1 -1",
        "CHECK CATEGORY b 2 2",
        "CHECK CATEGORY \u00e4 0 0",
    ]
