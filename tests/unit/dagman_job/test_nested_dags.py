"""Submit files of sub-DAGs: those that -do_recurse makes, and how they are named in messages."""

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
from condor_pydagman.dagman_job import nested_dags
from condor_pydagman.dagman_job.condor_sub import old_arguments
from condor_pydagman.dagman_job.nested_dags import prepare
from condor_pydagman.dagman_job.options import (
    DagmanOptions,
    SubmitOptions,
    parse_dagman,
    parse_submit,
)
from condor_pydagman.dagman_job.prepare_job import Output
from condor_pydagman.errors import CannotPrepare, FileError
from condor_pydagman.graph.model import Dag

FAILED = "Recursive submit(s) failed; exiting without attempting top-level submit"


@pytest.fixture(autouse=True)
def restored_knobs(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("CONDOR_CONFIG", raising=False)
    yield work_directory
    htcondor2.param["DAGMAN_DISABLE_PORT"] = ""


def make(name: str, text: str = "JOB A a.sub\n") -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def options(*words: str, files: tuple[str, ...] = ("t.dag",)) -> SubmitOptions:
    return parse_submit(["-do_recurse", "-dagman", "/d", *words, *files])


def recurse(*words: str, files: tuple[str, ...] = ("t.dag",)) -> tuple[bool, list[str], list[str]]:
    """Whether all went well; the files named in "Recursive" lines; the lines of the errors."""
    out: list[str] = []
    err: list[str] = []
    output = Output(out.append, err.append)
    try:
        nested_dags.write_all(options(*words, files=files), output, {})
        well = True
    except FileError as error:
        assert str(error) == FAILED
        well = False
    commands = [line for line in out if line.startswith("Recursive submit command: <")]
    return well, [line.split()[-1].rstrip(">") for line in commands], err


def made() -> list[str]:
    return sorted(str(path) for path in Path().rglob("*.condor.sub"))


def words_of(name: str) -> list[str]:
    return old_arguments(Path(f"{name}.condor.sub").read_text())


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("", "-AutoRescue 1"),
        ("-f -u -priority 7 -maxjobs 3", "-force -Priority 7 -AutoRescue 1"),
        ("-suppress -notification error", "-notification never -AutoRescue 1 "
         "-suppress_notification"),
        ("-insert_env A=it's -include_env a,b -autorescue 0 -do_recurse",
         "-AutoRescue 0 -include_env a,b -insert_env A=it''''s -do_recurse"),
        ("-dorescuefrom 2 -import -outfile_dir o -usedag -v -allow -submitmethod 1 -batch b -t",
         "-verbose -UseDagDir -outfile_dir o -AutoRescue 1 -DoRescueFrom 2 -AllowVersionMismatch"
         " -import_env -SubmitMethod 1"),
        ("-load_save s -config c -append a=b", "-AutoRescue 1"),
    ],
)  # fmt: skip
def test_the_command_that_stock_runs(words: str, shown: str) -> None:
    given = parse_submit([*words.split(), "t.dag"])
    given = given._replace(auto_rescue=1 if given.auto_rescue is None else given.auto_rescue)
    nested = nested_dags.nested(given, "a b.dag", force=given.force, priority=given.priority)
    assert nested_dags.command_line(nested) == (
        f"Recursive submit command: <condor_submit_dag -no_submit -update_submit {shown} a' 'b.dag>"
    )
    again = parse_dagman(["-Dag", "t.dag", "-AutoRescue", "1"])
    assert nested_dags.nested(again, "u", force=False, priority=0).auto_rescue == 1


def test_all_levels_the_innermost_first() -> None:
    make("t.dag", "SUBDAG EXTERNAL A in.dag\nsubdag external B b.dag DIR d\nJOB C c.sub\n")
    make("in.dag")
    make("d/b.dag", 'SUBDAG EXTERNAL A "c d.dag" DIR e\nSUBDAG EXTERNAL B ../f.dag\n')
    make("d/e/c d.dag")
    make("f.dag")
    well, files, err = recurse("-priority", "4", "-maxidle", "3")
    assert (well, err) == (True, [])
    assert files == ["in.dag", "b.dag", "'d.dag", "../f.dag"]
    assert made() == [
        "d/b.dag.condor.sub", "d/e/c d.dag.condor.sub", "f.dag.condor.sub", "in.dag.condor.sub",
    ]  # fmt: skip
    words = words_of("d/e/c d.dag")
    assert words[words.index("-Dag") + 1] == "c d.dag"
    assert words[words.index("-Priority") + 1] == "4"
    assert words[-2:] == ["-do_recurse", "-update_submit"]
    assert "-MaxIdle" not in words


