"""The submit file that is made when a SUBDAG node is about to be submitted."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import htcondor2
import pytest

from condor_pydagman.adapters import knobs
from condor_pydagman.config import Config
from condor_pydagman.daemon.subdag_nodes import CannotPrepare, prepare
from condor_pydagman.dagman_job.options import DagmanOptions, parse_dagman
from condor_pydagman.graph.model import Dag
from condor_pydagman.records.condor_sub import old_arguments

OWN = ("-Dag", "out.dag", "-dagman", "/d/condor_dagman", "-AutoRescue", "1")


@pytest.fixture(autouse=True)
def dag_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CONDOR_CONFIG", raising=False)
    Path("in.dag").write_text("JOB A a.sub\n")
    yield tmp_path
    for name in ("DAGMAN_DISABLE_PORT", "DAGMAN_MANAGER_JOB_APPEND_GETENV"):
        htcondor2.param[name] = ""


def own(*words: str) -> DagmanOptions:
    return parse_dagman([*OWN, *words])


def make(
    options: DagmanOptions | None = None,
    *,
    file: str = "in.dag",
    directory: str = "",
    priority: int = 0,
    retry: int = 0,
    config: Config | None = None,
) -> list[str]:
    """Prepare a node B; returns what `.dagman.out` is to say."""
    dag = Dag()
    node = dag.add_node("B", f"{file}.condor.sub")
    dag.subdags[node] = file
    if directory:
        dag.directories[node] = directory
    said: list[str] = []
    prepare(
        dag,
        node,
        options or own(),
        priority=priority,
        retry=retry,
        config=config or Config(),
        say=said.append,
    )
    return said


def words(name: str = "in.dag") -> list[str]:
    return old_arguments(Path(f"{name}.condor.sub").read_text())


def test_the_submit_file_is_as_stock_writes_it(capsys: pytest.CaptureFixture[str]) -> None:
    said = make(own("-MaxJobs", "3", "-Priority", "3", "-include_env", "A", "-force"), priority=8)
    assert said == [
        "Recursive submit command: <condor_submit_dag -no_submit -update_submit -force -Priority 8"
        " -dagman /d/condor_dagman -AutoRescue 1 -include_env A in.dag>"
    ]
    text = Path("in.dag.condor.sub").read_text()
    assert "executable  = /d/condor_dagman\n" in text
    line = " ".join(words())
    assert line.startswith("-f -l . -Lockfile in.dag.lock -Dag in.dag -CsdVersion ")
    assert line.endswith(
        " -Priority 8 -dagman /d/condor_dagman -AutoRescue 1 -include_env A -force -update_submit"
    )
    out, err = capsys.readouterr()
    assert "File for submitting this DAG to HTCondor           : in.dag.condor.sub\n" in out
    assert err == "Renaming rescue DAGs newer than number 0\n"


def test_force_is_for_the_first_try() -> None:
    Path("in.dag.rescue001").touch()
    assert " -force " not in make(own("-force"), retry=1)[0]
    assert Path("in.dag.rescue001").exists()
    make(own("-force"))
    assert not Path("in.dag.rescue001").exists()


def test_the_submit_file_is_in_the_nodes_directory(dag_directory: Path) -> None:
    Path("d").mkdir()
    Path("d/x.dag").write_text("CONFIG c\n")
    Path("d/c").write_text("DAGMAN_DISABLE_PORT = True\n")
    make(file="x.dag", directory="d")
    assert os.getcwd() == str(dag_directory)
    assert words("d/x.dag")[:2] == ["-p", "0"]
    assert (
        f"_CONDOR_DAGMAN_CONFIG_FILE={dag_directory}/d/c " in Path("d/x.dag.condor.sub").read_text()
    )


def test_the_config_file_of_the_dag_does_not_apply_to_a_sub_dag() -> None:
    Path("c").write_text("DAGMAN_MANAGER_JOB_APPEND_GETENV = OURS\n")
    knobs.load(str(Path("c").resolve()))
    make()
    assert "OURS" not in Path("in.dag.condor.sub").read_text()
    assert knobs.load().manager_job_append_getenv == "OURS"


@pytest.mark.parametrize(
    ("given", "handed_down"),
    [
        (("-RescueFile", "out.dag.rescue002"), "-DoRescueFrom 2"),
        (("-DoRescueFrom", "2"), "-DoRescueFrom 2"),
        (("-RescueFile", "other"), ""),
        (("-load_save", "out.dag.save"), ""),
    ],
)
def test_options_for_rescue_files_are_passed_on(given: tuple[str, ...], handed_down: str) -> None:
    Path("in.dag.rescue002").touch()
    said = make(own(*given))
    expected = f"-AutoRescue 1 {handed_down}".strip() + " in.dag>"
    assert said[0].endswith(expected)
    assert (handed_down in " ".join(words())) if handed_down else ("-DoRescue" not in str(words()))


def test_the_knob_disables_generated_submit_files() -> None:
    assert make(config=Config(generate_subdag_submits=False)) == []
    assert not Path("in.dag.condor.sub").exists()


@pytest.mark.parametrize(
    ("file", "where", "given", "reason"),
    [
        ("nosuch.dag", "", (), "Provided file path does not exist: nosuch.dag"),
        ("bad.dag", "", (), "bad.dag:1 'FOO' is not a valid DAG command"),
        ("in.dag", "nodir", (), "can't work in the node's directory nodir: No such file"),
        ("in.dag", "", ("-DoRescueFrom", "4"),
         "-dorescuefrom 4 specified, but rescue DAG file in.dag.rescue004 does not exist!"),
        ("./out.dag", "", (), "./out.dag is this DAG itself"),
        ("rec.dag", "", ("-do_recurse",), "Recursive submit(s) failed"),
    ],
)  # fmt: skip
def test_errors_name_the_node_and_the_reason(
    file: str,
    where: str,
    given: tuple[str, ...],
    reason: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("bad.dag").write_text("FOO\n")
    Path("rec.dag").write_text("SUBDAG EXTERNAL A nosuch.dag\n")
    with pytest.raises(CannotPrepare) as caught:
        make(own(*given), file=file, directory=where)
    assert caught.value.reason.startswith(reason)
    assert not caught.value.transient
    first = f"ERROR: condor_submit_dag -no_submit failed for node B. {reason}"
    assert str(caught.value).startswith(first)
    assert "\n" not in str(caught.value)
    assert not list(Path().glob("*.condor.sub"))
    told = capsys.readouterr().err
    assert reason.split(":")[0] in told or where or "itself" in reason


@pytest.mark.parametrize(("number", "transient"), [(errno.ENOSPC, True), (errno.EACCES, False)])
def test_a_full_disk_is_a_transient_error(
    number: int, transient: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch, pytest.raises(CannotPrepare) as caught:
        patch.setattr(os, "replace", fail)
        make()
    assert caught.value.transient is transient
    make()
    assert Path("in.dag.condor.sub").exists()


def test_modules_for_sub_dags_are_imported_on_demand() -> None:
    show = (
        "import sys; import condor_pydagman.daemon.subdag_nodes; "
        "print([m for m in sys.modules if m.startswith('condor_pydagman.cli')])"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", show], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
