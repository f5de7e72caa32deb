"""What condor_dagman reads before it runs: DAG files and rescue file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.daemon import dag_input
from condor_pydagman.daemon.dag_input import CannotStart, read_dag
from condor_pydagman.dagman_job.options import parse_dagman
from condor_pydagman.graph.model import DONE, LEFT_OUT, Dag
from condor_pydagman.names import DagPaths

pytestmark = pytest.mark.usefixtures("work_directory")


def read(text: str, config: Config | None = None, words: Sequence[str] = ()) -> tuple[Dag, str]:
    """The DAG, and what `.dagman.out` says."""
    Path("x.dag").write_text(text)
    options = parse_dagman(["-Dag", "x.dag", *words])
    out = OutLog("x.dag.dagman.out", 3)
    dag, _ = read_dag(options, config or Config(), options.paths(), out)
    out.flush()
    return dag, Path("x.dag.dagman.out").read_text()


def test_a_valid_dag_is_read() -> None:
    Path("s.dag").write_text("JOB X x.sub\nTOLERANCE X 1\n")
    dag, said = read("JOB A a.sub\nSPLICE S s.dag\nWEAK PARENT A CHILD S\n")
    assert dag.names == ["A", "S+X"]
    assert "Dag contains 2 total nodes" in said


def test_remarks_are_logged() -> None:
    _, said = read("JOB A a.sub\nPRIORITY A 4x\nRETRY A 3 \\\n")
    assert "x.dag:2 '4x' is read as 4" in said
    assert "x.dag:3 The command is ignored: its last line ends in" in said


def test_a_rescue_file_marks_nodes_of_splices() -> None:
    Path("s.dag").write_text("JOB X x.sub\nJOB Y y.sub\n")
    Path("x.dag.rescue001").write_text("DONE S+X\n")
    dag, said = read("SPLICE S s.dag\n")
    assert [bool(flags & DONE) for flags in dag.flags] == [True, False]
    assert "USING RESCUE DAG x.dag.rescue001" in said


def test_part_of_the_dag_is_chosen() -> None:
    text = "JOB A a\nJOB B b\nJOB C c\nPARENT A CHILD B\nPARENT B CHILD C\n"
    Path("x.dag.rescue001").write_text("DONE A\nCHOOSE UNTIL B\n")
    dag, said = read(text)
    assert [dag.flags[node] & LEFT_OUT for node in range(3)] == [0, 0, LEFT_OUT]
    assert "1 nodes are left out: CHOOSE UNTIL B" in said
    dag, said = read(text, words=["-choose_from", "C", "-choose_from", "B, C"])
    assert [dag.flags[node] & DONE for node in range(3)] == [DONE, 0, 0]
    assert "0 nodes are left out: CHOOSE FROM C B C" in said
    dag, said = read(text, words=["-choose_all"])
    assert [dag.flags[node] & DONE for node in range(3)] == [DONE, 0, 0]
    with pytest.raises(CannotStart, match="ERROR: CHOOSE: No node is called D"):
        read(text, words=["-choose_only", "D"])


def test_a_newer_rescue_file_that_cannot_be_set_aside() -> None:
    Path("x.dag").write_text("JOB A a\n")
    for number in (1, 2):
        Path(f"x.dag.rescue00{number}").write_text("DONE A\n")
    Path("x.dag.rescue002.old").mkdir()
    options = parse_dagman(["-Dag", "x.dag", "-DoRescueFrom", "1"])
    with pytest.raises(CannotStart, match=r"unable to rename old rescue file x\.dag\.rescue002: "):
        read_dag(options, Config(), options.paths(), OutLog("x.dag.dagman.out", 3))


def test_a_directory_in_place_of_a_rescue_file() -> None:
    Path("x.dag.rescue001").mkdir()
    message = r"Failed to open x\.dag\.rescue001: Provided file path is not a file\n"
    with pytest.raises(CannotStart, match=message):
        read("JOB A a\n")


def test_an_invalid_dag_is_refused() -> None:
    with pytest.raises(CannotStart, match=r"(?s)x.dag:1 'FOO' is not .*Failed to parse x.dag"):
        read("FOO\n")


def test_a_cycle_is_refused_at_the_start() -> None:
    text = "JOB A a\nJOB B b\nPARENT A CHILD B\nPARENT B CHILD A\n"
    read(text)
    with pytest.raises(CannotStart, match=r"(?s)a cycle exists.*A -> B -> A"):
        read(text, Config(startup_cycle_detect=True))


@pytest.mark.parametrize(
    ("lock", "done"),
    [
        ("", "AB"),
        ("7\n", "AB"),
        ("7\nrescue 1\n", "A"),
        ("7\nrescue 0\n", ""),
    ],
)
def test_a_recovered_run_uses_its_own_rescue_file(lock: str, done: str) -> None:
    Path("x.dag.rescue001").write_text("DONE A\n")
    Path("x.dag.rescue002").write_text("DONE A\nDONE B\n")
    Path("x.dag.lock").write_text(lock)
    dag, _ = read("JOB A a\nJOB B b\n")
    assert "".join(n for n, flags in zip(dag.names, dag.flags) if flags & DONE) == done


HOLD = """\
import sys
from condor_pydagman.adapters.files import LockFile
LockFile.acquire(lock := LockFile(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


def test_rescue_files_of_a_dag_that_runs_are_not_set_aside() -> None:
    Path("x.dag").write_text("JOB A a\n")
    for number in (1, 2):
        Path(f"x.dag.rescue00{number}").write_text("DONE A\n")
    options = parse_dagman(["-Dag", "x.dag", "-DoRescueFrom", "1"])
    argv = [sys.executable, "-c", HOLD, "x.dag.lock"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        read_dag(options, Config(), options.paths(), OutLog("x.dag.dagman.out", 3))
        assert Path("x.dag.rescue002").exists()
        other.kill()


def path(template: str, cluster: int = 7) -> str:
    own_ad = {"Owner": "ann", "DAGNodeName": "outer"}
    config = Config(default_node_log=template)
    return dag_input.nodes_log_path(DagPaths("d/x.dag"), cluster, own_ad, config)


def test_every_macro_of_the_path_is_expanded(work_directory: Path) -> None:
    assert path("@(DAG_DIR)/@(DAG_FILE).nodes.log") == f"{work_directory}/d/x.dag.nodes.log"
    assert path("@(OWNER).@(CLUSTER).@(NODE_NAME)") == f"{work_directory}/ann.7.outer"
    assert path("/logs/@(CLUSTER)", 0) == "/logs/-1"
    assert path("@(NOPE)") == f"{work_directory}/@(NOPE)"


@pytest.mark.parametrize("name", ["/tmp/x.log", "/var/@(NOPE)/x"])
def test_logs_in_unsafe_places_are_refused(tmp_path: Path, name: str) -> None:
    out = OutLog(str(tmp_path / "out"))
    with pytest.raises(CannotStart, match="DAGMAN_USE_STRICT"):
        dag_input.refuse_nodes_log(name, Config(), out)
    dag_input.refuse_nodes_log(name, Config(use_strict=0), out)
    out.flush()
    assert name in (tmp_path / "out").read_text()
    dag_input.refuse_nodes_log("/tmp/x", Config(avoid_slash_tmp=False), out)


MOUNTS = """\
/dev/a / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
server:/b /mnt/with\\040blank nfs rw 0 0
/dev/b /mnt/local xfs rw 0 0
short
"""


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/x.log", "ext4"),
        ("/home/ann/x.log", "nfs"),
        ("/homes/ann/x.log", "ext4"),
        ("/mnt/local/x.log", "xfs"),
        ("/mnt/with blank/x", "nfs"),
    ],
)
def test_file_systems(tmp_path: Path, path: str, found: str) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert dag_input.file_system(path, str(tmp_path / "mounts")) == found
    assert dag_input.file_system(path, "/no/such/file") == ""