def test_what_is_no_sub_dag() -> None:
    make(
        "t.dag", "# SUBDAG EXTERNAL A a\nJOB B {\nSUBDAG EXTERNAL C c\n}\nSUBDAG EXTERNAL D d NOOP"
    )
    assert recurse() == (True, [], [])


def test_a_sub_dag_that_fails_does_not_keep_the_others() -> None:
    make("t.dag", "SUBDAG EXTERNAL A a.dag\nSUBDAG EXTERNAL B b.dag\nSUBDAG EXTERNAL C c.dag\n")
    make("b.dag", "SUBDAG EXTERNAL A nosuch.dag\n")
    make("c.dag", "CONFIG nosuch\n")
    make("a.dag")
    well, files, err = recurse()
    assert not well
    assert files == ["a.dag", "b.dag", "nosuch.dag", "c.dag"]
    assert err[:5] == [
        "ERROR: Provided file path does not exist: nosuch.dag",
        FAILED,
        "ERROR: condor_submit_dag -no_submit failed on DAG file nosuch.dag.",
        FAILED,
        "ERROR: condor_submit_dag -no_submit failed on DAG file b.dag.",
    ]
    assert err[5].startswith("ERROR: Can't read DAGMan config file: ")
    assert err[6:] == ["ERROR: condor_submit_dag -no_submit failed on DAG file c.dag."]
    assert made() == ["a.dag.condor.sub"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SUBDAG", "ERROR: t.dag:2 Failed to parse SUBDAG command: Missing EXTERNAL keyword"),
        ("SUBDAG INTERNAL B b.dag", "ERROR: t.dag:2 Failed to parse SUBDAG command: Missing EXT"),
        ("SUBDAG EXTERNAL B", "ERROR: t.dag:2 Failed to parse SUBDAG command: No submit desc"),
        ("SUBDAG EXTERNAL B b.dag DIR", "ERROR: t.dag:2 Failed to parse SUBDAG command: No dir"),
        ("SUBDAG EXTERNAL B b.dag DIR nosuch",
         "ERROR: Failed to change to node directory: Unable to chdir to nosuch: No such file"),
    ],
)  # fmt: skip
def test_lines_that_are_wrong(line: str, message: str) -> None:
    make("t.dag", f"SUBDAG EXTERNAL A a.dag\n{line}\n")
    make("a.dag")
    well, files, err = recurse()
    assert (well, files) == (False, ["a.dag"])
    assert err[0].startswith(message)
    assert made() == ["a.dag.condor.sub"]


def test_other_lines_that_are_wrong_are_found_when_the_file_is_prepared() -> None:
    make("t.dag", "SUBDAG EXTERNAL A a.dag\nFOO\n")
    make("a.dag", "FOO\n")
    well, files, err = recurse()
    assert (well, files) == (False, ["a.dag"])
    assert err[0].startswith("ERROR: a.dag:1 'FOO' is not a valid DAG command")
    assert err[1:] == ["ERROR: condor_submit_dag -no_submit failed on DAG file a.dag."]


@pytest.mark.parametrize(
    ("files", "way"),
    [
        ({"t.dag": "SUBDAG EXTERNAL A ./t.dag"}, ["t.dag", "t.dag"]),
        ({"t.dag": "SUBDAG EXTERNAL A a.dag DIR d", "d/a.dag": "SUBDAG EXTERNAL A t.dag DIR .."},
         ["t.dag", "d/a.dag", "t.dag"]),
        ({"t.dag": "SUBDAG EXTERNAL A a.dag", "a.dag": "SUBDAG EXTERNAL A a.dag DIR link"},
         ["a.dag", "a.dag"]),
    ],
)  # fmt: skip
def test_a_dag_that_contains_itself(files: dict[str, str], way: list[str]) -> None:
    Path("link").symlink_to(".")
    for name, text in files.items():
        make(name, text)
    well, _, err = recurse()
    assert not well
    here = Path().resolve()
    assert err[0].startswith("ERROR: a DAG can't contain itself as a sub-DAG: ")
    assert " -> ".join(f"{here}/{name}" for name in way) + ";" in err[0]
    assert made() == []


def test_deep_nesting_and_many_ways_to_one_file() -> None:
    depth = 300
    for n in range(depth):
        make(f"{n}.dag", f"SUBDAG EXTERNAL A {n + 1}.dag\nSUBDAG EXTERNAL B {n + 1}.dag\n")
    make(f"{depth}.dag")
    well, files, _ = recurse(files=("0.dag",))
    assert well
    assert len(files) == 2 * depth
    assert len(made()) == depth


def test_maximums_that_a_user_gave_a_sub_dag_stay() -> None:
    make("t.dag", "SUBDAG EXTERNAL A a.dag\n")
    make("a.dag")
    make("a.dag.condor.sub", 'arguments = "-f -l . -MaxJobs 5"\nqueue\n')
    assert recurse()[0]
    assert words_of("a.dag")[words_of("a.dag").index("-MaxJobs") + 1] == "5"


OWN = ("-Dag", "out.dag", "-dagman", "/d/condor_dagman", "-AutoRescue", "1")


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("CONDOR_CONFIG", raising=False)
    Path("in.dag").write_text("JOB A a.sub\n")
    yield work_directory
    for name in ("DAGMAN_DISABLE_PORT", "DAGMAN_MANAGER_JOB_APPEND_GETENV"):
        htcondor2.param[name] = ""


def own(*words: str) -> DagmanOptions:
    return parse_dagman([*OWN, *words])


def prepare_node(
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
    said = prepare_node(
        own("-MaxJobs", "3", "-Priority", "3", "-include_env", "A", "-force"), priority=8
    )
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
    assert " -force " not in prepare_node(own("-force"), retry=1)[0]
    assert Path("in.dag.rescue001").exists()
    prepare_node(own("-force"))
    assert not Path("in.dag.rescue001").exists()


def test_the_submit_file_is_in_the_nodes_directory(dag_directory: Path) -> None:
    Path("d").mkdir()
    Path("d/x.dag").write_text("CONFIG c\n")
    Path("d/c").write_text("DAGMAN_DISABLE_PORT = True\n")
    prepare_node(file="x.dag", directory="d")
    assert os.getcwd() == str(dag_directory)
    assert words("d/x.dag")[:2] == ["-p", "0"]
    assert (
        f"_CONDOR_DAGMAN_CONFIG_FILE={dag_directory}/d/c " in Path("d/x.dag.condor.sub").read_text()
    )


def test_the_config_file_of_the_dag_does_not_apply_to_a_sub_dag() -> None:
    Path("c").write_text("DAGMAN_MANAGER_JOB_APPEND_GETENV = OURS\n")
    knobs.load(str(Path("c").resolve()))
    prepare_node()
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
    said = prepare_node(own(*given))
    expected = f"-AutoRescue 1 {handed_down}".strip() + " in.dag>"
    assert said[0].endswith(expected)
    assert (handed_down in " ".join(words())) if handed_down else ("-DoRescue" not in str(words()))


def test_the_knob_disables_generated_submit_files() -> None:
    assert prepare_node(config=Config(generate_subdag_submits=False)) == []
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
        prepare_node(own(*given), file=file, directory=where)
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
        prepare_node()
    assert caught.value.transient is transient
    prepare_node()
    assert Path("in.dag.condor.sub").exists()


def test_modules_for_sub_dags_are_imported_on_demand() -> None:
    show = (
        "import sys; import condor_pydagman.dagman_job.nested_dags; "
        "print([m for m in sys.modules if m.startswith('condor_pydagman.cli')])"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", show], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
